/** Between a call and the server: the level decides, the person is asked, and what happened is written down. */

import { ASKED_CALL, type GatewayJudge } from '../../../agents/mcp/judge.ts'
import { GATEWAY_AGENT } from '../../../call/decide/named-tool.ts'
import type { CallRecord, SessionRecorder } from '../../../call/record/recorder.ts'
import { type Approval, runToolCall, type Stages } from '../../../call/run-tool-call.ts'
import type { Decision } from '../../../policy/decision.ts'
import { askText, askView, type CordonOptions, requestOf } from '../../../session/cordon.ts'
import { Fault, messageOf } from '../../../system/fault.ts'
import { visibleLines } from '../../terminal/terminal.ts'
import { ERROR, isObject, type Json, RpcError } from '../json-rpc.ts'
import type { Elicit } from '../rounds.ts'
import type { GuardedResult } from './result.ts'

type Prompter = NonNullable<CordonOptions['prompter']>

export interface GateParts {
  readonly judge: Omit<GatewayJudge, 'answered'>
  readonly recorder: Pick<SessionRecorder, 'begin' | 'end' | 'answered' | 'tainted'>
  readonly elsewhere: Elsewhere
}

/** Where a question can be answered beside the client: the page, a link, `cordon approvals`. */
export interface Elsewhere {
  /** Puts the questions of a prompter there as well. */
  readonly share: (inner: Prompter) => Prompter
  /** Waits while somebody could answer there. */
  readonly wait: (signal: AbortSignal) => Promise<void>
  /** The fleet, where it answers asks of this machine. */
  readonly fleet: () => Promise<Prompter | null>
}

/** Something that is about to be asked of a server. */
export interface GatedCall {
  /** How levels and the audit call it: `mcp__files__read`, `mcp_prompts__files`. */
  readonly called: string
  readonly server: string
  readonly input: Json
  /** The tool, with what the server says of it; absent for anything else. */
  readonly tool?: { readonly name: string; readonly hints: Json | null }
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
  async isOpen(called: string): Promise<boolean> {
    return (await this.#decide(called)).decision === 'allow'
  }

  /** Throws when the level is deny: for what is too small to be asked about. */
  async refuseDenied(called: string): Promise<void> {
    const { decision, reason } = await this.#decide(called)
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
      decide: (_, breakerOpenFor) => {
        const { tool } = call
        const facts = tool && { server, tool: tool.name, input, hints: tool.hints }
        return judge.decide(called, breakerOpenFor, facts)
      },
      begin: (_, decision) => {
        begun = recorder.begin({ tool: called, input, subject: called, decision, agent: GATEWAY_AGENT })
        return begun
      },
      approve: async (_, decision) => {
        const approval = await this.#approve(call, decision, begun, signal)
        // A denial of the organisation that came meanwhile stands.
        if (approval.approved) await judge.refresh()
        return approval
      },
      run: work,
      scan: (_, output) => ({ output, notes: [], injection: output.injection }),
      tainted: (_, score) => recorder.tainted(begun?.call ?? null, called, score),
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

  /** Puts a question of the gateway itself to the person; anything but a clear yes is a no. */
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
    const level = `[permission.tools] ${JSON.stringify(called)} = "allow" in cordon.toml, signed, allows it`
    const refusal = this.#parts.judge.whyNotAsked(decision)
    if (refusal) return no(`Not run: ${refusal}; ${level}.`)
    if (this.#allowed.has(called)) return YES
    const absent = no(`Not run: it needs approval from the user, and no one could be asked; ${level}.`)
    const { root, home } = this.#parts.judge.place
    const places = { root, home, resolve: (path: string) => path }
    const request = requestOf({ tool: called, subject: called, input, decision, facts: null, places, suggestions: [] })
    const more = `session: every call of ${called} until the gateway ends`
    const question = `${askText(askView(request), { whole: true })}\n${more}`
    let forSession = false
    const client: Prompter = {
      name: 'elicitation',
      onceOnly: true,
      ask: async (_, asked) => {
        if (!elicit) {
          await this.#parts.elsewhere.wait(asked)
          asked.throwIfAborted()
          const fleet = await this.#parts.elsewhere.fleet()
          if (fleet) return fleet.ask(request, asked)
          throw new Error('no one could be asked')
        }
        const answer = await this.#answer(question, ['yes', 'session', 'no'], elicit, asked, { [ASKED_CALL]: called })
        forSession = answer === 'session'
        return { kind: answer === 'yes' || answer === 'session' ? 'once' : 'deny' }
      },
    }
    const answer = await this.#parts.elsewhere
      .share(client)
      .ask(request, signal)
      .catch(() => null)
    if (answer === null) return absent
    const { kind, by = client.name } = answer
    // What the client said counts only where its answer is the one that stands.
    if (forSession && by === client.name) this.#allowed.add(called)
    const said = answer.kind === 'deny-message' ? `: ${answer.message}` : '.'
    const approval = kind === 'once' ? YES : no(`Not run: the user said no${said}`, 'declined')
    this.#parts.recorder.answered(begun?.call ?? null, called, by, approval)
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
