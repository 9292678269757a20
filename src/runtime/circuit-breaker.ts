/** The circuit breaker of an agent (P8): after a run of failures and denials it opens for a while, then lets one probe through. */

export interface BreakerSettings {
  readonly failures: number
  /** Seconds. */
  readonly cooldown: number
}

export class CircuitBreaker {
  readonly #settings: BreakerSettings
  readonly #now: () => number
  #inARow = 0
  #openUntil: number | null = null
  #probing = false

  constructor(settings: BreakerSettings, now: () => number) {
    this.#settings = settings
    this.#now = now
  }

  /** Seconds until the next call may try; null when calls go through. Taking a probe counts as trying. */
  openFor(): number | null {
    if (this.#openUntil === null) return null
    const left = (this.#openUntil - this.#now()) / 1000
    if (left > 0) return left
    if (this.#probing) return this.#settings.cooldown
    this.#probing = true
    return null
  }

  /** Notes how a call came out. */
  note(ok: boolean): void {
    this.#probing = false
    if (ok) {
      this.#inARow = 0
      this.#openUntil = null
      return
    }
    this.#inARow++
    if (this.#inARow >= this.#settings.failures) this.#openUntil = this.#now() + this.#settings.cooldown * 1000
  }
}
