/** Whether an agent's call is let in at all (P8): the rate of its ring, its circuit breaker, and what both remember of it. */

import type { RingSettings } from '../manifest/schema/settings.ts'
import { type Decision, denial } from '../policy/decision.ts'
import { DEFAULT_TRUST_SCORE, ringOf } from '../policy/stance.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import type { Admission, CallOutcome } from './circuit-breaker.ts'
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
