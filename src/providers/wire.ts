/** The port of a provider's protocol: what a request looks like, and how its answer is read. No I/O. */

import type { ModelRequest, ProviderEvent, WireName } from './conversation.ts'
import { malformed, ProviderFault } from './conversation.ts'
import type { ServerEvent } from './event-stream.ts'

export interface WireRequest {
  /** Below the base URL. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

/** Reads one answer. Every event is given once; `end` is called when no more bytes come. */
export interface AnswerReader {
  take(event: ServerEvent): readonly ProviderEvent[]
  /** Throws when the answer is not whole; gives its end where only the end of the stream tells it. */
  end(): readonly ProviderEvent[]
}

export interface Wire {
  readonly name: WireName
  /** `key` null: the endpoint wants none. */
  request(request: ModelRequest, key: string | null): WireRequest
  reader(): AnswerReader
}

/** Fields that came from outside, checked one by one. */
export type Fields = Readonly<Record<string, unknown>>

/** The JSON object of an event. */
export function fieldsOf(data: string): Fields {
  try {
    const value: unknown = JSON.parse(data)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  } catch {
    // Said below.
  }
  throw malformed('an event that is not a JSON object')
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0
}

/** The stream ended before the answer did. */
export function cutShort(): ProviderFault {
  return new ProviderFault('provider-cut', 'the answer broke off before its end', { resumable: true })
}

/** An error that the provider reports inside of a stream that had begun well. */
export function reported(error: Fields): ProviderFault {
  const kind = textOf(error.type) || textOf(error.code) || 'error'
  const busy = /overloaded|rate_limit|unavailable|timeout|server_error|internal|api_error/i.test(kind)
  return new ProviderFault('provider-error', `the provider reports ${kind}: ${textOf(error.message) || 'no reason'}`, {
    resumable: busy,
  })
}
