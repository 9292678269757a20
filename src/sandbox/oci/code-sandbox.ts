/** The OS sandbox for code of a model: the machine's programs, nothing of the project, no network, a directory in memory to work in. */

import { type Backend, type LaunchIo, requireCapable } from '../backend.ts'
import type { Limits } from '../limits.ts'
import { planSandbox, type SandboxPlan } from '../plan.ts'
import { readHostFacts } from '../session.ts'
import { containerRoot } from './container-root.ts'
import { ENTRY_ENVIRONMENT, WORK } from './entry.ts'

export interface CodeSandbox {
  readonly argv: readonly string[]
  /** Shown read-only, beside the machine's programs. */
  readonly reads: readonly string[]
  /** Single files that it may fill. */
  readonly writes?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly limits: Limits
}

/** No secret is in sight of it, so that there is nothing to mask, and nothing to protect. */
export function planCodeSandbox({ argv, reads, writes = [], env = {}, limits }: CodeSandbox): SandboxPlan {
  const layout = containerRoot()
  const sight = {
    baseline: 'none' as const,
    home: WORK,
    cwd: WORK,
    reads: [...layout.shown, ...layout.links.map(({ path }) => path), ...reads],
    writes,
    scratch: [WORK],
    unixSockets: false,
  }
  return planSandbox({
    ...sight,
    argv,
    env: { ...ENTRY_ENVIRONMENT, ...env },
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    masks: [],
    pins: [],
    network: 'none',
    limits,
    facts: readHostFacts(sight),
  })
}

/** Runs a program there: its exit code, and what was stopped. */
export async function runCodeSandbox(
  backend: Backend,
  layout: CodeSandbox,
  io: LaunchIo,
): Promise<{ readonly exitCode: number; readonly notes: readonly string[] }> {
  const plan = planCodeSandbox(layout)
  requireCapable(backend, plan, io)
  const { exitCode, violations } = await backend.launch(plan, io)
  return { exitCode, notes: violations.map(({ certainty, message }) => `${certainty}: ${message}`) }
}
