/** Public entry: decisions. */

import { requireOneOf } from '../call/given.ts'
import { compareVerdicts as compare, stricter as strictest, VERDICTS, type Verdict } from '../policy/order.ts'

export type * from '../policy/call.ts'
export { type CommandPattern, parseCommandPattern } from '../policy/command-pattern.ts'
export { combine, type Decision, type PartDecision, type PartSubject, type Reason } from '../policy/decision.ts'
export { evaluate } from '../policy/evaluate/evaluate.ts'
export type { Verdict } from '../policy/order.ts'
export type * from '../policy/policy.ts'
export type { ReasonCode } from '../policy/reason.ts'
export { type Settlement, settle } from '../policy/settle.ts'

const verdict = (given: Verdict): Verdict => requireOneOf('a verdict', given, VERDICTS)

/** The stricter of two verdicts: allow < ask < deny. */
export function stricter(a: Verdict, b: Verdict): Verdict {
  return strictest(verdict(a), verdict(b))
}

/** Sorts verdicts from lenient to strict, for sorting and comparing. */
export function compareVerdicts(a: Verdict, b: Verdict): number {
  return compare(verdict(a), verdict(b))
}
