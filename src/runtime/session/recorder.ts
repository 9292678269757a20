/** What a session writes down: a line before each call, one after it, and one for everything that changes in between. */

import type { Approval } from '../../approval/approve.ts'
import type { AuditViolation, EndEvent, NoteEvent } from '../../audit/event.ts'
import type { AuditLog } from '../../audit/log.ts'
import type { Decision } from '../../policy/decision.ts'
import { canonicalJson } from '../../system/canonical-json.ts'
import { sha256 } from '../../system/sha256.ts'
import { uniqueName } from '../../system/unique-name.ts'
import { type ToolInput, type ToolLabel, toolLabels } from '../../tools/tool.ts'
import type { RunOutcome } from '../command/runner.ts'
import { savedGrantOf } from './state.ts'
import type { ToolResult } from './tool-result.ts'

export interface CallRecord {
  readonly call: string
  readonly started: number
  /** How the tool's output is parsed. */
  readonly parsed: string
}

export interface BegunCall {
  readonly tool: string
  /** Of a tool that is not known: all of them. */
  readonly labels?: readonly ToolLabel[]
  readonly input: ToolInput
  readonly subject: string
  readonly decision: Decision
  readonly agent: string
  /** Of a custom tool. */
  readonly custom?: { readonly trust: 'trusted'; readonly output: string }
}

export interface SessionRecorder {
  /** Throws when the line cannot be written: then the call does not run. */
  begin(call: BegunCall): CallRecord
  end(record: CallRecord | null, result: ToolResult, outcomes: readonly RunOutcome[]): void
  /** How a command that a call started in the background came out. */
  settled(call: string | null, outcome: RunOutcome): void
  /** `call` joins the answer with the call; null for a question of a command that runs already. */
  answered(call: string | null, subject: string, approver: string, approval: Approval): void
  tainted(tool: string, score: number): void
  note(event: NoteEvent): void
  close(): void
}

/** A recorder that writes into the audit log. */
export function auditRecorder(
  log: AuditLog,
  options: { readonly arguments: boolean; readonly now: () => number },
): SessionRecorder {
  return {
    begin({ tool, labels = toolLabels, input, subject, decision, agent, custom }) {
      const call = uniqueName()
      log.record({
        type: decision.decision === 'deny' ? 'denied' : 'begin',
        call,
        agent,
        tool,
        args_hash: sha256(canonicalJson(input)),
        ...(options.arguments && { args: input, subject }),
        decision: {
          verdict: decision.decision,
          reason: decision.reason.code,
          message: decision.reason.message,
          rules: decision.rules.map(({ rule, source }) => `${rule} (${source})`),
          approver: approverOf(decision),
        },
        trust: custom?.trust ?? 'built-in',
        labels,
      })
      return { call, started: options.now(), parsed: custom?.output ?? 'text' }
    },
    end(record, result, outcomes) {
      if (!record || result.status === 'denied') return
      const output = result.status === 'done' ? result.output : null
      const hosts = new Set([...(output?.hosts ?? []), ...outcomes.flatMap(hostsOf)])
      const violations = outcomes.flatMap(violationsOf)
      const served = outcomes.flatMap((outcome) => outcome.served)
      log.record({
        type: 'end',
        call: record.call,
        duration_ms: Math.round(options.now() - record.started),
        outcome: outcomeOf(result, outcomes),
        ...(output?.exitCode !== undefined && { exit_code: output.exitCode }),
        ...(output && {
          output: {
            parsed: record.parsed,
            bytes: Buffer.byteLength(output.text),
            truncated: output.truncated !== undefined,
          },
        }),
        ...(output?.files && { files: [...output.files.read, ...output.files.written] }),
        ...(hosts.size > 0 && { hosts: [...hosts] }),
        ...(violations.length > 0 && { violations }),
        ...(served.length > 0 && { served }),
        ...(result.status === 'refused' && { error: result.refusal.message }),
        ...(result.status === 'failed' && { error: result.error.message }),
      })
    },
    settled(call, outcome) {
      const hosts = [...new Set(hostsOf(outcome))]
      const violations = violationsOf(outcome)
      const { served, result } = outcome
      log.record({
        type: 'background',
        ...(call !== null && { call }),
        exit_code: result.exitCode,
        duration_ms: Math.round(result.milliseconds),
        ...(hosts.length > 0 && { hosts }),
        ...(violations.length > 0 && { violations }),
        ...(served.length > 0 && { served }),
      })
    },
    answered: (call, subject, approver, approval) =>
      log.record({
        type: 'approval',
        ...(call !== null && { call }),
        approver,
        approved: approval.approved,
        ...(!approval.approved && { refusal: approval.refusal.kind }),
        ...(approval.remember && { scope: approval.remember.scope, verdict: approval.remember.verdict }),
        ...(options.arguments && { subject }),
      }),
    tainted: (tool, score) => log.record({ type: 'taint', tool, score }),
    note: (event) => log.record(event),
    close: () => log.close(),
  }
}

/** Who answered beforehand: a saved grant, or auto mode; an answer of now has a line of its own. */
function approverOf({ decision, reason, rules }: Decision): string | null {
  if (decision !== 'allow') return null
  const grant = rules.flatMap(({ rule }) => savedGrantOf(rule) ?? [])[0]
  if (grant !== undefined) return `grant:${grant}`
  return reason.code === 'auto-accepted' ? 'auto' : null
}

function outcomeOf(result: ToolResult, outcomes: readonly RunOutcome[]): EndEvent['outcome'] {
  if (result.status === 'failed') {
    if (result.error.code === 'cancelled') return 'cancelled'
    return result.error.code === 'timed-out' ? 'timeout' : 'failed'
  }
  if (result.status !== 'done') return 'failed'
  if (outcomes.some((outcome) => outcome.result.timedOut)) return 'timeout'
  return result.output.isError ? 'failed' : 'ok'
}

function hostsOf({ egress }: RunOutcome): string[] {
  return egress.flatMap(({ verdict, host }) => (verdict === 'allow' && host !== null ? [host] : []))
}

function violationsOf({ result, egress }: RunOutcome): AuditViolation[] {
  const denied = egress.filter((event) => event.verdict === 'deny')
  return [
    ...result.violations.map((violation) => ({
      seen: violation.certainty,
      kind: violation.path === undefined ? ('syscall' as const) : ('file' as const),
      subject: violation.path ?? violation.message,
    })),
    ...deniedHosts(denied),
    ...(result.timedOut ? [{ seen: 'observed' as const, kind: 'limit' as const, subject: 'time' }] : []),
  ].slice(0, MAX_VIOLATIONS)
}

/** One for each host, whatever was refused of it and how often: many refusals of one must not push another out. */
function deniedHosts(denied: RunOutcome['egress']): AuditViolation[] {
  const hosts = Map.groupBy(denied, (event) => event.host ?? 'unknown')
  return Array.from(hosts, ([subject, events]) => ({
    seen: 'observed' as const,
    kind: 'host' as const,
    subject,
    pattern: events[0]!.command,
    count: events.reduce((sum, event) => sum + event.count, 0),
  }))
}

/** As many hosts as the way out keeps apart, and room for the rest. */
const MAX_VIOLATIONS = 2_000
