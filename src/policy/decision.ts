/** A decision: a verdict with every rule that took part, the part of the call it was about, and a remedy. */

import type { Span } from '../shell/facts.ts'
import type { DataLabel } from './labels.ts'
import { compareVerdicts, type Verdict } from './order.ts'
import type { RuleRef } from './policy.ts'
import type { ReasonCode } from './reason.ts'

export interface Reason {
  readonly code: ReasonCode
  /** The decision and its reason, in one or two sentences for a person or a model. */
  readonly message: string
  /** What would be allowed instead, or how to allow this. */
  readonly remedy?: string
}

/** The subject of one part of a call. */
export interface PartSubject {
  readonly kind: 'tool' | 'command' | 'syntax' | 'redirect' | 'read' | 'write' | 'list' | 'host'
  /** The command words, path or URL, as a person reads them. */
  readonly text: string
  /** Where it is in a command text. */
  readonly span?: Span
  /** Index of the simple command it belongs to, in the order of the shell facts. */
  readonly command?: number
  /** What a read of it is called in flow rules. */
  readonly label?: DataLabel
  /** The kind of change elsewhere that it is, as a grant names it; null if no grant can name where it goes. */
  readonly change?: readonly string[] | null
}

/** The decision about one part. */
export interface PartDecision extends PartSubject {
  readonly decision: Verdict
  readonly reason: Reason
  readonly rules: readonly RuleRef[]
  /** The step of P0 that decided: 1 denials, 2 grants, 3 explicit levels, 4 declared kinds and built-in levels. */
  readonly step: 1 | 2 | 3 | 4
  /** An ask that auto mode does not answer: a deny rule may apply, or a secret would be read. */
  readonly firm?: boolean
  /** Allowed only because undo (F9) keeps what would be lost: where nothing is kept, nothing may be changed. */
  readonly relies?: 'undo'
  /** Of a part about labelled data: the label, its first source, and the receiver. */
  readonly flow?: { readonly label: string; readonly source: string; readonly to: string }
}

export interface Decision {
  readonly decision: Verdict
  readonly reason: Reason
  /** Every rule that took part, deciding ones first. */
  readonly rules: readonly RuleRef[]
  readonly segments: readonly PartDecision[]
  /**
   * `undo`: allowed because undo keeps what it destroys. `keeping`: not known to destroy anything
   * and nobody was asked, so it may only change what can be kept.
   */
  readonly relies?: 'undo' | 'keeping'
  /** The labels that were judged: of the session, and of what it reads itself. */
  readonly followed?: readonly string[]
  /** What it reads that flow rules follow. */
  readonly labels?: readonly { readonly label: string; readonly source: string }[]
  /** Of an ask: undo keeps what a yes would change in the roots. */
  readonly kept?: true
  /** It runs unasked only because denials apply to each program that it starts (S8): where they do not, it may not run. */
  readonly judged?: true
}

/** A decision about a whole call, taken outside the rules: one part, which decides. */
export function soleDecision(
  decision: Verdict,
  subject: PartSubject,
  reason: Reason,
  rules: readonly RuleRef[] = [],
): Decision {
  return { decision, reason, rules, segments: [{ ...subject, decision, reason, rules, step: 1 }] }
}

/** The denial of a call before, or beside, any rule: what cannot be read, is not there, or comes too often. */
export function denial(
  text: string,
  reason: Reason,
  kind: PartSubject['kind'] = 'tool',
  rules: readonly RuleRef[] = [],
): Decision {
  return soleDecision('deny', { kind, text }, reason, rules)
}

/** Combines the parts of a call: the strictest decides, and the first of the strictest gives the reason. */
export function combine(parts: readonly PartDecision[]): Decision {
  const first = parts[0]
  if (first === undefined) throw new RangeError('a call has at least one part')
  // INVARIANT: a part can only make the whole stricter.
  const worst = parts.reduce((worst, part) => (compareVerdicts(part.decision, worst.decision) > 0 ? part : worst))
  // What would have asked says why, and not what needs no question beside it.
  const observed = worst.decision === 'allow' ? parts.find(({ reason }) => reason.code === 'observed') : undefined
  const strictest = observed ?? worst
  const { decision, reason } = strictest
  const whole: Decision = { decision, reason, rules: uniqueRules([strictest, ...parts]), segments: parts }
  return parts.some((part) => part.relies === 'undo') ? { ...whole, relies: 'undo' } : whole
}

/** The strictest of several decisions about one call, the first of that kind. */
export function strictest(decisions: readonly Decision[]): Decision {
  return decisions.reduce((worst, next) => (compareVerdicts(next.decision, worst.decision) > 0 ? next : worst))
}

function uniqueRules(parts: readonly PartDecision[]): RuleRef[] {
  const unique: RuleRef[] = []
  for (const part of parts) {
    for (const { rule, source } of part.rules) {
      if (!unique.some((other) => other.rule === rule && other.source === source)) unique.push({ rule, source })
    }
  }
  return unique
}
