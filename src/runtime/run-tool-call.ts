/** The way of a tool call, as one sentence: parse it, decide it, record it, ask where needed, run it, scan what came back, record that. */

import type { Approval } from '../approval/approve.ts'
import type { Decision } from '../policy/decision.ts'
import { messageOf } from '../system/fault.ts'
import type { ToolOutput } from '../tools/tool.ts'
import type { ToolFailure, ToolResult } from './session/tool-result.ts'

export interface ToolRequest {
  readonly tool: string
  readonly input: unknown
  readonly signal: AbortSignal
}

/** The stages of a session; each does one thing, and none knows the others. */
export interface Stages<Call, Record> {
  parse(request: ToolRequest): Call
  decide(call: Call): Decision
  /** The decision as it would be now: a person takes time, and a deny that came meanwhile stands. */
  decideAgain(call: Call): Decision
  /** Writes the first line of the record; when it cannot, the call does not run. */
  begin(call: Call, decision: Decision): Promise<Record>
  /** Turns a decision that asks into a yes or a no of a person. */
  approve(call: Call, decision: Decision, signal: AbortSignal): Promise<Approval>
  run(call: Call, decision: Decision, signal: AbortSignal): Promise<ToolOutput>
  /** Looks at what a tool brought back before the agent does. */
  scan(call: Call, output: ToolOutput): { readonly output: ToolOutput; readonly notes: readonly string[] }
  end(record: Record | null, result: ToolResult): Promise<void>
}

/** Runs one call through every stage. It never throws: whatever fails is a result, and never an allow. */
export async function runToolCall<Call, Record>(
  stages: Stages<Call, Record>,
  request: ToolRequest,
): Promise<ToolResult> {
  let decision: Decision | null = null
  let record: Record | null = null
  let result: ToolResult
  try {
    const call = stages.parse(request)
    decision = stages.decide(call)
    record = await stages.begin(call, decision)
    result = await answer(stages, call, decision, request.signal)
  } catch (error) {
    result = { status: 'failed', decision, error: failureOf(error, request.signal) }
  }
  try {
    await stages.end(record, result)
  } catch (error) {
    return { status: 'failed', decision, error: failureOf(error, null) }
  }
  return result
}

async function answer<Call, Record>(
  stages: Stages<Call, Record>,
  call: Call,
  decision: Decision,
  signal: AbortSignal,
): Promise<ToolResult> {
  if (decision.decision === 'deny') return { status: 'denied', decision }
  if (decision.decision === 'ask') {
    const approval = await stages.approve(call, decision, signal)
    signal.throwIfAborted()
    if (!approval.approved) return { status: 'refused', decision, refusal: approval.refusal }
    const now = stages.decideAgain(call)
    if (now.decision === 'deny') return { status: 'denied', decision: now }
  }
  signal.throwIfAborted()
  const { output, notes } = stages.scan(call, await stages.run(call, decision, signal))
  return { status: 'done', output, decision, notes }
}

function failureOf(error: unknown, signal: AbortSignal | null): ToolFailure {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
  const remedy = error instanceof Error && 'remedy' in error && typeof error.remedy === 'string' ? error.remedy : null
  const name = error instanceof Error ? error.name : ''
  if (signal?.aborted || name === 'AbortError') {
    return { code: 'cancelled', message: 'the call was cancelled', remedy: null }
  }
  if (name === 'TimeoutError') return { code: 'timed-out', message: messageOf(error), remedy }
  return { code: code ?? (name === 'InputError' ? 'bad-input' : 'failed'), message: messageOf(error), remedy }
}
