/** Names the bundle that an agent goes without: it reaches no model then, and would try for minutes. */

import type { BundleChoice } from '../sandbox/bundles/bundle.ts'
import { AGENT_PROGRAMS } from '../sandbox/bundles/bundles.generated.ts'

/** What to say before an agent is started without its bundle; null for everything else. */
export function agentWithoutBundle([program = '']: readonly string[], chosen: readonly BundleChoice[]): string | null {
  const bundle = Object.hasOwn(AGENT_PROGRAMS, program) ? AGENT_PROGRAMS[program] : undefined
  if (bundle === undefined || chosen.some(({ tool }) => tool === bundle)) return null
  return `${program} has neither its provider nor your settings in there: the bundle "${bundle}" gives it both (cordon run --tool ${bundle} -- ${program} …, or cordon init, which writes it down)`
}
