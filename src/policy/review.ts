/**
 * What a reviewer may answer (P11): a program or a model that answers in a person's place. Its word counts only where the worst
 * case is proven to be within the bound, so a reviewer that is wrong, or was talked into a yes, costs no more than that.
 */

import type { CommandFact, ShellFacts } from '../shell/facts.ts'
import type { Decision, PartDecision } from './decision.ts'
import type { Policy } from './policy.ts'
import type { ReasonCode } from './reason.ts'
import type { ReviewBound } from './review-bound.ts'
import { isWithin, type WorstCase } from './worst-case.ts'

/**
 * The only reasons to ask that a reviewer may answer. Everything else is a person's: what a rule or a tool wants a person to
 * confirm, what may hide a denied action, secrets, and a session that has read orders.
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

export interface Reviewed {
  readonly decision: Decision
  readonly facts: ShellFacts | null
  readonly worst: WorstCase
}

/** Why a reviewer may not answer an ask; null when it may. */
export function whyNotReviewed(
  { decision, facts, worst }: Reviewed,
  upTo: ReviewBound | 'none',
  { commands }: Pick<Policy, 'commands'>,
): string | null {
  if (upTo === 'none') return 'review.up_to is "none"'
  if (decision.decision !== 'ask') return 'it is not a question'
  const asks = decision.segments.filter((part) => part.decision === 'ask')
  if (asks.length === 0) return 'nothing says what it is about'
  const firm = asks.find((part) => part.firm === true || !REVIEWABLE.has(part.reason.code))
  if (firm !== undefined) return `only a person answers this (${firm.reason.code})`
  if (facts !== null && (facts.hazards.length > 0 || facts.commands.some(({ hazards }) => hazards.length > 0)))
    return 'its words cannot be read for certain'
  if (worst.labels.some((label) => label !== 'outside'))
    return `only a person sends data that is ${worst.labels.join(', ')}`
  if (!isWithin(worst.bound, upTo)) return `the worst case is above review.up_to (${worst.bound}, not ${upTo})`
  // INVARIANT: what a program does that no table knows is bounded by the sandbox alone, so it must reach no host by itself.
  const reaches = commands.defaultDomains.length > 0
  if (reaches && asks.some((part) => isUnknown(part, facts)))
    return 'what the program does is not known, and default_domains gives it hosts'
  return null
}

function isUnknown(part: PartDecision, facts: ShellFacts | null): boolean {
  if (part.kind !== 'command' && part.kind !== 'syntax') return false
  const fact: CommandFact | undefined = part.command === undefined ? undefined : facts?.commands[part.command]
  return fact === undefined || fact.effect === 'unknown'
}
