/** What an agent needs in the sandbox beside the project: its bundle, and Cordon itself, which its hook starts. */

import type { BundleChoice } from '../sandbox/bundles/bundle.ts'
import { AGENT_PROGRAMS } from '../sandbox/bundles/bundles.generated.ts'

/** Whether this is an agent with its bundle: a hook of ours in its settings then runs inside. */
export function isAgentInside([program = '']: readonly string[], chosen: readonly BundleChoice[]): boolean {
  const bundle = Object.hasOwn(AGENT_PROGRAMS, program) ? AGENT_PROGRAMS[program] : undefined
  return bundle !== undefined && chosen.some(({ tool }) => tool === bundle)
}

/** What to say before an agent is started without its bundle; null for everything else. */
export function agentWithoutBundle([program = '']: readonly string[], chosen: readonly BundleChoice[]): string | null {
  const bundle = Object.hasOwn(AGENT_PROGRAMS, program) ? AGENT_PROGRAMS[program] : undefined
  if (bundle === undefined || chosen.some(({ tool }) => tool === bundle)) return null
  return `${program} has neither its provider nor your settings in there: the bundle "${bundle}" gives it both (cordon run --tool ${bundle} -- ${program} …, or cordon init, which writes it down)`
}
