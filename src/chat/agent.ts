/** The agent's loop: ask the model, run its calls, repeat until it has answered. */

import type { ToolResult } from '../call/tool-result.ts'
import {
  type AssistantMessage,
  type CallPart,
  type CallResult,
  type Message,
  NO_USAGE,
  type OfferedTool,
  ProviderFault,
  type Stop,
  type Usage,
} from '../providers/conversation.ts'
import { messageOf } from '../system/fault.ts'
import { type Footprint, groupCalls, withOwnIds } from './calls.ts'
import { conversationAsText, isFull, keptOf, SUMMARY_REQUEST, summaryMessage, tokensOf, toSumUp } from './compaction.ts'
import type { Model } from './model.ts'
import type { Restored, Spent, Transcript } from './transcript.ts'

/** The session behind an agent's tools. */
export interface AgentTools {
  offered(): readonly OfferedTool[]
  /** Runs one call; never throws. */
  call(name: string, input: unknown, signal: AbortSignal): Promise<ToolResult>
  footprint(call: CallPart): Footprint | null
  /** A result for the model. Long results are cut and name the file with the rest. */
  text(result: ToolResult): string
}

export interface AgentParts {
  readonly tools: AgentTools
  readonly model: () => Model
  readonly system: () => string
  readonly transcript: Pick<Transcript, 'add' | 'compacted' | 'cleared'>
  readonly restored?: Restored
  readonly report: (event: AgentEvent) => void
}

/** Events of a turn. */
export type AgentEvent =
  | { readonly type: 'text' | 'thinking'; readonly text: string }
  /** The model is writing a call. */
  | { readonly type: 'preparing'; readonly name: string }
  | { readonly type: 'calling'; readonly call: CallPart }
  | { readonly type: 'result'; readonly call: CallPart; readonly result: ToolResult | null; readonly text: string }
  | { readonly type: 'answered'; readonly stop: Stop; readonly spent: Spent }
  | { readonly type: 'retry'; readonly problem: string; readonly waitMs: number }
  /** The answer broke off and is requested again; what was shown does not count. */
  | { readonly type: 'again'; readonly problem: string }
  | { readonly type: 'compacting' }
  | { readonly type: 'compacted'; readonly before: number; readonly after: number }

export interface TurnLimits {
  readonly signal: AbortSignal
  /** Limit of model answers. */
  readonly maxTurns?: number
  /** Limit in dollars for the whole conversation. */
  readonly budget?: number
}

/** How a turn ended. */
export type TurnEnd =
  | { readonly reason: 'done'; readonly text: string }
  | { readonly reason: 'interrupted' }
  | { readonly reason: 'max-turns' }
  | { readonly reason: 'budget' }
  | { readonly reason: 'length' }
  | { readonly reason: 'refused' }
  | { readonly reason: 'failed'; readonly error: unknown }

/** Retries of a broken answer. */
const AGAIN = 2

export class Agent {
  readonly #parts: AgentParts
  #messages: Message[]
  #spent: Spent
  /** Tokens of the last request and answer, as the provider counted them. */
  #counted = 0

  constructor(parts: AgentParts) {
    this.#parts = parts
    this.#messages = [...(parts.restored?.messages ?? [])]
    this.#spent = parts.restored?.spent ?? { usage: NO_USAGE, cost: 0, turns: 0 }
  }

  get spent(): Spent {
    return this.#spent
  }

  /** Adds usage by others for this conversation. */
  charge({ usage, cost }: Spent): void {
    const { usage: before, cost: spent, turns } = this.#spent
    this.#spent = { usage: sumOf(before, usage), cost: cost === null || spent === null ? null : spent + cost, turns }
  }

  get messages(): readonly Message[] {
    return this.#messages
  }

