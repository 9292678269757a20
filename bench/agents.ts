/**
 * What a session of a real agent costs under the hook: twenty calls of a scripted model, bare, with hooks that do nothing, with those and
 * each command in its own bubblewrap, and guarded, in turns. `node bench/run.ts agents`; CORDON_BENCH_ROUNDS says how often (3
 * otherwise), CORDON_BENCH_AGENTS with which of them.
 */

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { agents } from '../test/agents/agents.ts'
import { cordon, install } from '../test/agents/program.ts'
import { inSession, type Plan, type Step } from '../test/agents/session.ts'
import { median, printMissing, printTable } from './measure.ts'

const ROUNDS = Number(process.env.CORDON_BENCH_ROUNDS ?? 3)
const CALLS = 20
/** Of the bare session. */
const TARGET = 1.3

const MEASURED: readonly string[] = (process.env.CORDON_BENCH_AGENTS ?? 'claude-code,codex,gemini').split(',')
const MANIFEST = 'schema_version = 1\n[permission]\nmode = "contained"\n'

/** Three commands and a read, again and again. */
function steps(wrap: (command: string) => string = (command) => command): readonly Step[] {
  const round: readonly Step[] = [
    { kind: 'shell', command: wrap('git status') },
    { kind: 'shell', command: wrap('ls -la src') },
    { kind: 'read', path: 'src/a.txt' },
    { kind: 'shell', command: wrap('grep -rn a src') },
  ]
  return Array.from({ length: CALLS }, (_, index) => round[index % round.length]!)
}

const PLAN: Plan = { manifest: MANIFEST, steps: steps() }

/** The same installation, whose client is then a program that does nothing: what the host itself takes for its hooks. */
const FLOOR: Plan = {
  ...PLAN,
  cordon: ({ base }) => {
    const [node, script] = cordon
    const own = join(base, 'floor')
    if (!existsSync(own)) cpSync(dirname(script), own, { recursive: true })
    return [node, join(own, basename(script))]
  },
  env: { CORDON_RESIDENT: 'off' },
  prepare: ({ base }) => {
    const client = join(base, 'floor/native', `cordon-client-${process.arch}`)
    execFileSync('cc', ['-O2', '-static', '-o', client, join(import.meta.dirname, 'hook-floor.c')])
  },
}

/** bubblewrap with the namespaces and places of Cordon's own sandbox, and nothing else: no rules, no masks, no record, no undo. */
const BUBBLEWRAP = [
  'bwrap --die-with-parent --unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup --unshare-net',
  '--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/sbin /sbin --symlink usr/lib /lib --symlink usr/lib64 /lib64',
  '--ro-bind /etc /etc --ro-bind-try /opt /opt --proc /proc --dev /dev --tmpfs /dev/shm --tmpfs /tmp --tmpfs $BASE/home',
  '--bind $PROJECT $PROJECT --chdir $PROJECT -- /bin/bash -c',
].join(' ')

const WAYS: Readonly<
  Record<'bare' | 'floor' | 'bubblewrap' | 'guarded', { readonly plan: Plan; readonly hooks: boolean }>
> = {
  bare: { plan: PLAN, hooks: false },
  floor: { plan: FLOOR, hooks: true },
  // The model asks for it, instead of a hook that would rewrite what it asks for.
  bubblewrap: { plan: { ...FLOOR, steps: steps((command) => `${BUBBLEWRAP} '${command}'`) }, hooks: true },
  guarded: { plan: PLAN, hooks: true },
}
type Way = keyof typeof WAYS

/** Runs this part of the bench. */
export async function benchAgents(): Promise<void> {
  for (const agent of agents.filter(({ name }) => MEASURED.includes(name))) {
    const missing = install(agent)
    if (missing !== null) {
      printMissing(agent.name, missing)
      continue
    }
    const rows: string[][] = []
    const times: Record<Way, number[]> = { bare: [], floor: [], bubblewrap: [], guarded: [] }
    // The first round fills caches.
    for (let round = -1; round < ROUNDS; round++)
      for (const way of Object.keys(WAYS) as Way[]) {
        const { plan, hooks } = WAYS[way]
        const time = await inSession(agent, plan, hooks, ({ model }, said, ms) => whole(model.bodies, said, ms))
        if (round >= 0) times[way].push(time)
      }
    const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`
    const ratio = (way: Way, of: (values: readonly number[]) => number, base: Way = 'bare'): string =>
      `${(of(times[way]) / of(times[base])).toFixed(2)}x`
    const best = (values: readonly number[]): number => Math.min(...values)
    for (const [way, title, target] of [
      ['floor', 'that do nothing', ''],
      ['bubblewrap', 'that do nothing, and bubblewrap', ''],
      ['guarded', 'Cordon', `<= ${TARGET.toFixed(2)}x`],
    ] as const)
      rows.push([
        agent.name,
        title,
        seconds(median(times.bare)),
        seconds(median(times[way])),
        ratio(way, median),
        ratio(way, best),
        ratio(way, best, 'bubblewrap'),
        target,
      ])
    printTable(`A session of ${CALLS} calls (${ROUNDS} rounds, in turns)`, [
      ['agent', 'hooks', 'bare', 'with them', 'median', 'best', 'best, of bubblewrap', 'target'],
      ...rows,
    ])
  }
}

/** The time of a session in which every call ran. */
function whole(bodies: readonly string[], said: string, ms: number): number {
  if (bodies.length <= CALLS) throw new Error(`only ${bodies.length} turns of ${CALLS + 1} ran: ${said.slice(-300)}`)
  return ms
}
