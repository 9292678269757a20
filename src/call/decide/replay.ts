/** Decides a recorded history again under a proposed manifest (M5) and reports the differences. */

import { type AuditLine, parseLine } from '../../audit/event.ts'
import type { Decision } from '../../policy/decision.ts'
import type { Verdict } from '../../policy/order.ts'
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
}

export function replayAudit(lines: readonly string[], checker: CallChecker, cwd: string, typed: TypedChecker): Replay {
  const changed: ReplayedCall[] = []
  let calls = 0
  let unknown = 0
  let unreadable = 0
  for (const text of lines) {
    if (text.trim() === '') continue
    const line = parseLine(text)
    if (line === null) unreadable++
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
  return { calls, unknown, unreadable, changed }
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
