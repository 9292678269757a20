/** Writes calls to the record: a line before each, one after it, one per change in between. */

import type { Approval } from '../../approval/approve.ts'
import type { AuditDecision, AuditEvent, AuditProgram, AuditViolation, EndEvent, NoteEvent } from '../../audit/event.ts'
import { reportedName } from '../../files/reported-names.ts'
import type { Decision } from '../../policy/decision.ts'
import { isBuiltInTool } from '../../policy/tool-kind.ts'
import { worstCaseOf } from '../../policy/worst-case.ts'
import type { CallChanges } from '../../run/kept-changes.ts'
import { programSummary } from '../../run/ran-programs.ts'
import type { RunOutcome } from '../../run/runner.ts'
import type { ShellFacts } from '../../shell/facts.ts'
import { sha256 } from '../../system/addon.ts'
import { canonicalJson } from '../../system/json.ts'
import { uniqueName } from '../../system/made-file.ts'
import { type ToolInput, type ToolLabel, type ToolOutput, toolLabels } from '../../tools/tool.ts'
import type { ToolResult } from '../tool-result.ts'

/** The proxy reports as many hosts separately. */
const MAX_LISTED = 2_000

type RunFields = Pick<
  EndEvent,
  | 'hosts'
  | 'refused_hosts'
  | 'host_programs'
  | 'host_bytes'
  | 'violations'
  | 'programs'
  | 'programs_left_out'
  | 'quarantine'
  | 'changes'
  | 'served'
>

/** What the tool itself did, apart from its commands. */
interface ToolEffects {
  readonly reached?: readonly string[] | undefined
  /** Hosts that were refused to it. */
  readonly refused?: readonly string[] | undefined
  /** Files that it wrote. */
  readonly written?: readonly string[] | undefined
  readonly changes?: readonly CallChanges[]
}

/** The fields of an end event; empty ones are omitted. */
export function runFields(
  outcomes: readonly RunOutcome[],
  { arguments: stores }: { readonly arguments: boolean },
  { reached = [], refused: own = [], written = [], changes = [] }: ToolEffects = {},
): RunFields {
  const hosts = [...new Set([...reached, ...outcomes.flatMap((outcome) => hostsOf(outcome, 'allow'))])]
  const refused = [...new Set([...own, ...outcomes.flatMap((outcome) => hostsOf(outcome, 'deny'))])]
  const violations = outcomes.flatMap((outcome) => violationsOf(outcome, stores)).slice(0, MAX_LISTED)
  const quarantine = [
    ...outcomes.flatMap(({ findings }) => findings.map(({ path, action }) => ({ path, action }))),
    ...written.filter((path) => reportedName(path) !== null).map((path) => ({ path, action: 'told' as const })),
  ]
  const served = outcomes.flatMap((outcome) => outcome.served)
  return {
    ...(hosts.length > 0 && { hosts: hosts.slice(0, MAX_LISTED) }),
    ...(refused.length > 0 && { refused_hosts: refused.slice(0, MAX_LISTED) }),
    ...hostProgramsOf(outcomes),
    ...hostBytesOf(outcomes),
    ...(violations.length > 0 && { violations }),
    ...programsOf(outcomes),
    ...(quarantine.length > 0 && { quarantine: quarantine.slice(0, MAX_LISTED) }),
    ...changesOf([...changes, ...outcomes.flatMap((outcome) => outcome.changes ?? [])]),
    ...(served.length > 0 && { served }),
  }
}

/** Process trees of several runs. */
function programsOf(outcomes: readonly RunOutcome[]): Pick<EndEvent, 'programs' | 'programs_left_out'> {
  const all: AuditProgram[] = []
  let leftOut = 0
  for (const { programs } of outcomes) {
    const from = all.length
    all.push(
      ...(programs?.list ?? []).map(({ by, ...one }) => ({ ...one, ...(by !== undefined && { by: from + by }) })),
    )
    leftOut += programs?.leftOut ?? 0
  }
  return { ...(all.length > 0 && { programs: all }), ...(leftOut > 0 && { programs_left_out: leftOut }) }
}

/** Which programs reached for which hosts, allowed or not. */
function hostProgramsOf(outcomes: readonly RunOutcome[]): Pick<EndEvent, 'host_programs'> {
  const found = new Map<string, Set<string>>()
  for (const { host, program } of outcomes.flatMap(({ egress }) => egress))
    if (host !== null && program !== null && found.size < MAX_LISTED)
      found.set(host, (found.get(host) ?? new Set()).add(program))
  if (found.size === 0) return {}
  return { host_programs: Object.fromEntries(Array.from(found, ([host, programs]) => [host, [...programs]])) }
}

