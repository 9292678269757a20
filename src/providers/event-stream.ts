/** Server-sent events out of bytes, however they were cut. */

import { malformed } from './conversation.ts'

export interface ServerEvent {
  readonly event: string
  readonly data: string
}

const MAX_EVENT = 32 * 1024 * 1024
/** What the entry of a line takes, roughly. */
const LINE_COST = 16

/** Reads events as their bytes come. A last one without its empty line is not an event, as the standard has it. */
export class EventStreamReader {
  readonly #decoder = new TextDecoder('utf-8')
  #rest = ''
  /** How far `#rest` was looked through: what comes byte by byte is not searched anew each time. */
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
      // A carriage return at the end may be half of a line's end.
      if (code === 13 && at + 1 === this.#rest.length) break
      this.#line(this.#rest.slice(start, at), events)
      if (code === 13 && this.#rest.charCodeAt(at + 1) === 10) at++
      start = at + 1
    }
    this.#rest = this.#rest.slice(start)
    this.#searched = at - start
    if (this.#rest.length + this.#size > MAX_EVENT) throw malformed('an event without end')
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
      // An empty line of data takes space as well.
      this.#size += value.length + LINE_COST
    }
  }
}
