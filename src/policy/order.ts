/**
 * P0: how denials, grants, levels and modes meet. The order is the product, and this is all of it.
 *
 *   1. denials            deny rules, protected paths, shell flags, rings, plan mode, a level of deny; places outside
 *   2. grants             a grant that fully covers the part: allow, or ask when the grant says so
 *   3. explicit levels    [permission.tools], the mode, /perm
 *   4. everything else    ask where grants of this kind are declared, else the built-in level
 *
 * Then auto mode, auto_accept or observe mode answers what is left to ask, and the strictest part decides the call.
 */

import type { PartDecision, PartSubject } from './decision.ts'
import type { Ruling, Stance } from './stance.ts'

/** The four questions about one part. Each is only asked when the ones before it had no answer. */
export interface PartQuestions {
  readonly subject: PartSubject
  readonly denial: () => Ruling | null
  readonly grant: () => Ruling | null
  readonly explicit: () => Ruling | null
  readonly otherwise: () => Ruling
}

/** Decides one part by the order above. */
export function decidePart(part: PartQuestions, stance: Stance): PartDecision {
  const denial = stance.denial ?? part.denial()
  if (denial) return answered(part.subject, denial, 1, stance)
  const grant = part.grant()
  if (grant) return answered(part.subject, grant, 2, stance)
  const explicit = part.explicit()
  if (explicit) return answered(part.subject, explicit, 3, stance)
  return answered(part.subject, part.otherwise(), 4, stance)
}

function answered(subject: PartSubject, ruling: Ruling, step: 1 | 2 | 3 | 4, stance: Stance): PartDecision {
  const answer = stance.answersAsks ?? stance.observes
  if (ruling.decision !== 'ask' || ruling.firm || !answer) {
    const { decision, reason, rules, firm, relies } = ruling
    const part = { ...subject, decision, reason, rules, step }
    if (firm === undefined && relies === undefined) return part
    return { ...part, ...(firm !== undefined && { firm }), ...(relies !== undefined && { relies }) }
  }
  return {
    ...subject,
    decision: 'allow',
    reason: stance.answersAsks
      ? {
          code: 'auto-accepted',
          message: `${stance.mode.value === 'auto' ? 'Auto mode' : 'auto_accept'} answered: ${ruling.reason.message}`,
        }
      : { code: 'observed', message: `Observe mode did not ask: ${ruling.reason.message}` },
    rules: [answer, ...ruling.rules],
    step,
  }
}

/** Strictest first. */
export const VERDICTS = ['deny', 'ask', 'allow'] as const
export type Verdict = (typeof VERDICTS)[number]

const STRICTNESS: Record<Verdict, number> = { allow: 0, ask: 1, deny: 2 }

/** The stricter of two verdicts: allow < ask < deny. */
export function stricter(a: Verdict, b: Verdict): Verdict {
  return STRICTNESS[a] >= STRICTNESS[b] ? a : b
}

/** Sorts verdicts from lenient to strict, for comparisons. */
export function compareVerdicts(a: Verdict, b: Verdict): number {
  return STRICTNESS[a] - STRICTNESS[b]
}
