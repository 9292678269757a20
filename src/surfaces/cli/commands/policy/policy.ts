/** `cordon policy`: the effective manifest with the origin of each value, its tests, and its lint. */

import { resolve } from 'node:path'
import { openChecker } from '../../../../call/decide/check-call.ts'
import { newSession } from '../../../../project/answers.ts'
import { effectiveValues, lintManifest, renderEffective, renderProblem } from '../../../../project/problems.ts'
import { machineFiles } from '../../../../system/files.ts'
import { paint, printJson, type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, oneOf } from '../../arguments.ts'
import { type Opened, openWritten } from '../../open-policy.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'
import { VERDICT_STYLE } from './check.ts'

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const [verb, ...rest] = args.words
  const chosen = oneOf(['show', 'test', 'lint', 'replay'], verb, 'name an action')
  const [extra] = rest.slice({ show: 0, lint: 0, test: 1, replay: rest.length }[chosen])
  if (extra !== undefined) throw new UsageError(`cordon policy ${chosen} does not take “${extra}”`)
  const action = { show, test, lint, replay }[chosen]
  const opened = await openWritten(args, terminal)
  return opened ? action(terminal, args, opened, rest) : EXIT.usage
}

async function show(terminal: Terminal, args: Arguments, { loaded, machine }: Opened): Promise<number> {
  const values = effectiveValues(loaded.manifest)
  const registries = await signedRegistries(loaded, machine)
  if (args.flags.json) terminal.out(`${JSON.stringify({ root: loaded.root, values, registries })}\n`)
  else terminal.out(`${renderEffective(values)}${describeSigned(registries)}`)
  return EXIT.ok
}

/** The registries in force and what a new signature would change; null if no bundle can have any. */
async function signedRegistries(loaded: Opened['loaded'], machine: Opened['machine']) {
  if (loaded.sandbox.bundles.length === 0) return null
  const { judgeTrust, readRegistries } = await import('../../../../project/sign/trust.ts')
  const { registryChanges } = await import('../../../../project/registries/drift.ts')
  const signed = judgeTrust(loaded, machine, machineFiles)?.registries ?? {}
  return { signed, unsigned: registryChanges(signed, readRegistries(loaded, machine)) }
}

function describeSigned(registries: Awaited<ReturnType<typeof signedRegistries>>): string {
  if (registries === null) return ''
  const { signed, unsigned } = registries
  const signedRows = Object.entries(signed).flatMap(([tool, found]) =>
    found.map(({ url }) => `#   ${tool} ${visible(url)}`),
  )
  const changed = [
    ...unsigned.opens.map((line) => `#   + ${visible(line)}`),
    ...unsigned.closes.map((line) => `#   - ${visible(line)}`),
  ]
  const lines = ['# registries, as they were signed:', ...(signedRows.length > 0 ? signedRows : ['#   none'])]
  if (changed.length > 0) lines.push('# changed since; cordon sign would take over:', ...changed)
  return `\n${lines.join('\n')}\n`
}

function lint(terminal: Terminal, args: Arguments, { loaded }: Opened): number {
  const warnings = [...loaded.warnings, ...lintManifest(loaded.manifest)]
  if (args.flags.json) terminal.out(`${JSON.stringify({ warnings })}\n`)
  else if (warnings.length === 0) terminal.out('no problems found\n')
  else for (const warning of warnings) terminal.out(`${renderProblem(warning)}\n`)
  return warnings.length === 0 ? EXIT.ok : EXIT.failed
}

