/** Measuring: medians over interleaved runs, so that a busy machine slows both sides alike. */

import { spawnSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { withGoals } from './goals.ts'

/** The median of numbers. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Calls per second of a function, warm, over about `seconds`. */
export function rate(work: () => void, seconds = 0.5): number {
  const until = (end: number): number => {
    let calls = 0
    while (performance.now() < end) {
      for (let i = 0; i < 50; i++) work()
      calls += 50
    }
    return calls
  }
  until(performance.now() + seconds * 400)
  const start = performance.now()
  const calls = until(start + seconds * 1000)
  return (calls * 1000) / (performance.now() - start)
}

/** Milliseconds of one program run. */
export function timeCommand(
  command: readonly string[],
  options: { input?: string; cwd?: string; env?: NodeJS.ProcessEnv } = {},
): number {
  const start = performance.now()
  const run = spawnSync(command[0]!, command.slice(1), { stdio: ['pipe', 'ignore', 'pipe'], ...options })
  if (run.error) throw run.error
  return performance.now() - start
}

/** A layout's arguments of bubblewrap for its own reaper, without our init and the capabilities that it drops. */
export function bareArguments(args: readonly string[], argv: readonly string[]): string[] {
  const isOwn = (arg: string) => arg === '--as-pid-1' || arg === '--cap-add' || arg.startsWith('CAP_')
  return [...args.slice(0, args.indexOf('--')).filter((arg) => !isOwn(arg)), '--', ...argv]
}

/** The first rounds fill caches: a command of Cordon learns what to keep compiled in its first twenty runs. */
const WARM_UP = 21

/** A command to be timed. */
export interface Timed {
  readonly command: readonly string[]
  readonly options?: Parameters<typeof timeCommand>[1]
}

/** Medians of several commands, run in turns. */
export function compare(commands: Readonly<Record<string, Timed>>, rounds: number): Record<string, number> {
  const times: Record<string, number[]> = {}
  for (let round = 0; round < rounds + WARM_UP; round++) {
    for (const [name, { command, options }] of Object.entries(commands)) {
      const time = timeCommand(command, options)
      if (round >= WARM_UP) times[name] = [...(times[name] ?? []), time]
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)]))
}

/** A table of one part, as `run.ts` reads it back from the file that this variable names. */
export interface Table {
  readonly title: string
  /** The first row has the names of the columns. */
  readonly rows: readonly (readonly string[])[]
}

export const TABLES_VARIABLE = 'CORDON_BENCH_TABLES'

/** A table of figures with their goals. */
export function printTable(title: string, rows: Table['rows']): void {
  show(title, withGoals(title, rows))
}

/** What is missing for a part or a row of it, on the page as well. */
export function printMissing(what: string, why: string): void {
  show(`Not measured: ${what}`, [['why'], [why]])
}

/** A table on the terminal, and for `npm run bench -- --write` and `--compare`. */
export function show(title: string, rows: Table['rows']): void {
  const file = process.env[TABLES_VARIABLE]
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ title, rows } satisfies Table)}\n`)
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  console.log(`\n${title}`)
  for (const row of rows) console.log(`  ${row.map((text, column) => text.padEnd(widths[column]!)).join('  ')}`)
}
