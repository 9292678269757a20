/** Writes calls to the record: a line before each, one after it, one per change in between. */

import { hash } from 'node:crypto'
import type { Approval } from '../../approval/approve.ts'
import type { AuditDecision, AuditEvent, EndEvent, NoteEvent } from '../../audit/event.ts'
import type { Decision } from '../../policy/decision.ts'
import { isBuiltInTool } from '../../policy/tool-kind.ts'
import { worstCaseOf } from '../../policy/worst-case.ts'
import type { CallChanges } from '../../run/kept-changes.ts'
import type { RunOutcome } from '../../run/runner.ts'
import type { ShellFacts } from '../../shell/facts.ts'
import { canonicalJson } from '../../system/json.ts'
import { uniqueName } from '../../system/made-file.ts'
import { type ToolInput, type ToolLabel, type ToolOutput, toolLabels } from '../../tools/tool.ts'
import type { ToolResult } from '../tool-result.ts'
import { callSummary, runFields } from './run-fields.ts'

export interface CallRecord {
  readonly call: string
  readonly started: number
  /** How the tool's output is parsed. */
  readonly parsed: string
}

export interface CallStart {
  readonly tool: string
  /** Defaults to all labels for an unknown tool. */
  readonly labels?: readonly ToolLabel[]
  readonly input: ToolInput
  readonly subject: string
  /** Shell facts of a command, if it was read. */
  readonly facts?: ShellFacts | null
  readonly decision: Decision
  readonly agent: string
  /** The call whose program made this one. */
  readonly within?: string
  /** Who answered in advance: the person who `typed` the command, or the `host`. */
  readonly approver?: 'typed' | 'host'
  /** Set for a custom tool. */
  readonly custom?: { readonly trust: 'trusted'; readonly output: string }
}

export interface SessionRecorder {
  /** Throws if the line cannot be written, so that the call does not run. */
  begin(call: CallStart): CallRecord
  /** `changes`: what the call's file tools changed. */
  end(
    record: CallRecord | null,
    result: CallEnd,
    outcomes: readonly RunOutcome[],
    changes?: readonly CallChanges[],
  ): void
  /** The outcome of a background command. */
  settled(call: string | null, outcome: RunOutcome): void
  /** `call` is null for a question of a running command. */
  answered(call: string | null, subject: string, approver: string, approval: Approval): void
  /** A grant that an answer created. */
  granted(grant: NoteEvent & { readonly type: 'grant'; readonly value: string }): void
  /** `call` is null for a host's call, which ends outside Cordon. */
  flagged(call: string | null, tool: string, score: number): void
  note(event: NoteEvent): void
  /** Signs a shared log when enough lines have been added. */
  sign(): Promise<void>
  close(): void
}

/** How a call ended, for the record. */
export type CallEnd =
  | { readonly status: 'done'; readonly output: ToolOutput }
  | Exclude<ToolResult, { readonly status: 'done' }>

export interface RecordLog {
  record(event: AuditEvent): void
  sign(): Promise<void>
  close(): void
}

export interface RecorderOptions {
  /** `[audit] arguments`: if false, no line contains what was asked for. */
  readonly arguments: boolean
  readonly project: string
  readonly now: () => number
}

