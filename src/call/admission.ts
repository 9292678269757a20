/** Whether an agent's call is let in at all (P8): the rate of its ring, its circuit breaker, and what both remember of it. */

import type { RingSettings } from '../manifest/schema/settings.ts'
import { type Decision, denial } from '../policy/decision.ts'
import { DEFAULT_TRUST_SCORE, ringOf } from '../policy/stance.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import type { CallResult } from './tool-result.ts'

export interface Ring {
  readonly number: 1 | 2 | 3
  readonly limits: RingSettings
}

/** What an agent's calls leave for those after them; in memory, or in a file where each call is its own process. */
export interface CallHistory {
  ring(): Ring
  /** Takes a call into the rate; or seconds until the next one may come. */
  take(perMinute: number): number | null | Promise<number | null>
  /** Lets a call through, or says for how many seconds more none goes. */
  admit(): Admitted | Promise<Admitted>
  note(admission: Admission, outcome: CallOutcome): void | Promise<void>
  /** The agent has read text that tries to steer it. */
  taint(): void | Promise<void>
}

export type Admitted = Admission | { readonly openFor: number }

/** The ring of an agent. */
export function ringFor({ policy, session }: LoadedPolicy, agent: string): Ring {
  const number = ringOf(policy.agents.get(agent)?.trustScore.value ?? DEFAULT_TRUST_SCORE)
  return { number, limits: session.rings[number] }
}

/** Decides a call that was let in; the denial of one that was not. */
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

/** The denial of a call that comes too soon for the agent's ring. */
function tooOften(tool: string, ring: number, perMinute: number, wait: number): Decision {
  const reason = {
    code: 'ring',
    message: `Ring ${ring} allows ${perMinute} calls a minute, and they are used up.`,
    remedy: `Wait ${wait} s; one call that does more is better than many small ones.`,
  } as const
  return denial(tool, reason, 'tool', [{ rule: `rings.${ring}.calls_per_minute`, source: 'manifest' }])
}

/**
 * What a call's end says about its agent: a person's no and a cancelled call say nothing. A command that ran did what was allowed,
 * whatever its exit code: a loop that mends failing tests is ordinary work. Denials and faults count.
 */
export function outcomeOf(result: CallResult<unknown>): CallOutcome {
  if (result.status === 'done') {
    const { isError = false, exitCode } = (result.output ?? {}) as { isError?: boolean; exitCode?: number }
    return isError && exitCode === undefined ? 'bad' : 'good'
  }
  if (result.status === 'refused') return 'neither'
  return result.status === 'failed' && result.error.code === 'cancelled' ? 'neither' : 'bad'
}

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

const MINUTE_MS = 60_000

export class CallRate {
  readonly #now: () => number
  readonly #calls: number[]

  constructor(now: () => number, calls: readonly number[] = []) {
    this.#now = now
    this.#calls = [...calls]
  }

  /** When the calls of the last minute came. */
  get calls(): readonly number[] {
    return this.#calls
  }

  /** Takes a call; or seconds until the next one may come. */
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
