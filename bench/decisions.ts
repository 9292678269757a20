/** Decisions a second and manifest load time, in a warm process. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openChecker } from '../src/call/decide/check-call.ts'
import { loadPolicy } from '../src/project/load/load.ts'
import { analyze } from '../src/shell/walk/analyze.ts'
import { machineFiles } from '../src/system/files.ts'
import { thisMachine } from '../src/system/machine.ts'
import { median, printTable, rate } from './measure.ts'

const COMMAND = 'git diff --stat HEAD~1 -- src/ && npm test -- --run src/policy 2>&1 | tail -n 20'

/** A manifest with about this many rules. */
function manifestText(rules: number): string {
  const half = Math.floor(rules / 2)
  const commands = Array.from({ length: half }, (_, i) => `  "tool${i} build:*",`)
  const paths = Array.from({ length: half }, (_, i) => `  "packages/p${i}/**",`)
  return `schema_version = 1
[security]
redirects = "all"
[http]
allowed_hosts = ["api.example.com", "*.nodejs.org", "github.com"]
[capabilities.allow.read]
paths = [
  "src/**",
${paths.join('\n')}
]
[capabilities.allow.commands]
patterns = [
  "git diff:*", "npm test:*", "tail:*",
${commands.join('\n')}
]
`
}

/** Milliseconds of one call. */
function timed(work: () => void): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

/** Median microseconds of a call, warm. */
function microseconds(work: () => void): number {
  const times = Array.from({ length: 30_000 }, () => timed(work))
  return median(times.slice(10_000)) * 1000
}

/** A fifth of the log that `npm run noise` reads, where it lies beside the project. */
function realCommands(): readonly string[] {
  const file = join(import.meta.dirname, '../../shared/corpora/noise.jsonl')
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const commands = new Set(lines.map((line) => (JSON.parse(line) as { command: string }).command))
  return [...commands].filter((_, index) => index % 5 === 0)
}

/** Runs this part of the bench. */
export async function benchDecisions(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'cordon-bench-'))
  try {
    mkdirSync(join(directory, 'src'))
    writeFileSync(join(directory, 'src/a.ts'), '')
    writeFileSync(join(directory, 'cordon.toml'), manifestText(50))
    writeFileSync(join(directory, 'large.toml'), manifestText(500))
    const machine = thisMachine()
    const request = { machine, files: machineFiles, root: directory } as const
    const outcome = await loadPolicy({ ...request, choice: { kind: 'project' } })
    if (!('loaded' in outcome)) throw new Error(JSON.stringify(outcome.problems))
    const { loaded } = outcome
    const checker = await openChecker(loaded, machine, machineFiles)
    const decide = (tool: string, input: unknown) => () => {
      checker.check({ tool, input, cwd: loaded.root })
    }
    const expected = checker.check({ tool: 'bash', input: { command: COMMAND }, cwd: loaded.root })
    if (expected.decision.decision !== 'allow') throw new Error(expected.decision.reason.message)
    const context = { cwd: loaded.root, home: machine.home }
    const analysis = microseconds(() => analyze(COMMAND, context))
    const command = microseconds(decide('bash', { command: COMMAND }))
    const real = realCommands().map((text) => decide('bash', { command: text }))
    // Each is one of hundreds: the least of its runs, so that a busy machine does not count.
    const passes = Array.from({ length: 8 }, () => real.map(timed))
    const ofReal = real.map((_, index) => Math.min(...passes.slice(3).map((times) => times[index]!)))
    const loads: number[] = []
    for (let i = 0; i < 30; i++) {
      const start = performance.now()
      await loadPolicy({ ...request, choice: { kind: 'file', file: join(directory, 'large.toml') } })
      loads.push(performance.now() - start)
    }
    printTable('Decisions (one core, warm)', [
      ['case', 'measured', 'target'],
      ['file: read src/a.ts', `${Math.round(rate(decide('read', { path: 'src/a.ts' })))} /s`, '>= 20000 /s'],
      [
        'host: https://api.example.com',
        `${Math.round(rate(decide('http', { url: 'https://api.example.com/v1' })))} /s`,
        '>= 20000 /s',
      ],
      [`command: ${COMMAND.length} characters, p50`, `${command.toFixed(0)} µs`, '<= 100 µs'],
      ['shell analysis alone, p50', `${analysis.toFixed(0)} µs`, ''],
      [
        `${real.length} commands of real agents, p50`,
        real.length === 0 ? 'the corpus is not here' : `${(median(ofReal) * 1000).toFixed(0)} µs`,
        '<= 100 µs',
      ],
      ['manifest of 500 rules, first load', `${loads[0]!.toFixed(1)} ms`, ''],
      ['manifest of 500 rules, p50', `${median(loads).toFixed(1)} ms`, '<= 10 ms'],
    ])
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