export function auditRecorder(log: RecordLog, options: RecorderOptions): SessionRecorder {
  return {
    begin({ tool, labels = toolLabels, input, subject, facts = null, decision, agent, within, approver, custom }) {
      const call = uniqueName()
      const summary = callSummary(input, facts)
      log.record({
        type: decision.decision === 'deny' ? 'denied' : 'begin',
        call,
        ...(within !== undefined && { within }),
        agent,
        project: options.project,
        tool,
        args_hash: hash('sha256', canonicalJson(input)),
        ...(summary !== null && { summary }),
        ...(options.arguments && { args: input, subject }),
        decision: {
          verdict: decision.decision,
          reason: decision.reason.code,
          ...(options.arguments && { message: decision.reason.message }),
          rules: decision.rules.map(({ rule, source }) => `${rule} (${source})`),
          approver: approverOf(decision, approver ?? null),
          ...(decision.decision === 'ask' && { worst: recordedWorst(decision, facts, options) }),
          ...recordedFlows(decision),
        },
        trust: custom?.trust ?? (isBuiltInTool(tool) ? 'built-in' : 'untrusted'),
        labels,
      })
      return { call, started: options.now(), parsed: custom?.output ?? 'text' }
    },
    end(record, result, outcomes, changes = []) {
      if (!record || result.status === 'denied') return
      const output = result.status === 'done' ? result.output : null
      const error = errorOf(result)
      log.record({
        type: 'end',
        call: record.call,
        duration_ms: Math.round(options.now() - record.started),
        outcome: outcomeOf(result, outcomes),
        ...(output?.exitCode !== undefined && { exit_code: output.exitCode }),
        ...(output && {
          output: {
            parsed: output.data === undefined ? 'text' : record.parsed,
            bytes: Buffer.byteLength(output.text),
            truncated: output.truncated !== undefined,
          },
        }),
        ...(output?.files && { files: [...output.files.read, ...output.files.written] }),
        ...runFields(outcomes, options, {
          reached: output?.hosts,
          refused: output?.refusedHosts,
          written: output?.files?.written,
          changes,
        }),
        ...(error && { error_code: error.code, ...(options.arguments && { error: error.message }) }),
      })
    },
    settled(call, outcome) {
      const { exitCode, milliseconds } = outcome.result
      log.record({
        type: 'background',
        ...(call !== null && { call }),
        exit_code: exitCode,
        duration_ms: Math.round(milliseconds),
        ...runFields([outcome], options),
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
    granted: ({ value, ...grant }) =>
      log.record({ ...grant, value_hash: hash('sha256', value), ...(options.arguments && { value }) }),
    flagged: (call, tool, score) => log.record({ type: 'taint', ...(call !== null && { call }), tool, score }),
    note: (event) => log.record(event),
    sign: () => log.sign(),
    close: () => log.close(),
  }
}

/** The worst case of an ask; in words only if arguments may be recorded. */
function recordedWorst(
  decision: Decision,
  facts: ShellFacts | null,
  { arguments: inWords }: RecorderOptions,
): NonNullable<AuditDecision['worst']> {
  const { bound, labels, text } = worstCaseOf(decision, facts)
  return { bound, labels, ...(inWords && { text }) }
}

/** What it reads, and where data may not go unasked. */
function recordedFlows({ labels = [], segments }: Decision): Pick<AuditDecision, 'reads' | 'flows'> {
  const flows = segments.flatMap(({ flow }) => (flow ? `${flow.label} -> ${flow.to}` : []))
  return {
    ...(labels.length > 0 && { reads: labels.map(({ label }) => label) }),
    ...(flows.length > 0 && { flows: [...new Set(flows)] }),
  }
}

/** The id of a rule's saved grant; null for other rules. */
export function savedGrantOf(rule: string): string | null {
  return /^saved grant (g[a-z0-9]+)$/.exec(rule)?.[1] ?? null
}

/** Who answered in advance. An answer given now has its own line. */
function approverOf({ decision, reason, rules }: Decision, surface: string | null): string | null {
  if (decision === 'deny') return null
  if (decision === 'ask') return surface
  const grant = rules.flatMap(({ rule }) => savedGrantOf(rule) ?? [])[0]
  if (grant !== undefined) return `grant:${grant}`
  if (reason.code === 'observed') return 'observe'
  return reason.code === 'auto-accepted' ? 'auto' : surface === 'typed' ? surface : null
}

function errorOf(result: CallEnd): { readonly code: string; readonly message: string } | null {
  if (result.status === 'refused') return { code: result.refusal.kind, message: result.refusal.message }
  return result.status === 'failed' ? result.error : null
}

function outcomeOf(result: CallEnd, outcomes: readonly RunOutcome[]): EndEvent['outcome'] {
  if (result.status === 'failed') {
    if (result.error.code === 'cancelled') return 'cancelled'
    return result.error.code === 'timed-out' ? 'timeout' : 'failed'
  }
  if (result.status !== 'done') return 'failed'
  if (outcomes.some((outcome) => outcome.result.timedOut)) return 'timeout'
  return result.output.isError ? 'failed' : 'ok'
}
