/** The history of agents whose calls are all made in this process: sessions and the gateway. */

import type { Admitted, CallHistory, Ring } from './admission.ts'
import { CallRate } from './call-rate.ts'
import { type Admission, type BreakerSettings, type CallOutcome, CircuitBreaker } from './circuit-breaker.ts'

export interface LiveOptions {
  readonly breaker: () => BreakerSettings
  readonly ring: (agent: string) => Ring
  readonly taint: () => void
  readonly now: () => number
}

/** Rates and breakers, one for each agent. */
export class LiveHistory {
  readonly #options: LiveOptions
  readonly #agents = new Map<string, CallHistory>()

  constructor(options: LiveOptions) {
    this.#options = options
  }

  /** The history of one agent. */
  of(agent: string): CallHistory {
    const known = this.#agents.get(agent)
    if (known) return known
    const { breaker: settings, ring, taint, now } = this.#options
    const rate = new CallRate(now)
    const breaker = new CircuitBreaker(settings(), now)
    const made: CallHistory = {
      ring: () => ring(agent),
      take: (perMinute) => rate.take(perMinute),
      admit: (): Admitted => breaker.admit(),
      note: (admission: Admission, outcome: CallOutcome) => breaker.note(admission, outcome),
      taint,
    }
    this.#agents.set(agent, made)
    return made
  }
}
