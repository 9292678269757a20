/** Between a call and the server: the level decides, the person is asked, and what happened is written down. */

import type { Decision } from '../../../policy/decision.ts'
import { ASKED_CALL, GATEWAY_AGENT, type GatewayJudge } from '../../../runtime/mcp/judge.ts'
import type { CallRecord, SessionRecorder } from '../../../runtime/record/recorder.ts'
import { type Approval, runToolCall, type Stages } from '../../../runtime/run-tool-call.ts'
import { Fault } from '../../../system/fault.ts'
import { visibleLines } from '../../terminal/terminal.ts'
import { ERROR, isObject, type Json, RpcError } from '../json-rpc.ts'
import type { Elicit } from '../rounds.ts'
import type { GuardedResult } from './result.ts'

export interface GateParts {
  readonly judge: Omit<GatewayJudge, 'loaded'>
  readonly recorder: Pick<SessionRecorder, 'begin' | 'end' | 'answered' | 'tainted'>
}

/** Something that is about to be asked of a server. */
export interface GatedCall {
  /** How levels and the audit call it: `mcp__files__read`, `mcp_prompts__files`. */
  readonly called: string
  readonly server: string
  readonly input: Json
  /** The way to the person; null: an ask is a refusal. */
  readonly elicit: Elicit | null
}

export type Gated = { readonly result: GuardedResult } | { readonly refused: string } | { readonly failed: string }

/** The gate of one gateway. */
export class GatewayGate {
  readonly #parts: GateParts
  /** What the person allowed until the gateway ends. */
  readonly #allowed = new Set<string>()

  constructor(parts: GateParts) {
    this.#parts = parts
  }

  /** True when the level lets it pass without asking. */
  isOpen(called: string): boolean {
    return this.#decide(called).decision === 'allow'
  }

  /** Throws when the level is deny: for what is too small to be asked about. */
  refuseDenied(called: string): void {
    const { decision, reason } = this.#decide(called)
    if (decision === 'deny') throw new RpcError(ERROR.refused, `Denied: ${reason.message}`)
  }

  /** Does the work if it may be done. */
  async pass(call: GatedCall, work: () => Promise<GuardedResult>, signal: AbortSignal): Promise<Gated> {
    const { recorder, judge } = this.#parts
    const { called, input, server } = call
    let begun: CallRecord | null = null
    const stages: Stages<GatedCall, CallRecord, GuardedResult> = {
      history: judge.history,
      parse: () => call,
      decide: (_, breakerOpenFor) => judge.decide(called, breakerOpenFor),
      begin: (_, decision) => {
        begun = recorder.begin({ tool: called, input, subject: called, decision, agent: GATEWAY_AGENT })
        return begun
      },
      approve: (_, decision) => this.#approve(call, decision, begun, signal),
      run: work,
      scan: (_, output) => ({ output, notes: [], injection: output.injection }),
      tainted: (_, score) => recorder.tainted(called, score),
      end: (record, result) => recorder.end(record, result, []),
    }
    const result = await runToolCall(stages, { tool: called, input, signal })
    switch (result.status) {
      case 'done':
        return { result: result.output }
      case 'denied':
        return { refused: `Denied: ${result.decision.reason.message}` }
      case 'refused':
        return { refused: result.refusal.message }
      case 'failed': {
        const { cause, message } = result.error
        return { failed: cause instanceof Fault ? message : `${server} failed: ${message}` }
      }
    }
  }

  /** Puts a question of the gateway itself to the person; anything but a clear yes is a no. */
  async ask(message: string, elicit: Elicit, signal: AbortSignal): Promise<boolean> {
    return (await this.#answer(message, ['yes', 'no'], elicit, signal)) === 'yes'
  }

  #decide(called: string): Decision {
    return this.#parts.judge.decide(called, null)
  }

  async #approve(
    { called, input, elicit }: GatedCall,
    decision: Decision,
    begun: CallRecord | null,
    signal: AbortSignal,
  ): Promise<Approval> {
    if (this.#allowed.has(called)) return YES
    const level = `[permission.tools] ${JSON.stringify(called)} = "allow" in cordon.toml, signed, allows it`
    const refusal = this.#parts.judge.whyNotAsked(decision)
    if (refusal) return no(`Not run: ${refusal}; ${level}.`)
    if (!elicit) return no(`Not run: it needs a yes from the user, and nobody could be asked; ${level}.`)
    const given = JSON.stringify(input)
    const shown = given.length > MAX_SHOWN ? `${given.slice(0, MAX_SHOWN)} … (${given.length} characters)` : given
    const question = `Cordon asks before ${called} runs:\n    ${shown}\nWhy: ${decision.reason.message}`
    const answer = await this.#answer(question, ['yes', 'session', 'no'], elicit, signal, { [ASKED_CALL]: called })
    if (answer === 'session') this.#allowed.add(called)
    const approval = answer === 'yes' || answer === 'session' ? YES : no('Not run: the user said no.', 'declined')
    this.#parts.recorder.answered(begun?.call ?? null, called, 'elicitation', approval)
    return approval
  }

  async #answer(
    message: string,
    choices: readonly string[],
    elicit: Elicit,
    signal: AbortSignal,
    about?: Json,
  ): Promise<string | null> {
    const answer = { type: 'string', title: 'Answer', enum: choices }
    const requestedSchema = { type: 'object', properties: { answer }, required: ['answer'] }
    try {
      const given = await elicit(
        { message: visibleLines(message), requestedSchema, ...(about && { _meta: about }) },
        signal,
      )
      const content = isObject(given) && given.action === 'accept' && isObject(given.content) ? given.content : {}
      return typeof content.answer === 'string' && choices.includes(content.answer) ? content.answer : null
    } catch {
      return null
    }
  }
}

const YES: Approval = { approved: true, remember: null }

function no(message: string, kind: 'absent' | 'declined' = 'absent'): Approval {
  return { approved: false, refusal: { kind, message }, remember: null }
}

const MAX_SHOWN = 10_000
