/** Public entry: sandbox plans and the bubblewrap backend. */

export type * from '../sandbox/backend.ts'
export { SandboxFault } from '../sandbox/backend.ts'
export { type BwrapOptions, createBwrapBackend } from '../sandbox/bwrap/backend.ts'
export type { Limits } from '../sandbox/limits.ts'
export { planSandbox, type SandboxPlan, type SandboxRequest } from '../sandbox/plan.ts'
export { describePlan, formatPlan, type PlanReport, type Support } from '../sandbox/report.ts'
export { readHostFacts } from '../sandbox/session.ts'
export type { Violation } from '../sandbox/violation.ts'