async function replay(
  terminal: Terminal,
  args: Arguments,
  { loaded, machine }: Opened,
  files: readonly string[],
): Promise<number> {
  if (files.length === 0) throw new UsageError('name the audit files to replay: cordon policy replay SESSION.0.jsonl')
  const { replayAudit } = await import('../../../../call/decide/replay.ts')
  const lines = files.flatMap((file) =>
    machineFiles.readText(resolve(machine.cwd, file), 256 * 1024 * 1024).split('\n'),
  )
  const { decideTyped, readTyped } = await import('../../../../one-off/typed-call.ts')
  const answered = { loaded, session: newSession(loaded, machine) }
  const result = replayAudit(
    lines,
    await openChecker(loaded, machine, machineFiles, undefined, { alone: true }),
    loaded,
    (argv, cwd) => decideTyped(readTyped(argv, cwd, machine, machineFiles), answered),
  )
  if (args.flags.json) return printJson(terminal, result)
  for (const verdict of ['allow', 'ask', 'deny'] as const) {
    for (const call of result.changed.filter((candidate) => candidate.after === verdict)) {
      const what = `${paint(terminal, VERDICT_STYLE[verdict], `newly ${verdict}`)} (was ${call.before})`
      terminal.out(`${what} ${call.tool} ${visible(call.subject)}: ${visible(call.message)}\n`)
    }
  }
  for (const { chain, after, message } of result.programs) {
    const [name, ...above] = chain.map(visible)
    const by = above.length === 0 ? '' : `, started by ${above.toReversed().join(' → ')}`
    terminal.out(`${paint(terminal, VERDICT_STYLE[after], `newly ${after}`)} (ran) ${name}${by}: ${visible(message)}\n`)
  }
  terminal.out(`${result.calls} calls, ${result.changed.length} come out differently\n`)
  if (result.unknownPrograms > 0)
    terminal.out(
      `programs that cannot be known, because the record has only hashes of their words: ${result.unknownPrograms}\n`,
    )
  if (result.unknown > 0) {
    terminal.out(
      `${result.unknown} cannot be known: their arguments were not recorded ([audit] arguments = true records them)\n`,
    )
  }
  if (result.unreadable > 0) terminal.out(`${result.unreadable} lines are not audit lines\n`)
  return EXIT.ok
}

interface CaseRow {
  readonly command?: unknown
  readonly tool?: unknown
  readonly input?: unknown
  readonly expect?: unknown
}

// Loading already checked the manifest's match and not_match examples.
async function test(
  terminal: Terminal,
  args: Arguments,
  { loaded, machine }: Opened,
  [file]: readonly string[],
): Promise<number> {
  const checker = await openChecker(loaded, machine, machineFiles, undefined, { alone: true })
  const failures: { line: number; expect: string; decision: string; message: string }[] = []
  const lines =
    file === undefined ? [] : machineFiles.readText(resolve(machine.cwd, file), 64 * 1024 * 1024).split('\n')
  let count = 0
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const row = parseCase(line, `${file}:${index + 1}`)
    count++
    const { decision } = checker.check({ tool: row.tool, input: row.input, cwd: loaded.root })
    if (decision.decision !== row.expect) {
      failures.push({
        line: index + 1,
        expect: row.expect,
        decision: decision.decision,
        message: decision.reason.message,
      })
    }
  }
  if (args.flags.json) terminal.out(`${JSON.stringify({ cases: count, failures })}\n`)
  else {
    for (const failure of failures) {
      const where = `${file}:${failure.line}`
      terminal.out(
        `${paint(terminal, 'red', 'failed')} ${where}: expected ${failure.expect}, got ${failure.decision}: ${visible(failure.message)}\n`,
      )
    }
    const examples = 'the examples in the manifest pass'
    terminal.out(
      file === undefined ? `${examples}\n` : `${examples}; ${count - failures.length} of ${count} cases as expected\n`,
    )
  }
  return failures.length === 0 ? EXIT.ok : EXIT.failed
}

function parseCase(line: string, where: string): { tool: string; input: unknown; expect: string } {
  let row: CaseRow
  try {
    row = JSON.parse(line)
  } catch {
    throw new UsageError(`${where} is not JSON; a case is {"command": "git status", "expect": "allow"}`)
  }
  const expected = ['allow', 'ask', 'deny']
  if (typeof row.expect !== 'string' || !expected.includes(row.expect)) {
    throw new UsageError(`${where}: "expect" must be ${expected.join(', ')}`)
  }
  if (typeof row.command === 'string') return { tool: 'bash', input: { command: row.command }, expect: row.expect }
  if (typeof row.tool !== 'string') throw new UsageError(`${where}: a case has "command", or "tool" and "input"`)
  return { tool: row.tool, input: row.input ?? {}, expect: row.expect }
}
