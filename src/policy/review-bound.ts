/** The bounds that a reviewer can have (P11), and whether a call is still the one that it answered. */

import type { Decision } from './decision.ts'
import type { ReasonCode } from './reason.ts'
import type { Bound } from './worst-case.ts'

/** The bounds that a reviewer can have, the strictest first. What costs more is a person's choice alone. */
export const REVIEW_BOUNDS: readonly ReviewBound[] = ['nothing', 'undo', 'granted-host', 'reads', 'host', 'adds']
export type ReviewBound = Exclude<Bound, 'lost' | 'irreversible' | 'unbounded'>
export const DEFAULT_REVIEW_BOUND: ReviewBound = 'granted-host'

/**
 * The only reasons that a reviewer may answer. All others need a person: confirmations, possibly
 * hidden denials, secrets, and a session that has read injected instructions.
 */
const REVIEWABLE: ReadonlySet<string> = new Set<ReasonCode>([
  'not-granted',
  'level-ask',
  'outside-roots',
  'outside-cwd',
  'host-not-granted',
  'remote-write',
  'destructive',
])

/** Whether a reviewer may answer an ask of this reason at all. */
export function isReviewable(code: string): boolean {
  return REVIEWABLE.has(code)
}

/** Whether a decision still asks only what a reviewer answered. */
export function asksTheSame(now: Decision, reviewed: Decision): boolean {
  if (now.decision === 'allow') return true
  return now.decision === 'ask' && (now.kept === true) === (reviewed.kept === true) && asked(now) === asked(reviewed)
}

function asked({ segments }: Decision): string {
  const asks = segments.filter((part) => part.decision === 'ask')
  return JSON.stringify(asks.map(({ kind, text, reason, firm = false }) => [kind, text, reason.code, firm]))
}
