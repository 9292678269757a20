/**
 * The way of a call, as one sentence: parse it, admit it, decide it, record it, ask where needed, run it, scan what came back,
 * record that. Sessions, hooks, the MCP gateway and `cordon run` all go it, each with stages of its own.
 */

import type { Approval } from '../approval/approve.ts'
import type { Decision } from '../policy/decision.ts'
import { asksTheSame } from '../policy/review-bound.ts'
import { messageOf } from '../system/fault.ts'
import type { ToolOutput } from '../tools/tool.ts'
import { type Admission, admitCall, type CallHistory, type CallOutcome, outcomeOf } from './admission.ts'
import type { CallResult, ToolFailure } from './tool-result.ts'

export type { Approval } from '../approval/approve.ts'

export interface ToolRequest {
  readonly tool: string
  readonly input: unknown
  readonly signal: AbortSignal
}

/** What a result holds after somebody checked it before the agent does. */
export interface Scanned<Output> {
  readonly output: Output
  readonly notes: readonly string[]
  /** How much it reads like orders to the agent (A3); null when it does not. */
  readonly injection: number | null
}

/** The stages of a surface; each does one thing, and none knows the others. */
export interface Stages<Call, Record, Output = ToolOutput> {
  /** What the agent's calls before this one left: their rate, its breaker, its taint; null where there is not an agent. */
  readonly history: CallHistory | null
  parse(request: ToolRequest): Call
  /** Without effects: it is asked again after a person answered, and a deny that came meanwhile stands. */
  decide(call: Call, breakerOpenFor: number | null): Decision | Promise<Decision>
  /** Writes the first line of the record; when it cannot, the call does not run. */
  begin(call: Call, decision: Decision): Record | Promise<Record>
  /** Turns a decision that asks into a yes or a no of a person. */
  approve(call: Call, decision: Decision, signal: AbortSignal): Promise<Approval>
  run(call: Call, decision: Decision, signal: AbortSignal): Promise<Output>
  scan(call: Call, output: Output): Scanned<Output>
  /** Writes down that a result reads like orders. */
  tainted(call: Call, score: number): void
  /** What the call's end says about its agent; by its status and exit code, unless told. */
  outcome?(call: Call, result: CallResult<Output>): CallOutcome
  end(record: Record | null, result: CallResult<Output>): void | Promise<void>
}

/** Runs one call through every stage. It never throws: whatever fails is a result, and never an allow. */
export async function runToolCall<Call, Record, Output>(
  stages: Stages<Call, Record, Output>,
  request: ToolRequest,
): Promise<CallResult<Output>> {
  const { history } = stages
  let decision: Decision | null = null
  let record: Record | null = null
  // A call that could not even be parsed counts; one that the breaker or a limit turned away does not.
  let admission: Admission | null = { probe: false }
  let result: CallResult<Output>
  let judge = (ended: CallResult<Output>): CallOutcome => outcomeOf(ended)
  try {
    const call = stages.parse(request)
    if (stages.outcome) judge = (ended) => stages.outcome!(call, ended)
    ;({ decision, admission } = await admitCall(history, request.tool, (openFor) => stages.decide(call, openFor)))
    record = await stages.begin(call, decision)
    result = await answer(stages, call, decision, request.signal)
  } catch (error) {
    result = { status: 'failed', decision, error: failureOf(error, request.signal) }
  }
  try {
    await stages.end(record, result)
    if (admission) await history?.note(admission, judge(result))
  } catch (error) {
    return { status: 'failed', decision, error: failureOf(error, null) }
  }
  return result
}

async function answer<Call, Record, Output>(
  stages: Stages<Call, Record, Output>,
  call: Call,
  decision: Decision,
  signal: AbortSignal,
): Promise<CallResult<Output>> {
  if (decision.decision === 'deny') return { status: 'denied', decision }
  let agreed = decision
  if (decision.decision === 'ask') {
    const approval = await stages.approve(call, decision, signal)
    signal.throwIfAborted()
    if (!approval.approved) return { status: 'refused', decision, refusal: approval.refusal }
    const now = await stages.decide(call, null)
    if (now.decision === 'deny') return { status: 'denied', decision: now }
    // INVARIANT: a reviewer answers what it was shown, within its bound, and nothing that the call has become meanwhile.
    if (approval.reviewed !== undefined && !asksTheSame(now, decision)) {
      const message = 'what it would do has changed since the reviewer answered; try it again'
      return { status: 'refused', decision, refusal: { kind: 'absent', message } }
    }
    if (approval.reviewed === 'undo') agreed = { ...decision, relies: 'undo' }
  }
  signal.throwIfAborted()
  const { output, notes, injection } = stages.scan(call, await stages.run(call, agreed, signal))
  if (injection !== null) {
    await stages.history?.taint()
    stages.tainted(call, injection)
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
