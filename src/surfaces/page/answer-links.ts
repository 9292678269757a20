/** One-time links that answer one question: bound to it, good for a while, and a no when they are anything but known. */

import { createHash, randomBytes } from 'node:crypto'

export interface AnswerLink {
  readonly ask: string
  readonly kind: 'once' | 'deny'
}

interface Held extends AnswerLink {
  readonly until: number
}

const HOLDS_MS = 10 * 60_000
const MAX_LINKS = 400

/** The links that are out. Only hashes of them are held. */
export class AnswerLinks {
  readonly #held = new Map<string, Held>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** The code of a new link. */
  make(link: AnswerLink): string {
    for (const [hash, { until }] of this.#held) if (until <= this.#now()) this.#held.delete(hash)
    for (const hash of [...this.#held.keys()].slice(0, Math.max(0, this.#held.size - MAX_LINKS + 1)))
      this.#held.delete(hash)
    const code = randomBytes(32).toString('base64url')
    this.#held.set(hashOf(code), { ...link, until: this.#now() + HOLDS_MS })
    return code
  }

  /** What a link stands for; null: nothing, or no longer. */
  look(code: string): AnswerLink | null {
    const held = this.#held.get(hashOf(code))
    return held && held.until > this.#now() ? { ask: held.ask, kind: held.kind } : null
  }

  /** Takes a link: it and every other link of its question are used up. */
  take(code: string): AnswerLink | null {
    const link = this.look(code)
    if (link) this.forget(link.ask)
    return link
  }

  /** Makes every link of a question good for nothing. */
  forget(ask: string): void {
    for (const [hash, held] of this.#held) if (held.ask === ask) this.#held.delete(hash)
  }
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('base64url')
}
