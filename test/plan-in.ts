/** The plan of a command in a folder, as this user, with no home and no network unless they are given: for tests and benches. */

import { planSandbox, type SandboxPlan, type SandboxRequest } from '../src/sandbox/plan.ts'
import { readHostFacts } from '../src/sandbox/session.ts'

/** What a plan may be given beyond its folder and its words. */
export type PlanChange = Partial<Omit<SandboxRequest, 'facts'>>

export function planIn(project: string, argv: readonly string[], change: PlanChange = {}): SandboxPlan {
  const request = {
    argv,
    cwd: project,
    env: { PATH: '/usr/bin:/bin' },
    baseline: 'system' as const,
    home: '/home/nobody-here',
    uid: process.getuid!(),
    gid: process.getgid!(),
    reads: [],
    writes: [project],
    masks: [],
    pins: [],
    network: 'none' as const,
    unixSockets: false,
    limits: {},
    ...change,
  }
  return planSandbox({ ...request, facts: readHostFacts(request) })
}
