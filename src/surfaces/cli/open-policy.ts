/** Opens the policy a command works with, and prints what is wrong with it. */

import type { LoadedManifest, LoadedPolicy, ManifestChoice } from '../../runtime/load-policy.ts'
import { recallPolicy } from '../../runtime/policy-memory.ts'
import { machineFiles } from '../../system/files.ts'
import { type Machine, thisMachine } from '../../system/machine.ts'
import { type Arguments, textFlag } from './arguments.ts'
import { paint, type Terminal } from './terminal.ts'

export interface Opened<Policy extends LoadedPolicy = LoadedManifest> {
  readonly loaded: Policy
  readonly machine: Machine
}

/** The manifest that the flags choose. */
export function manifestChoice(args: Arguments): ManifestChoice {
  const file = textFlag(args, 'manifest')
  return file === undefined ? { kind: 'project' } : { kind: 'file', file }
}

/** The policy in force, when it is remembered; null: it has to be opened. */
export function recalled(args: Arguments): Opened<LoadedPolicy> | null {
  if (manifestChoice(args).kind !== 'project') return null
  const machine = thisMachine()
  const loaded = recallPolicy(machine, machineFiles, textFlag(args, 'root') ?? null)
  return loaded && { loaded, machine }
}

/** Opens the policy from its manifests; null after the problems were printed. */
export async function openPolicy(args: Arguments, terminal: Terminal): Promise<Opened | null> {
  const { loadPolicy } = await import('../../runtime/load-policy.ts')
  const machine = thisMachine()
  const root = textFlag(args, 'root') ?? null
  const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: manifestChoice(args) })
  if ('loaded' in outcome) return { loaded: outcome.loaded, machine }
  if (args.flags.json)
    terminal.out(`${JSON.stringify({ error: 'the manifest does not load', problems: outcome.problems })}\n`)
  const count = outcome.problems.length
  terminal.err(
    `${paint(terminal, 'red', 'cordon:')} the manifest does not load (${count} ${count === 1 ? 'problem' : 'problems'})\n`,
  )
  const { renderProblem } = await import('../../runtime/manifest-report.ts')
  for (const problem of outcome.problems) terminal.err(`  ${renderProblem(problem).replaceAll('\n', '\n  ')}\n`)
  return null
}
