/** Relays log messages of a wrapped server: validated, cleaned, and limited in number. */

import type { Json } from '../../../system/json-rpc.ts'
import { guardedNote, type Origin } from './result.ts'

const LEVELS: readonly string[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
const WINDOW_MS = 10_000
const MAX_IN_WINDOW = 100

export interface LogMessage extends Json {
  readonly level: string
}

export function isLogLevel(value: unknown): value is string {
  return typeof value === 'string' && LEVELS.includes(value)
}

/** True if a message of this level passes that threshold. */
export function reaches(level: string, wanted: string): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(wanted)
}

/** The log messages of one server. */
export class LogRelay {
  readonly #origin: Origin
  readonly #now: () => number
  #since = 0
  #count = 0

  constructor(origin: Origin, now: () => number) {
    this.#origin = origin
    this.#now = now
  }

  pass({ level, logger, data }: Json): LogMessage | null {
    if (!isLogLevel(level)) return null
    if (this.#now() - this.#since > WINDOW_MS) {
      this.#since = this.#now()
      this.#count = 0
    }
    if (++this.#count > MAX_IN_WINDOW) return null
    const { label } = this.#origin
    const name = typeof logger === 'string' ? `${label}/${String(guardedNote(logger, this.#origin))}` : label
    return { level, logger: name, data: guardedNote(data, this.#origin) }
  }
}