  /** Part of the context window in use. */
  get fullness(): number {
    return Math.min(1, Math.max(this.#counted, tokensOf(this.#messages)) / this.#parts.model().context)
  }

  /** Starts over; the cost remains. */
  clear(): void {
    this.#messages = []
    this.#counted = 0
    this.#parts.transcript.cleared(this.#spent)
  }

  /** Answers a message. Never throws. */
  async turn(message: Extract<Message, { role: 'user' }>, limits: TurnLimits): Promise<TurnEnd> {
    try {
      this.#add(message)
      return await this.#work(limits)
    } catch (error) {
      if (limits.signal.aborted) return { reason: 'interrupted' }
      return { reason: 'failed', error }
    }
  }

  async #work(limits: TurnLimits): Promise<TurnEnd> {
    const { signal } = limits
    for (let turns = 0; ; turns++) {
      if (limits.maxTurns !== undefined && turns >= limits.maxTurns) return { reason: 'max-turns' }
      if (this.#isOverBudget(limits)) return { reason: 'budget' }
      await this.#makeSandbox(signal)
      const { message, stop } = await this.#answer(signal)
      const calls = message.parts.filter((part) => part.type === 'call')
      // Any other end means a cut or refused answer, of which nothing is run.
      if (stop !== 'calls') {
        if (calls.length > 0) this.#add({ role: 'results', results: calls.map((call) => notRun(call, CUT)) })
        if (stop === 'end') return { reason: 'done', text: textIn(message) }
        return { reason: stop === 'length' ? 'length' : 'refused' }
      }
      this.#add({ role: 'results', results: await this.#run(calls, signal) })
      signal.throwIfAborted()
    }
  }

  #isOverBudget({ budget }: TurnLimits): boolean {
    if (budget === undefined) return false
    const { cost } = this.#spent
    // Unknown prices count as over budget.
    return cost === null || cost >= budget
  }

  /** One answer; a broken one is requested again, since nothing of it was used. */
  async #answer(signal: AbortSignal): Promise<{ message: AssistantMessage; stop: Stop }> {
    const { report, system, tools } = this.#parts
    for (let attempt = 0; ; attempt++) {
      let said = ''
      // The model's own retries are over; a stream that broke off is retried here.
      let came = false
      try {
        const model = this.#parts.model()
        const request = { system: system(), messages: this.#messages, tools: tools.offered() }
        const onRetry = (problem: ProviderFault, waitMs: number) =>
          report({ type: 'retry', problem: problem.message, waitMs })
        for await (const event of model.ask(request, { signal, onRetry })) {
          came = true
          if (event.type === 'text') said += event.text
          if (event.type === 'text' || event.type === 'thinking') report(event)
          else if (event.type === 'call') report({ type: 'preparing', name: event.name })
          else {
            const message = withOwnIds(event.message, this.#messages)
            this.#count(event.usage, model, () =>
              tokensOf([...request.messages, message], request.system, request.tools),
            )
            this.#add(message, this.#spent)
            report({ type: 'answered', stop: event.stop, spent: this.#spent })
            return { message, stop: event.stop }
          }
        }
        throw new ProviderFault('provider-cut', 'the response was truncated', { resumable: true })
      } catch (error) {
        if (signal.aborted) {
          this.#keepHalf(said)
          throw error
        }
        if (!(error instanceof ProviderFault) || !error.resumable || !came || attempt >= AGAIN) throw error
        report({ type: 'again', problem: error.message })
      }
    }
  }

  /** An interrupt keeps the text and drops unfinished calls. */
  #keepHalf(said: string): void {
    if (said.trim() === '') return
    this.#add({
      role: 'assistant',
      wire: 'openai-chat',
      parts: [{ type: 'text', text: `${said}\n[interrupted by the user]` }],
    })
  }

