/** The public face of the sandbox: a plan as data, the port that runs one, and bubblewrap behind it. */

export type * from './backend.ts'
export { type BwrapOptions, createBwrapBackend } from './bwrap/backend.ts'
export type { Limits } from './limits.ts'
export { planSandbox, type SandboxPlan, type SandboxRequest } from './plan.ts'
export { describePlan, formatPlan, type PlanReport, type Support } from './report.ts'
export { SandboxFault } from './sandbox-fault.ts'
export { readHostFacts } from './session.ts'
export type { Violation } from './violation.ts'
