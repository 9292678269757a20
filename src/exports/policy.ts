/** Public entry: decisions. */

export type * from '../policy/call.ts'
export { type CommandPattern, parseCommandPattern } from '../policy/command-pattern.ts'
export { combine, type Decision, type PartDecision, type PartSubject, type Reason } from '../policy/decision.ts'
export { evaluate } from '../policy/evaluate/evaluate.ts'
export { compareVerdicts, stricter, type Verdict } from '../policy/order.ts'
export type * from '../policy/policy.ts'
export type { ReasonCode } from '../policy/reason.ts'
export { type Settlement, settle } from '../policy/settle.ts'
