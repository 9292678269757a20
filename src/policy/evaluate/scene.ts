/** What every question about a shell text needs, and the answers they share. */

import type { SessionFacts, ShellFact } from '../call.ts'
import type { PartSubject } from '../decision.ts'
import type { PartQuestions } from '../order.ts'
import { type PathRule, type Policy, ref } from '../policy.ts'
import type { Ruling, Stance } from '../stance.ts'

/** The text, and everything needed to judge it. */
export interface Scene {
  readonly policy: Policy
  readonly session: SessionFacts
  readonly stance: Stance
  readonly shell: ShellFact
  /** Files that grants of the text's commands add: it may read and write them as well (S3). */
  readonly carried: readonly PathRule[]
  /** Whether the text could send what it reads. */
  readonly sends: () => boolean
}

/**
 * A hazard known only at run time. The kernel limits it, so contained mode and an allow level run
 * it; otherwise a person is asked.
 */
export function unknowable({ stance }: Scene, subject: PartSubject, message: string): PartQuestions {
  const ask: Ruling = {
    decision: 'ask',
    reason: {
      code: 'not-understood',
      message: `\`${subject.text}\`: ${message}.`,
      remedy: 'Write it out with plain words.',
    },
    rules: [{ rule: 'hazard unknowable', source: 'built-in' }],
  }
  const contained: Ruling = {
    decision: 'allow',
    reason: { code: 'contained', message: `\`${subject.text}\` runs inside the sandbox.` },
    rules: [ref(stance.mode)],
  }
  return {
    subject,
    denial: () => null,
    grant: () => null,
    explicit: () => {
      if (stance.explicit) return stance.explicit.decision === 'allow' ? contained : null
      return stance.mode.value === 'contained' ? contained : null
    },
    otherwise: () => ask,
  }
}

/** An answer that no grant changes. */
export function always(subject: PartSubject, ruling: Ruling): PartQuestions {
  return { subject, denial: () => ruling, grant: () => null, explicit: () => null, otherwise: () => ruling }
}

/** A denial. */
export function deny(code: Ruling['reason']['code'], message: string, remedy?: string): Ruling {
  return { decision: 'deny', reason: { code, message, ...(remedy && { remedy }) }, rules: [] }
}
