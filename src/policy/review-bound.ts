/** The bounds that a reviewer can have (P11), and whether a call is still the one that it answered. */

import type { Decision } from './decision.ts'
import type { Bound } from './worst-case.ts'

/** The bounds that a reviewer can have, the strictest first. What costs more is a person's choice alone. */
export const REVIEW_BOUNDS: readonly ReviewBound[] = ['nothing', 'undo', 'granted-host', 'reads', 'host', 'adds']
export type ReviewBound = Exclude<Bound, 'lost' | 'irreversible' | 'unbounded'>
export const DEFAULT_REVIEW_BOUND: ReviewBound = 'granted-host'

/** Whether a decision still asks what a reviewer answered, and nothing else. */
export function asksTheSame(now: Decision, reviewed: Decision): boolean {
  if (now.decision === 'allow') return true
  return now.decision === 'ask' && (now.kept === true) === (reviewed.kept === true) && asked(now) === asked(reviewed)
}

function asked({ segments }: Decision): string {
  const asks = segments.filter((part) => part.decision === 'ask')
  return JSON.stringify(asks.map(({ kind, text, reason, firm = false }) => [kind, text, reason.code, firm]))
}