  /** Estimates usage for servers that do not report it: a budget must work. */
  #count(reported: Usage, model: Model, estimated: () => number): void {
    const total = ({ input, output, cacheRead, cacheWrite }: Usage) => input + output + cacheRead + cacheWrite
    const usage = total(reported) > 0 ? reported : { ...NO_USAGE, input: estimated() }
    this.#counted = total(usage)
    this.charge({ usage, cost: model.cost(usage), turns: 0 })
    this.#spent = { ...this.#spent, turns: this.#spent.turns + 1 }
  }

  async #run(calls: readonly CallPart[], signal: AbortSignal): Promise<CallResult[]> {
    const results = new Map<CallPart, CallResult>()
    const { tools } = this.#parts
    for (const group of groupCalls(calls, (call) =>
      call.problem === undefined ? tools.footprint(call) : { reads: [], writes: [] },
    )) {
      await Promise.all(group.map(async (call) => results.set(call, await this.#runOne(call, signal))))
    }
    return calls.map((call) => results.get(call)!)
  }

  async #runOne(call: CallPart, signal: AbortSignal): Promise<CallResult> {
    const { tools, report } = this.#parts
    if (call.problem !== undefined) {
      const text = `Not run: ${call.problem}. Send the call again, with complete JSON.`
      report({ type: 'result', call, result: null, text })
      return { id: call.id, name: call.name, text, isError: true }
    }
    if (signal.aborted) return notRun(call, 'Not run: the user interrupted.')
    report({ type: 'calling', call })
    const result = await tools.call(call.name, call.input, signal)
    const text = tools.text(result)
    report({ type: 'result', call, result, text })
    const isError = result.status !== 'done' || result.output.isError === true
    return { id: call.id, name: call.name, text, isError }
  }

  async #makeSandbox(signal: AbortSignal): Promise<void> {
    const { system, tools } = this.#parts
    const estimated = tokensOf(this.#messages, system(), tools.offered())
    if (isFull(this.#parts.model(), this.#counted, estimated)) await this.compact(signal)
  }

  /** Replaces old messages by a summary and keeps the newest. */
  async compact(signal: AbortSignal): Promise<void> {
    const { report, transcript } = this.#parts
    const model = this.#parts.model()
    const kept = Math.max(keptOf(this.#messages, model.context), this.#messages.at(-1)?.role === 'user' ? 1 : 0)
    const old = this.#messages.slice(0, this.#messages.length - kept)
    if (old.length === 0) return
    report({ type: 'compacting' })
    const before = this.#messages.length
    const summary = await this.#sumUp(old, model, signal)
    this.#messages = [summaryMessage(summary), ...this.#messages.slice(before - kept)]
    this.#counted = 0
    transcript.compacted(summary, kept, this.#spent)
    report({ type: 'compacted', before, after: this.#messages.length })
  }

  async #sumUp(messages: readonly Message[], model: Model, signal: AbortSignal): Promise<string> {
    const asked: Message = { role: 'user', parts: [{ type: 'text', text: SUMMARY_REQUEST }] }
    const short = toSumUp(messages, model.context)
    const { system, tools } = this.#parts
    // Sent as a conversation, providers have it cached; sent as one text, it cannot contain calls.
    const asConversation = { system: system(), messages: [...short, asked], tools: tools.offered() }
    const reported = { system: '', messages: [conversationAsText(short), asked], tools: [] }
    for (const request of [asConversation, reported]) {
      for await (const event of model.ask(request, { signal })) {
        if (event.type !== 'done') continue
        const { message, usage } = event
        this.#count(usage, model, () => tokensOf([...request.messages, message], request.system, request.tools))
        if (textIn(message).trim() !== '') return textIn(message)
      }
    }
    throw new ProviderFault('provider-malformed', 'the model gave no summary')
  }

  #add(message: Message, spent?: Spent): void {
    this.#parts.transcript.add(message, spent)
    this.#messages.push(message)
  }
}

const CUT =
  'Not run: the answer reached its limit or was refused before this call was complete. Send it again, in smaller pieces.'

function sumOf(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
  }
}

function notRun(call: CallPart, text: string): CallResult {
  return { id: call.id, name: call.name, text, isError: true }
}

function textIn({ parts }: AssistantMessage): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

/** Why a turn ended, for a person; null if it was done. */
export function endText(end: TurnEnd): string | null {
  switch (end.reason) {
    case 'done':
      return null
    case 'interrupted':
      return 'interrupted'
    case 'max-turns':
      return 'stopped: --max-turns is reached'
    case 'budget':
      return 'stopped: the budget is used up, or the model has no known price'
    case 'length':
      return 'the answer reached its length limit; say "continue" for the rest'
    case 'refused':
      return 'the provider refused to go on'
    case 'failed':
      return messageOf(end.error)
  }
}
