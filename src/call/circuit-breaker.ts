/** The circuit breaker of an agent (P8): after a run of failures and denials it opens for a while, then lets one probe through. */

export interface BreakerSettings {
  readonly failures: number
  /** Seconds. */
  readonly cooldown: number
}

/** A call that was let through. */
export interface Admission {
  /** It is the one call that tries whether things are well again. */
  readonly probe: boolean
}

/** How a call came out: a person's no, a cancelled call and a limit say nothing about the agent. */
export type CallOutcome = 'good' | 'bad' | 'neither'

/** What a breaker remembers, for hooks, whose every call is its own process. */
export interface BreakerState {
  readonly inARow: number
  /** Milliseconds since 1970; null while it is closed. */
  readonly openUntil: number | null
}

export class CircuitBreaker {
  readonly #settings: BreakerSettings
  readonly #now: () => number
  #inARow = 0
  #openUntil: number | null = null
  #probing = false

  constructor(settings: BreakerSettings, now: () => number, state: BreakerState = { inARow: 0, openUntil: null }) {
    this.#settings = settings
    this.#now = now
    this.#inARow = state.inARow
    this.#openUntil = state.openUntil
  }

  get state(): BreakerState {
    return { inARow: this.#inARow, openUntil: this.#openUntil }
  }

  /** Lets a call through, or says for how many seconds more none goes. */
  admit(): Admission | { readonly openFor: number } {
    if (this.#openUntil === null) return { probe: false }
    const left = (this.#openUntil - this.#now()) / 1000
    if (left > 0) return { openFor: left }
    if (this.#probing) return { openFor: this.#settings.cooldown }
    this.#probing = true
    return { probe: true }
  }

  /** Notes how a call came out that was admitted. */
  note({ probe }: Admission, outcome: CallOutcome): void {
    if (probe) this.#probing = false
    // What was under way when it opened does not close it again.
    if (outcome === 'neither' || (this.#openUntil !== null && !probe)) return
    if (outcome === 'good') {
      this.#inARow = 0
      this.#openUntil = null
      return
    }
    this.#inARow++
    if (probe || this.#inARow >= this.#settings.failures) {
      this.#openUntil = this.#now() + this.#settings.cooldown * 1000
    }
  }
}