function hostBytesOf(outcomes: readonly RunOutcome[]): Pick<EndEvent, 'host_bytes'> {
  const found = new Map<string, { up: number; down: number }>()
  for (const { verdict, host, up, down } of outcomes.flatMap(({ egress }) => egress)) {
    if (verdict !== 'allow' || host === null || (found.size >= MAX_LISTED && !found.has(host))) continue
    const known = found.get(host) ?? { up: 0, down: 0 }
    found.set(host, { up: known.up + up, down: known.down + down })
  }
  return found.size === 0 ? {} : { host_bytes: Object.fromEntries(found) }
}

function hostsOf({ egress }: RunOutcome, wanted: 'allow' | 'deny'): string[] {
  // A refused host has its port, so that what would grant it can be read from the record.
  return egress
    .filter(({ verdict }) => verdict === wanted)
    .flatMap((event) => (wanted === 'allow' ? event.host : entryOf(event)) ?? [])
}

/** The host of an event as a manifest names it: with its port, if that is not of the web. */
function entryOf({ host, port }: Pick<RunOutcome['egress'][number], 'host' | 'port'>): string | null {
  if (host === null || port === null || port === 80 || port === 443) return host
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function violationsOf({ result, egress, grants }: RunOutcome, stores: boolean): AuditViolation[] {
  // A pattern without a star is the command itself.
  const recorded = grants.filter((pattern) => stores || pattern.includes('*'))
  const granted = recorded.length === 0 ? {} : { pattern: recorded.join(', ') }
  const denied = egress.filter((event) => event.verdict === 'deny')
  return [
    ...result.violations.map((violation) => ({
      seen: violation.certainty,
      ...(violation.limit !== undefined
        ? { kind: 'limit' as const, subject: violation.limit }
        : violation.program !== undefined
          ? { kind: 'program' as const, subject: stores ? violation.message : violation.program }
          : violation.path === undefined
            ? { kind: 'syscall' as const, subject: violation.message }
            : { kind: 'file' as const, subject: violation.path }),
      ...granted,
    })),
    ...deniedHosts(denied).map((violation) => ({ ...violation, ...granted })),
    ...(result.timedOut ? [{ seen: 'observed' as const, kind: 'limit' as const, subject: 'time', ...granted }] : []),
  ]
}

/** One entry per host, so that many refusals of one do not push out another. */
function deniedHosts(denied: RunOutcome['egress']): AuditViolation[] {
  const hosts = Map.groupBy(denied, (event) => entryOf(event) ?? 'unknown')
  return Array.from(hosts, ([subject, events]) => ({
    seen: 'observed' as const,
    kind: 'host' as const,
    subject,
    code: events[0]!.code,
    count: events.reduce((sum, event) => sum + event.count, 0),
  }))
}

const MAX_CHANGES = 200

/** All changes of a call. */
function changesOf(changes: readonly CallChanges[]): Pick<EndEvent, 'changes'> {
  const all = changes.filter(({ call }) => call !== null)
  if (all.length === 0) return {}
  const sum = (of: 'made' | 'changed' | 'removed' | 'lost') => all.reduce((total, one) => total + one[of].length, 0)
  const names = all.flatMap(({ made: created, changed, removed }) => [
    ...created.map((path) => `+${path}`),
    ...changed.map((path) => `~${path}`),
    ...removed.map((path) => `-${path}`),
  ])
  return {
    changes: {
      undo: all.at(-1)!.call,
      made: sum('made'),
      changed: sum('changed'),
      removed: sum('removed'),
      lost: sum('lost'),
      names: names.slice(0, MAX_CHANGES),
    },
  }
}

const MOST_PROGRAMS = 8

/** The summary; null if the tool's name says it all. */
export function callSummary(input: ToolInput, facts: ShellFacts | null): string | null {
  if (Array.isArray(input.command)) return programSummary(input.command as readonly string[])
  if (facts) return programsNamed(facts)
  return typeof input.path === 'string' ? input.path : null
}

function programsNamed({ commands }: ShellFacts): string | null {
  const named = commands.flatMap(({ argv }) => {
    const words = argv.map(({ values }) => (values?.length === 1 ? values[0]! : ''))
    return words.length === 0 ? [] : [programSummary(words)]
  })
  const each = [...new Set(named)]
  const more = each.length > MOST_PROGRAMS ? [`and ${each.length - MOST_PROGRAMS} more`] : []
  return each.length === 0 ? null : [...each.slice(0, MOST_PROGRAMS), ...more].join(', ')
}

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
  /** The call whose program started this one. */
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
        args_hash: sha256(canonicalJson(input)),
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
      log.record({ ...grant, value_hash: sha256(value), ...(options.arguments && { value }) }),
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
