/** Judges calls to servers: applies the level, asks the person, and records the result. */

import { ASKED_CALL, type GatewayJudge } from '../../../agents/mcp/judge.ts'
import { GATEWAY_AGENT } from '../../../call/decide/named-tool.ts'
import type { CallRecord, SessionRecorder } from '../../../call/record/recorder.ts'
import { type Approval, runToolCall, type Stages } from '../../../call/run-tool-call.ts'
import type { Decision } from '../../../policy/decision.ts'
import { type Answer, type ApprovalRequest, approve, type CordonOptions, requestOf } from '../../../session/cordon.ts'
import { Fault, messageOf } from '../../../system/fault.ts'
import { isRecord } from '../../../system/json.ts'
import { ERROR, type Json, RpcError } from '../../../system/json-rpc.ts'
import { visibleLines } from '../../terminal/terminal.ts'
import { elicitationPrompter } from '../elicitation.ts'
import type { Elicit } from '../rounds.ts'
import type { GuardedResult } from './result.ts'

type Prompter = NonNullable<CordonOptions['prompter']>

export interface GateParts {
  readonly judge: Omit<GatewayJudge, 'answered'>
  readonly recorder: Pick<SessionRecorder, 'begin' | 'end' | 'answered' | 'granted' | 'flagged'>
  readonly elsewhere: Elsewhere
}

/** Where a question can be answered besides the client: the page, a link, `cordon approvals`. */
export interface Elsewhere {
  readonly share: (inner: Prompter) => Prompter
  /** Waits while an answer can come from there. */
  readonly wait: (signal: AbortSignal) => Promise<void>
  /** An answer that was given since the same call was last tried. */
  readonly taken: (request: ApprovalRequest) => Approval | null
  /** Keeps a question that nobody could answer, and returns how the user answers it. */
  readonly keep: (request: ApprovalRequest) => string
  /** The fleet, if it answers this machine's questions. */
  readonly fleet: () => Promise<Prompter | null>
}

/** A request before it goes to a server. */
export interface GatedCall {
  /** Its name in levels and the audit log: `mcp__files__read`, `mcp_prompts__files`. */
  readonly called: string
  readonly server: string
  readonly input: Json
  readonly hints?: Json
  /** Asks the person; null: an ask is a refusal. */
  readonly elicit: Elicit | null
}

export type Gated = { readonly result: GuardedResult } | { readonly refused: string } | { readonly failed: string }

export class GatewayGate {
  readonly #parts: GateParts

  constructor(parts: GateParts) {
    this.#parts = parts
  }

  /** True if the level allows it without asking. */
  async isOpen(called: string): Promise<boolean> {
    return (await this.#decide(called)).decision === 'allow'
  }

  /** Throws if the level is deny: for requests too small to ask about. */
  async refuseDenied(called: string): Promise<void> {
    const { decision, reason } = await this.#decide(called)
    if (decision === 'deny') throw new RpcError(ERROR.refused, `Denied: ${reason.message}`)
  }

  async pass(call: GatedCall, work: () => Promise<GuardedResult>, signal: AbortSignal): Promise<Gated> {
    const { recorder, judge } = this.#parts
    const { called, input, server } = call
    let begun: CallRecord | null = null
    const stages: Stages<GatedCall, CallRecord, GuardedResult> = {
      history: judge.history,
      parse: () => call,
      decide: (_, breakerOpenFor) => {
        return judge.decide(called, breakerOpenFor, { input, hints: call.hints ?? null })
      },
      begin: (_, decision) => {
        begun = recorder.begin({ tool: called, input, subject: called, decision, agent: GATEWAY_AGENT })
        return begun
      },
      approve: async (_, decision) => {
        const approval = await this.#approve(call, decision, begun, signal)
        // The organisation may have denied it meanwhile.
        if (approval.approved) await judge.refresh()
        return approval
      },
      run: work,
      scan: (_, output) => ({ output, notes: [], injection: output.injection }),
      flagged: (_, score) => recorder.flagged(begun?.call ?? null, called, score),
      end: (record, result) => recorder.end(record, result, []),
    }
    try {
      await judge.refresh()
    } catch (error) {
      return { failed: messageOf(error) }
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

  /** Asks the person a question of the gateway; anything but a clear yes is a no. */
  async ask(message: string, elicit: Elicit, signal: AbortSignal): Promise<boolean> {
    return (await this.#answer(message, ['yes', 'no'], elicit, signal)) === 'yes'
  }

  async #decide(called: string): Promise<Decision> {
    await this.#parts.judge.refresh()
    return this.#parts.judge.decide(called, null)
  }

  async #approve(
    { called, input, elicit }: GatedCall,
    decision: Decision,
    begun: CallRecord | null,
    signal: AbortSignal,
  ): Promise<Approval> {
    const { judge, recorder, elsewhere } = this.#parts
    const level = `[permission.tools] ${JSON.stringify(called)} = "allow" in cordon.toml, signed, allows it`
    const refusal = judge.whyNotAsked(decision)
    if (refusal) return no(`Not run: ${refusal}; ${level}.`)
    const { root, home } = judge.place
    const places = { root, home, resolve: (path: string) => path }
    const client: Prompter =
      elicit === null
        ? { name: 'elicitation', ask: (request, asked) => this.#elsewhere(request, asked) }
        : elicitationPrompter((params, asked) => elicit({ ...params, _meta: { [ASKED_CALL]: called } }, asked), false)
    const question = { tool: called, subject: called, input, decision, facts: null, places }
    const approval =
      elsewhere.taken(requestOf(question)) ??
      (await approve(question, (request) => elsewhere.share(client).ask(request, signal)))
    const { remember } = approval
    if (remember !== null) {
      const kept = await judge.remember(remember)
      const { verdict, scope, grant } = remember
      recorder.granted({ type: 'grant', verdict, scope, kind: grant.kind, value: grant.value, ...(kept && { kept }) })
    }
    if (approval.approved || approval.refusal.kind !== 'absent')
      recorder.answered(begun?.call ?? null, called, approval.by ?? client.name, approval)
    if (approval.approved) return approval
    const { kind, message } = approval.refusal
    // A client without a person may also decline: only answers from elsewhere are certainly the user's.
    const isClients = kind === 'declined' && approval.by === undefined && elicit !== null
    const said = isClients ? 'the client said no' : kind === 'corrected' ? `the user said no: ${message}` : message
    const way = kind === 'absent' || isClients ? `; ${level}` : ''
    return { ...approval, refusal: { kind, message: `Not run: ${said}${way}. ${decision.reason.message}` } }
  }

  async #elsewhere(request: ApprovalRequest, signal: AbortSignal): Promise<Answer> {
    const { wait, fleet, keep } = this.#parts.elsewhere
    await wait(signal)
    signal.throwIfAborted()
    const others = await fleet()
    if (others) return others.ask(request, signal)
    throw new Error(keep(request))
  }

  async #answer(
    message: string,
    choices: readonly string[],
    elicit: Elicit,
    signal: AbortSignal,
  ): Promise<string | null> {
    const answer = { type: 'string', title: 'Answer', enum: choices }
    const requestedSchema = { type: 'object', properties: { answer }, required: ['answer'] }
    try {
      const given = await elicit({ message: visibleLines(message), requestedSchema }, signal)
      const content = isRecord(given) && given.action === 'accept' && isRecord(given.content) ? given.content : {}
      return typeof content.answer === 'string' && choices.includes(content.answer) ? content.answer : null
    } catch {
      return null
    }
  }
}

function no(message: string, kind: 'absent' | 'declined' = 'absent'): Approval {
  return { approved: false, refusal: { kind, message }, remember: null }
}
