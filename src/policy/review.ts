/**
 * The questions that a reviewer may answer (P11): a program or a model instead of a person. Its yes
 * counts only if the worst case is within the bound, so a wrong or manipulated reviewer costs no
 * more.
 */

import type { CommandFact, ShellFacts } from '../shell/facts.ts'
import type { Decision, PartDecision } from './decision.ts'
import type { Policy } from './policy.ts'
import { isReviewable, REVIEW_BOUNDS, type ReviewBound } from './review-bound.ts'
import { isWithin, type WorstCase, worstCaseOf } from './worst-case.ts'

interface ReviewCase {
  readonly decision: Decision
  readonly facts: ShellFacts | null
  readonly worst: WorstCase
}

/** Why a reviewer may not answer an ask; null when it may. */
export function whyNotReviewed(
  { decision, facts, worst }: ReviewCase,
  upTo: ReviewBound | 'none',
  { commands }: Pick<Policy, 'commands'>,
): string | null {
  if (upTo === 'none') return 'review.up_to is "none"'
  if (decision.decision !== 'ask') return 'it is not a question'
  const asks = decision.segments.filter((part) => part.decision === 'ask')
  if (asks.length === 0) return 'nothing says what it is about'
  const firm = asks.find((part) => part.firm === true || !isReviewable(part.reason.code))
  if (firm !== undefined) return `only a person answers this (${firm.reason.code})`
  if ((facts?.hazards.length ?? 0) > 0 || asks.some((part) => isUnclear(part, facts)))
    return 'its words cannot be read for certain'
  if (worst.labels.some((label) => label !== 'outside'))
    return `only a person sends data that is ${worst.labels.join(', ')}`
  if (!isWithin(worst.bound, upTo)) return `the worst case is above review.up_to (${worst.bound}, not ${upTo})`
  // INVARIANT: only the sandbox bounds a program that no table knows, so it must reach no host
  // alone.
  if (commands.defaultDomains.length > 0) {
    if (asks.some((part) => isUnknown(part, facts)))
      return 'what the program does is not known, and default_domains gives it hosts'
    if (worst.labels.length > 0) return 'default_domains gives it hosts, and it reads files outside the project'
  }
  return null
}

function isUnknown(part: PartDecision, facts: ShellFacts | null): boolean {
  return isCommand(part) && (factOf(part, facts)?.effect ?? 'unknown') === 'unknown'
}

/** A hazard outside the worst case: its kind counts remote changes. */
function isUnclear(part: PartDecision, facts: ShellFacts | null): boolean {
  const fact = factOf(part, facts)
  if (!isCommand(part) || fact === null) return false
  return fact.hazards.some(({ code }) => code !== 'changes-remote' || fact.kind == null)
}

function isCommand({ kind }: PartDecision): boolean {
  return kind === 'command' || kind === 'syntax'
}

function factOf({ command }: PartDecision, facts: ShellFacts | null): CommandFact | null {
  return command === undefined ? null : (facts?.commands[command] ?? null)
}

/** The worst case of an ask, with the first `review.up_to` that may answer it, or null. */
export function reviewedWorstCase(
  { decision, facts }: Omit<ReviewCase, 'worst'>,
  policy: Pick<Policy, 'commands'>,
): WorstCase & { readonly reviewer: ReviewBound | null } {
  const worst = worstCaseOf(decision, facts)
  const within = REVIEW_BOUNDS.find((upTo) => whyNotReviewed({ decision, facts, worst }, upTo, policy) === null)
  return { ...worst, reviewer: within ?? null }
}
