/** The public face of the decision core. */

export type * from './call.ts'
export { combine, type Decision, type PartDecision, type PartSubject, type Reason } from './decision.ts'
export { evaluate } from './evaluate.ts'
export type * from './policy.ts'
export type { ReasonCode } from './reason.ts'
export { type Settlement, settle } from './settle.ts'
export { type CommandPattern, parseCommandPattern } from './shell/command-pattern.ts'
export { compareVerdicts, stricter, type Verdict } from './verdict.ts'
