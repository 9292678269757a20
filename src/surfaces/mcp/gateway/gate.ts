/** Between a call and the server: the level decides, the person is asked, and what happened is written down. */

import type { HookJudge, HookJudgement } from '../../../runtime/hook/judge.ts'
import type { GatewayRecorder } from '../../../runtime/mcp/record.ts'
import { visibleLines } from '../../terminal/terminal.ts'
import { ERROR, isObject, type Json, RpcError } from '../json-rpc.ts'
import type { Elicit } from '../rounds.ts'
import type { GuardedResult } from './result.ts'

export interface GateParts {
  readonly judge: HookJudge
  readonly recorder: GatewayRecorder
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
    const { recorder } = this.#parts
    const { called, input, server } = call
    const decision = this.#decide(called)
    const record = recorder.begin({ tool: called, input, subject: called, decision, agent: 'mcp' })
    const refused = await this.#refusal(call, decision, signal)
    if (refused !== null) {
      recorder.end(record, { status: 'refused', decision, refusal: { kind: 'absent', message: refused } }, [])
      return { refused }
    }
    try {
      const result = await work()
      const output = { text: result.text, isError: result.isError }
      recorder.end(record, { status: 'done', decision, notes: [], output }, [])
      return { result }
    } catch (error) {
      const failed = `${server} failed: ${error instanceof Error ? error.message : String(error)}`
      recorder.end(
        record,
        { status: 'failed', decision, error: { code: 'mcp-server', message: failed, remedy: null } },
        [],
      )
      return { failed }
    }
  }

  /** Puts a question of the gateway itself to the person; anything but a clear yes is a no. */
  async ask(message: string, elicit: Elicit, signal: AbortSignal): Promise<boolean> {
    return (await this.#answer(message, ['yes', 'no'], elicit, signal)) === 'yes'
  }

  #decide(called: string): HookJudgement['decision'] {
    return this.#parts.judge.strictest([{ kind: 'foreign', tool: called }])!.decision
  }

  /** Why a call does not go through; null when it does. */
  async #refusal(
    { called, input, elicit }: GatedCall,
    decision: HookJudgement['decision'],
    signal: AbortSignal,
  ): Promise<string | null> {
    if (decision.decision === 'allow') return null
    if (decision.decision === 'deny') return `Denied: ${decision.reason.message}`
    if (this.#allowed.has(called)) return null
    const level = `[permission.tools] ${JSON.stringify(called)} = "allow" in cordon.toml, signed, allows it`
    const refusal = this.#parts.judge.whyNotAsked(decision)
    if (refusal) return `Not run: ${refusal}; ${level}.`
    if (!elicit) return `Not run: it needs a yes from the user, and nobody could be asked; ${level}.`
    const given = JSON.stringify(input)
    const shown = given.length > MAX_SHOWN ? `${given.slice(0, MAX_SHOWN)} … (${given.length} characters)` : given
    const question = `Cordon asks before ${called} runs:\n    ${shown}\nWhy: ${decision.reason.message}`
    const answer = await this.#answer(question, ['yes', 'session', 'no'], elicit, signal)
    if (answer === 'session') this.#allowed.add(called)
    return answer === 'yes' || answer === 'session' ? null : 'Not run: the user said no.'
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
      const content = isObject(given) && given.action === 'accept' && isObject(given.content) ? given.content : {}
      return typeof content.answer === 'string' && choices.includes(content.answer) ? content.answer : null
    } catch {
      return null
    }
  }
}

const MAX_SHOWN = 10_000
