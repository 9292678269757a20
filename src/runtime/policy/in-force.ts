/** The policy that may take effect where nobody can be asked: read, compiled, its signature verified, its registries added. */

import { renderProblem } from '../../manifest/check/problem.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { type LoadedPolicy, loadPolicy } from './load.ts'
import { withRegistries } from './registry-hosts.ts'
import { sealedRegistries } from './seal.ts'

export interface ForceRequest {
  readonly machine: Machine
  readonly files: Files
  /** The project; null looks for it from the working directory upwards. */
  readonly root: string | null
  /** The manifest was put in force before the sandbox was made that this runs in, and cannot be changed from inside. */
  readonly inside: boolean
}

/** The policy, or the sentence that says why there is none: then everything is denied. */
export type Force = { readonly loaded: LoadedPolicy } | { readonly closed: string }

/** Opens it, or says why there is none: an unsigned manifest takes no effect, and neither does anything else then (M3). */
export async function policyInForce({ machine, files, root, inside }: ForceRequest): Promise<Force> {
  const outcome = await loadPolicy({ machine, files, root, choice: { kind: 'project' } })
  if ('problems' in outcome) {
    const problems = outcome.problems.map(renderProblem).join('; ')
    return { closed: `The manifest of ${root ?? machine.cwd} does not load, so nothing may run: ${problems}` }
  }
  const { loaded } = outcome
  if (!loaded.ownManifest || inside) return { loaded }
  const sealed = sealedRegistries(loaded, machine)
  if (sealed) return { loaded: withRegistries(loaded, sealed) }
  const { judgeTrust } = await import('./trust.ts')
  const report = judgeTrust(loaded, machine, files)
  if (report && report.trust.status !== 'signed') {
    const state = report.trust.status === 'changed' ? 'was changed after it was signed' : `is ${report.trust.status}`
    return {
      closed: `${loaded.manifestPath} ${state}, so it does not take effect and nothing may run. The user has to read it and run \`cordon sign\` in ${loaded.root}, in a terminal of their own.`,
    }
  }
  return { loaded: report ? withRegistries(loaded, report.registries) : loaded }
}
