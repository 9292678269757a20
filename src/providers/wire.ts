/** The protocol port of a provider, and its event stream. No I/O. */

import { type ModelRequest, malformed, type ProviderEvent, ProviderFault, type WireName } from './conversation.ts'

interface ServerEvent {
  readonly event: string
  readonly data: string
}

const MAX_EVENT = 32 * 1024 * 1024
/** Approximate cost of a line's entry. */
const LINE_COST = 16

/** Parses events from bytes. A last one without its empty line is dropped, as the standard says. */
export class EventStreamReader {
  readonly #decoder = new TextDecoder('utf-8')
  #rest = ''
  /** The searched part of `#rest`, so that slow streams are not searched again. */
  #searched = 0
  #event = ''
  #data: string[] = []
  #size = 0

  take(bytes: Uint8Array): ServerEvent[] {
    return this.#takeText(this.#decoder.decode(bytes, { stream: true }))
  }

  #takeText(text: string): ServerEvent[] {
    this.#rest += text
    const events: ServerEvent[] = []
    let start = 0
    let at = this.#searched
    for (; at < this.#rest.length; at++) {
      const code = this.#rest.charCodeAt(at)
      if (code !== 10 && code !== 13) continue
      // A trailing CR may be half of a CRLF.
      if (code === 13 && at + 1 === this.#rest.length) break
      this.#line(this.#rest.slice(start, at), events)
      if (code === 13 && this.#rest.charCodeAt(at + 1) === 10) at++
      start = at + 1
    }
    this.#rest = this.#rest.slice(start)
    this.#searched = at - start
    if (this.#rest.length + this.#size > MAX_EVENT) throw malformed('an event without an end')
    return events
  }

  #line(line: string, events: ServerEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0) events.push({ event: this.#event, data: this.#data.join('\n') })
      this.#event = ''
      this.#data = []
      this.#size = 0
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'event') this.#event = value
    if (field === 'data') {
      this.#data.push(value)
      // An empty data line takes space too.
      this.#size += value.length + LINE_COST
    }
  }
}

export interface WireRequest {
  /** Below the base URL. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

/** Reads one answer; `end` is called after the last byte. */
export interface AnswerReader {
  take(event: ServerEvent): readonly ProviderEvent[]
  /** Throws if the answer is incomplete. */
  end(): readonly ProviderEvent[]
}

export interface Wire {
  readonly name: WireName
  /** `key` null: none is needed. */
  request(request: ModelRequest, key: string | null): WireRequest
  reader(): AnswerReader
}

/** Untrusted fields. */
export type Fields = Readonly<Record<string, unknown>>

/** The JSON object of an event. */
export function fieldsOf(data: string): Fields {
  try {
    const value: unknown = JSON.parse(data)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  } catch {
    // Reported below.
  }
  throw malformed('an event that is not a JSON object')
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0
}

/** The stream ended before the answer. */
export function cutShort(): ProviderFault {
  return new ProviderFault('provider-cut', 'the response was cut off', { resumable: true })
}

/** An error inside a stream. */
export function reported(error: Fields): ProviderFault {
  const kind = textOf(error.type) || textOf(error.code) || 'error'
  const busy = /overloaded|rate_limit|unavailable|timeout|server_error|internal|api_error/i.test(kind)
  return new ProviderFault('provider-error', `the provider reports ${kind}: ${textOf(error.message) || 'no reason'}`, {
    resumable: busy,
  })
}
