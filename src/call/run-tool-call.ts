/** The path of a call: parse, admit, decide, record, ask, run, scan, record. */

import type { Approval } from '../approval/approve.ts'
import type { Decision } from '../policy/decision.ts'
import { asksTheSame } from '../policy/review-bound.ts'
import { messageOf } from '../system/fault.ts'
import { trace } from '../system/timing.ts'
import type { ToolOutput } from '../tools/tool.ts'
import { type Admission, admitCall, type CallHistory, type CallOutcome, outcomeOf } from './admission.ts'
import type { CallResult, ToolFailure } from './tool-result.ts'

export type { Approval } from '../approval/approve.ts'

export interface ToolRequest {
  readonly tool: string
  readonly input: unknown
  readonly signal: AbortSignal
}

/** A scanned result. */
export interface Scanned<Output> {
  readonly output: Output
  readonly notes: readonly string[]
  /** The injection score (A3); null if the text looks harmless. */
  readonly injection: number | null
}

/** The stages that a surface supplies. */
export interface Stages<Call, Record, Output = ToolOutput> {
  /** State of the agent's earlier calls; null without an agent. */
  readonly history: CallHistory | null
  parse(request: ToolRequest): Call
  /** Must have no effects: it runs again after an answer, and a new denial then applies. */
  decide(call: Call, breakerOpenFor: number | null): Decision | Promise<Decision>
  /** Writes the first line of the record; on failure the call does not run. */
  begin(call: Call, decision: Decision): Record | Promise<Record>
  /** Asks a person to settle the decision. */
  approve(call: Call, decision: Decision, signal: AbortSignal): Promise<Approval>
  run(call: Call, decision: Decision, signal: AbortSignal): Promise<Output>
  scan(call: Call, output: Output): Scanned<Output>
  /** Records that a result looks like injected instructions. */
  flagged(call: Call, score: number): void
  /** The call's outcome for the breaker; by default derived from its status. */
  outcome?(call: Call, result: CallResult<Output>): CallOutcome
  end(record: Record | null, result: CallResult<Output>): void | Promise<void>
}

/** Runs one call through every stage. It never throws: a failure is a result, never an allow. */
export async function runToolCall<Call, Record, Output>(
  stages: Stages<Call, Record, Output>,
  request: ToolRequest,
): Promise<CallResult<Output>> {
  const { history } = stages
  let decision: Decision | null = null
  let record: Record | null = null
  // A call that does not parse counts for the breaker; one that a limit turned away does not.
  let admission: Admission | null = { probe: false }
  let result: CallResult<Output>
  let judge = (ended: CallResult<Output>): CallOutcome => outcomeOf(ended)
  try {
    const call = stages.parse(request)
    if (stages.outcome) judge = (ended) => stages.outcome!(call, ended)
    ;({ decision, admission } = await admitCall(history, request.tool, (openFor) => stages.decide(call, openFor)))
    trace('decided')
    record = await stages.begin(call, decision)
    trace('recorded')
    result = await answer(stages, call, decision, request)
    trace('ran')
  } catch (error) {
    result = { status: 'failed', decision, error: failureOf(error, request.signal) }
  }
  try {
    await stages.end(record, result)
    if (admission) await history?.note(admission, judge(result))
    trace('ended')
  } catch (error) {
    return { status: 'failed', decision, error: failureOf(error, null) }
  }
  return result
}

async function answer<Call, Record, Output>(
  stages: Stages<Call, Record, Output>,
  call: Call,
  decision: Decision,
  { tool, signal }: ToolRequest,
): Promise<CallResult<Output>> {
  if (decision.decision === 'deny') return { status: 'denied', decision }
  let agreed = decision
  let pending = false
  if (decision.decision === 'ask') {
    const approval = await stages.approve(call, decision, signal)
    signal.throwIfAborted()
    if (!approval.approved) return { status: 'refused', decision, refusal: approval.refusal }
    const now = await stages.decide(call, null)
    if (now.decision === 'deny') return { status: 'denied', decision: now }
    // INVARIANT: a reviewer's answer applies only to what it was shown, not to what the call has
    // become since.
    if (approval.reviewed !== undefined && !asksTheSame(now, decision)) {
      const message = 'what it would do has changed since the reviewer answered; try it again'
      return { status: 'refused', decision, refusal: { kind: 'absent', message } }
    }
    pending = approval.pending === true
    if (approval.reviewed === 'undo') agreed = { ...decision, relies: 'undo' }
  }
  signal.throwIfAborted()
  // INVARIANT: labelled before it runs, so that no call beside it sends the data unlabelled.
  if (agreed.labels && !pending) await stages.history?.label(agreed.labels)
  const { output, notes, injection } = stages.scan(call, await stages.run(call, agreed, signal))
  if (injection !== null) {
    await stages.history?.label([{ label: 'instructions', source: agreed.segments[0]?.text ?? tool }])
    stages.flagged(call, injection)
  }
  return { status: 'done', output, decision: agreed, notes }
}

function failureOf(error: unknown, signal: AbortSignal | null): ToolFailure {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
  const remedy = error instanceof Error && 'remedy' in error && typeof error.remedy === 'string' ? error.remedy : null
  const name = error instanceof Error ? error.name : ''
  if (signal?.aborted || name === 'AbortError') {
    return { code: 'cancelled', message: 'the call was cancelled', remedy: null, cause: error }
  }
  if (name === 'TimeoutError') return { code: 'timed-out', message: messageOf(error), remedy, cause: error }
  const named = code ?? (name === 'InputError' ? 'bad-input' : 'failed')
  return { code: named, message: messageOf(error), remedy, cause: error }
}
