/** Opens what a surface needs to run commands: the backend of this platform and a runner for the project. */

import { type Backend, createBwrapBackend } from '../sandbox/backend.ts'
import { describePlan, formatPlan, type PlanReport, type Support } from '../sandbox/report.ts'
import { Fault } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { CommandRunner } from './command-runner.ts'
import type { LoadedPolicy } from './load-policy.ts'

export type { LaunchIo, LaunchResult } from '../sandbox/backend.ts'
export { renderBundle, renderBundles } from '../sandbox/bundle-doc.ts'
export { bundles } from '../sandbox/bundles.generated.ts'
export { inferViolations, type Violation } from '../sandbox/violation.ts'
export { CommandRunner, type RunOutcome, type RunRequest } from './command-runner.ts'
export { formatPlan, type PlanReport, type Support }

/** The sandbox of this platform. No sandbox, no run. */
export function openBackend(): Backend {
  if (process.platform === 'linux') return createBwrapBackend()
  throw new Fault(
    'no-sandbox',
    `Cordon has no sandbox it can launch on ${process.platform} yet, and nothing runs without one`,
    {
      remedy: 'Run it on Linux, in a virtual machine or a container with user namespaces.',
    },
  )
}

/** A runner for one session in this project. */
export function openRunner(loaded: LoadedPolicy, machine: Machine, files: Files, backend: Backend): CommandRunner {
  return new CommandRunner(loaded, machine, files, backend)
}

/** A plan with what holds of it on this machine. */
export async function reportPlan(plan: Parameters<typeof describePlan>[0], backend: Backend): Promise<PlanReport> {
  return describePlan(plan, await backend.probe())
}
