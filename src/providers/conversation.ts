/** A conversation as Cordon keeps it: the same whichever provider it is held with. */

import { Fault, type FaultCode } from '../system/fault.ts'
import { isRecord } from '../system/json.ts'

const WIRES: readonly unknown[] = ['anthropic', 'openai-chat', 'openai-responses', 'gemini']

/** True for what the loop writes. */
export function isMessage(value: unknown): value is Message {
  if (!isRecord(value)) return false
  const { role, parts, results, wire } = value
  if (role === 'results') return isListOf(results, isResult)
  if (role === 'user') return isListOf(parts, isUserPart)
  return role === 'assistant' && WIRES.includes(wire) && isListOf(parts, isAssistantPart)
}

type Fields = Readonly<Record<string, unknown>>

function isListOf(value: unknown, fits: (entry: Fields) => boolean): boolean {
  return Array.isArray(value) && value.every((entry) => isRecord(entry) && fits(entry))
}

function isText(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string')
}

function isResult({ id, name, text, isError }: Fields): boolean {
  return isText(id, name, text) && typeof isError === 'boolean'
}

function isUserPart({ type, text, mediaType, data }: Fields): boolean {
  return type === 'text' ? isText(text) : type === 'image' && isText(mediaType, data)
}

function isAssistantPart({ type, text, id, name, input, problem }: Fields): boolean {
  if (type === 'text' || type === 'thinking') return isText(text)
  return type === 'call' && isText(id, name) && isRecord(input) && (problem === undefined || isText(problem))
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

export interface ImagePart {
  readonly type: 'image'
  readonly mediaType: string
  /** Base64. */
  readonly data: string
}

/** What the model thought. `opaque` goes back to the same provider as it came: signatures and encrypted content. */
export interface ThinkingPart {
  readonly type: 'thinking'
  readonly text: string
  readonly opaque?: Json
}

/** A call of a tool. One whose input is no JSON object has a `problem` and is never run. */
export interface CallPart {
  readonly type: 'call'
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly problem?: string
  readonly opaque?: Json
}

export type AssistantPart = TextPart | ThinkingPart | CallPart

export interface UserMessage {
  readonly role: 'user'
  readonly parts: readonly (TextPart | ImagePart)[]
}

export interface AssistantMessage {
  readonly role: 'assistant'
  /** Which wire it came by: what is opaque goes back there and nowhere else. */
  readonly wire: WireName
  readonly parts: readonly AssistantPart[]
}

export interface ResultMessage {
  readonly role: 'results'
  readonly results: readonly CallResult[]
}

export interface CallResult {
  readonly id: string
  readonly name: string
  readonly text: string
  readonly isError: boolean
}

export type Message = UserMessage | AssistantMessage | ResultMessage

export type WireName = 'anthropic' | 'openai-chat' | 'openai-responses' | 'gemini'

/** A tool as a model is told of it. */
export interface OfferedTool {
  readonly name: string
  readonly description: string
  readonly input: unknown
}

export interface ModelRequest {
  readonly model: string
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly OfferedTool[]
  readonly maxTokens: number
  /** The person named `maxTokens`: sent also where a server has its own limit. */
  readonly capped?: boolean
  /** Fields of the provider's own, put into the body last. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** Tokens of one answer; `input` is what was neither read from nor written to the cache. */
export interface Usage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** Why an answer ended: it is whole, it calls tools, it met the limit, or the provider refused to go on. */
export type Stop = 'end' | 'calls' | 'length' | 'refused'

/** What comes while an answer is streamed, one type for every provider. */
export type ProviderEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  /** A call has begun; its input is still on the way, and nothing is run yet. */
  | { readonly type: 'call'; readonly id: string; readonly name: string }
  | {
      readonly type: 'done'
      readonly message: AssistantMessage
      readonly stop: Stop
      readonly usage: Usage
    }

/** The model's side failed. `resumable`: nothing of the answer was used, and the same request may be made again. */
export class ProviderFault extends Fault {
  readonly status: number | null
  readonly resumable: boolean

  constructor(
    code: FaultCode,
    message: string,
    options: { cause?: unknown; remedy?: string; status?: number; resumable?: boolean } = {},
  ) {
    super(code, message, options)
    this.status = options.status ?? null
    this.resumable = options.resumable ?? false
  }
}

/** An answer that cannot be understood: nothing of it is used. */
export function malformed(what: string): ProviderFault {
  return new ProviderFault('provider-malformed', `the provider sent ${what}`, { resumable: true })
}

/** The part of a call whose input was streamed as text. */
export function callPart(id: string, name: string, text: string, opaque?: Json): CallPart {
  const common = { type: 'call' as const, id, name, ...(opaque !== undefined && { opaque }) }
  // Providers send nothing at all for a tool without arguments.
  if (text.trim() === '') return { ...common, input: {} }
  try {
    const input: unknown = JSON.parse(text)
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) {
      return { ...common, input: input as Record<string, unknown> }
    }
    return { ...common, input: {}, problem: 'its arguments are not a JSON object' }
  } catch {
    return { ...common, input: {}, problem: 'its arguments are not valid JSON' }
  }
}
