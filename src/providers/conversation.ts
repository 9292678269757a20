/** A conversation, independent of the provider. */

import { Fault, type FaultCode } from '../system/fault.ts'
import { isRecord } from '../system/json.ts'

const WIRES: readonly unknown[] = ['anthropic', 'openai-chat', 'openai-responses', 'gemini']

/** Validates a stored message: an edited file must not become a conversation. */
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

/** The model's reasoning. `opaque` goes back to the same provider unchanged. */
export interface ThinkingPart {
  readonly type: 'thinking'
  readonly text: string
  readonly opaque?: Json
}

/** A tool call. Input that is not a JSON object sets `problem`, and the call is never run. */
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
  /** The wire it came by; opaque parts only go back there. */
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

/** A tool as the model sees it. */
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
  /** The person set `maxTokens`, so it is always sent. */
  readonly capped?: boolean
  /** Provider-specific fields, added to the body last. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** Tokens of one answer; `input` excludes cached ones. */
export interface Usage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** Why an answer ended: complete, calls, limit, or refused by the provider. */
export type Stop = 'end' | 'calls' | 'length' | 'refused'

/** Streaming events, the same for every provider. */
export type ProviderEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  /** A call has begun; its input is incomplete and nothing runs yet. */
  | { readonly type: 'call'; readonly id: string; readonly name: string }
  | {
      readonly type: 'done'
      readonly message: AssistantMessage
      readonly stop: Stop
      readonly usage: Usage
    }

/** The model failed. `resumable`: nothing was used, so the request may be repeated. */
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

/** An answer that cannot be parsed and is not used. */
export function malformed(what: string): ProviderFault {
  return new ProviderFault('provider-malformed', `the provider sent ${what}`, { resumable: true })
}

/** A call whose input was streamed as text. */
export function callPart(id: string, name: string, text: string, opaque?: Json): CallPart {
  const common = { type: 'call' as const, id, name, ...(opaque !== undefined && { opaque }) }
  // Providers send nothing for a tool without arguments.
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
