/** Admits an agent's calls (P8): the rate of its ring, its circuit breaker, and their state. */

import type { RingSettings } from '../manifest/schema/settings.ts'
import { type Decision, denial } from '../policy/decision.ts'
import { DEFAULT_TRUST_SCORE, ringOf } from '../policy/stance.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import type { ToolOutput } from '../tools/tool.ts'
import type { CallResult } from './tool-result.ts'

export interface Ring {
  readonly number: 1 | 2 | 3
  readonly limits: RingSettings
}

/** State that an agent's calls leave for later ones, in memory or in a file. */
export interface CallHistory {
  ring(): Ring
  /** Counts a call against the rate, or returns the seconds until the next one is allowed. */
  take(perMinute: number): number | null | Promise<number | null>
  /** Admits a call, or returns the seconds until the breaker closes. */
  admit(): Admitted | Promise<Admitted>
  note(admission: Admission, outcome: CallOutcome): void | Promise<void>
  /** What the agent has read now (A3). */
  label(read: NonNullable<Decision['labels']>): void | Promise<void>
}

export type Admitted = Admission | { readonly openFor: number }

export function ringFor({ policy, session }: LoadedPolicy, agent: string): Ring {
  const number = ringOf(policy.agents.get(agent)?.trustScore.value ?? DEFAULT_TRUST_SCORE)
  return { number, limits: session.rings[number] }
}

/** Decides an admitted call; otherwise returns a denial. */
export async function admitCall(
  history: CallHistory | null,
  tool: string,
  decide: (breakerOpenFor: number | null) => Decision | Promise<Decision>,
): Promise<{ readonly decision: Decision; readonly admission: Admission | null }> {
  if (!history) return { decision: await decide(null), admission: null }
  const { number, limits } = history.ring()
  const { callsPerMinute } = limits
  const wait = callsPerMinute === null ? null : await history.take(callsPerMinute)
  if (wait !== null) return { decision: tooOften(tool, number, callsPerMinute!, wait), admission: null }
  const admission = await history.admit()
  if ('openFor' in admission) return { decision: await decide(admission.openFor), admission: null }
  return { decision: await decide(null), admission }
}

function tooOften(tool: string, ring: number, perMinute: number, wait: number): Decision {
  const reason = {
    code: 'ring',
    message: `Ring ${ring} allows ${perMinute} calls a minute, and they are used up.`,
    remedy: `Wait ${wait} s; one call that does more is better than many small ones.`,
  } as const
  return denial(tool, reason, 'tool', [{ rule: `rings.${ring}.calls_per_minute`, source: 'manifest' }])
}

/**
 * Refusals and cancelled calls do not count, nor does a tool that ran and reports a failure, such as
 * a page that is not there. A command counts as good whatever its exit code: fixing failing tests is
 * ordinary work. Denials and faults count as bad.
 */
export function outcomeOf(result: CallResult<unknown>): CallOutcome {
  if (result.status === 'done') {
    const { isError = false, exitCode, refusedHosts = [] } = (result.output ?? {}) as Partial<ToolOutput>
    if (refusedHosts.length > 0) return 'bad'
    return isError && exitCode === undefined ? 'neither' : 'good'
  }
  if (result.status === 'refused') return 'neither'
  return result.status === 'failed' && result.error.code === 'cancelled' ? 'neither' : 'bad'
}

export interface BreakerSettings {
  readonly failures: number
  /** Seconds. */
  readonly cooldown: number
}

export interface Admission {
  /** The single trial call while the breaker is open. */
  readonly probe: boolean
}

/** Refusals, cancelled calls and limits are neither good nor bad. */
export type CallOutcome = 'good' | 'bad' | 'neither'

/** Breaker state for hooks, which run one process a call. */
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

  /** Admits a call, or returns the seconds until the breaker closes. */
  admit(): Admission | { readonly openFor: number } {
    if (this.#openUntil === null) return { probe: false }
    const left = (this.#openUntil - this.#now()) / 1000
    if (left > 0) return { openFor: left }
    if (this.#probing) return { openFor: this.#settings.cooldown }
    this.#probing = true
    return { probe: true }
  }

  note({ probe }: Admission, outcome: CallOutcome): void {
    if (probe) this.#probing = false
    // Calls that started before the breaker opened do not close it.
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

const MINUTE_MS = 60_000

export class CallRate {
  readonly #now: () => number
  readonly #calls: number[]

  constructor(now: () => number, calls: readonly number[] = []) {
    this.#now = now
    this.#calls = [...calls]
  }

  get calls(): readonly number[] {
    return this.#calls
  }

  /** Counts a call, or returns the seconds until the next one is allowed. */
  take(perMinute: number | null): number | null {
    const now = this.#now()
    while (this.#calls.length > 0 && this.#calls[0]! <= now - MINUTE_MS) this.#calls.shift()
    if (perMinute !== null && this.#calls.length >= perMinute) {
      const oldest = this.#calls[this.#calls.length - perMinute]
      return Math.max(1, Math.ceil(((oldest ?? now) + MINUTE_MS - now) / 1000))
    }
    if (perMinute !== null) this.#calls.push(now)
    return null
  }
}

export interface LiveOptions {
  readonly breaker: () => BreakerSettings
  readonly ring: (agent: string) => Ring
  readonly label: CallHistory['label']
  readonly now: () => number
}

export class LiveHistory {
  readonly #options: LiveOptions
  readonly #agents = new Map<string, CallHistory>()

  constructor(options: LiveOptions) {
    this.#options = options
  }

  of(agent: string): CallHistory {
    const known = this.#agents.get(agent)
    if (known) return known
    const { breaker: settings, ring, label, now } = this.#options
    const rate = new CallRate(now)
    const breaker = new CircuitBreaker(settings(), now)
    const created: CallHistory = {
      ring: () => ring(agent),
      take: (perMinute) => rate.take(perMinute),
      admit: (): Admitted => breaker.admit(),
      note: (admission: Admission, outcome: CallOutcome) => breaker.note(admission, outcome),
      label,
    }
    this.#agents.set(agent, created)
    return created
  }
}
