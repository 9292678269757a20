/** What an agent needs in the sandbox besides the project: its bundle, and Cordon for its hook. */

import { agentBundle } from '../sandbox/bundles/built-in.ts'
import type { BundleChoice } from '../sandbox/bundles/bundle.ts'

/** Whether an agent runs with its bundle, so that its hook runs inside. */
export function isAgentInside([program = '']: readonly string[], chosen: readonly BundleChoice[]): boolean {
  const bundle = agentBundle(program)?.tool
  return bundle !== undefined && chosen.some(({ tool }) => tool === bundle)
}

/** The warning for an agent without its bundle; null otherwise. */
export function agentWithoutBundle([program = '']: readonly string[], chosen: readonly BundleChoice[]): string | null {
  const bundle = agentBundle(program)?.tool
  if (bundle === undefined || chosen.some(({ tool }) => tool === bundle)) return null
  return `${program} has neither its provider nor your settings inside the sandbox: the bundle "${bundle}" gives it both (cordon run --tool ${bundle} -- ${program} …, or cordon init, which writes it down)`
}
