/** Decides a recorded history again under a proposed manifest (M5) and reports the differences. */

import { type AuditLine, parseLine } from '../../audit/event.ts'
import type { Decision } from '../../policy/decision.ts'
import type { Verdict } from '../../policy/order.ts'
import type { Policy } from '../../policy/policy.ts'
import { startDenial } from '../../policy/programs/start.ts'
import type { CallChecker } from './check-call.ts'

export interface ReplayedCall {
  readonly time: string
  readonly tool: string
  readonly subject: string
  readonly before: Verdict
  readonly after: Verdict
  readonly message: string
}

/** Decides a command that a person typed (`cordon run`). */
export type TypedChecker = (argv: readonly string[], cwd: string) => Decision

export interface Replay {
  readonly calls: number
  /** Calls without recorded arguments; they cannot be decided. */
  readonly unknown: number
  /** Lines that are not audit lines. */
  readonly unreadable: number
  readonly changed: readonly ReplayedCall[]
  /** Programs that those calls started, by text or not, where a denial now applies. */
  readonly programs: readonly ReplayedProgram[]
  /** Programs whose further words would decide: the record has only hashes of them. */
  readonly unknownPrograms: number
}

export interface ReplayedProgram {
  readonly time: string
  /** The program and those that started it: `git push`, `npm test`, `bash`. */
  readonly chain: readonly string[]
  readonly after: Verdict
  readonly message: string
}

export function replayAudit(
  lines: readonly string[],
  checker: CallChecker,
  { root: cwd, policy }: { readonly root: string; readonly policy: Policy },
  typed: TypedChecker,
): Replay {
  const changed: ReplayedCall[] = []
  const programs: ReplayedProgram[] = []
  let unknownPrograms = 0
  let calls = 0
  let unknown = 0
  let unreadable = 0
  for (const text of lines) {
    if (text.trim() === '') continue
    const line = parseLine(text)
    if (line === null) unreadable++
    for (const ran of line === null ? [] : startedIn(line)) {
      const ruling = programRuling(policy, ran.chain[0]!, cwd)
      if (ruling === 'unknown') unknownPrograms++
      else if (ruling !== null) programs.push({ ...ran, ...ruling })
    }
    if (line === null || (line.type !== 'begin' && line.type !== 'denied')) continue
    calls++
    const before = verdictOf(line)
    if (line.args === undefined || before === null || typeof line.tool !== 'string') {
      unknown++
      continue
    }
    const argv = typedArgv(line)
    const decision = argv ? typed(argv, cwd) : checker.check({ tool: line.tool, input: line.args, cwd }).decision
    if (decision.decision === before) continue
    changed.push({
      time: line.time,
      tool: line.tool,
      subject: typeof line.subject === 'string' ? line.subject : '',
      before,
      after: decision.decision,
      message: decision.reason.message,
    })
  }
  return { calls, unknown, unreadable, changed, programs, unknownPrograms }
}

/** The programs of a line, each with those that started it. */
function startedIn({ time, programs }: AuditLine): Pick<ReplayedProgram, 'time' | 'chain'>[] {
  const list: readonly { readonly name?: unknown; readonly by?: unknown }[] = Array.isArray(programs) ? programs : []
  const chainOf = (at: number): string[] => {
    const { name, by } = list[at] ?? {}
    // INVARIANT: a program is listed after the one that started it, so this ends.
    const above = typeof by === 'number' && by < at ? chainOf(by) : []
    return [typeof name === 'string' ? name : 'a program', ...above]
  }
  return list.map((_, at) => ({ time, chain: chainOf(at) }))
}

/** What denials say of a program by its name and subcommand; null where none applies. */
function programRuling(
  policy: Policy,
  name: string,
  cwd: string,
): Pick<ReplayedProgram, 'after' | 'message'> | 'unknown' | null {
  const argv = name.split(' ')
  const path = argv[0]!
  const start = { argv, path, file: `/usr/bin/${path}`, aliases: [], interpreter: null, cwd }
  const certain = startDenial(policy, { ...start, cut: false }, 'person')
  if (certain !== null) return { after: certain.decision, message: certain.reason.message }
  return startDenial(policy, { ...start, cut: true }, 'person') === null ? null : 'unknown'
}

/** The words of a typed command; null for any other call. */
function typedArgv({ args }: AuditLine): readonly string[] | null {
  const { command } = (typeof args === 'object' && args !== null ? args : {}) as { readonly command?: unknown }
  return Array.isArray(command) && command.every((word) => typeof word === 'string') ? command : null
}

function verdictOf(line: AuditLine): Verdict | null {
  const verdict = (line.decision as { verdict?: unknown } | undefined)?.verdict
  return verdict === 'allow' || verdict === 'ask' || verdict === 'deny' ? verdict : null
}
