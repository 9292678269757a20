/** Opens a project's policy. The caller says what an unsigned manifest means. */

import { join } from 'node:path'
import { isInside } from '../files/baseline.ts'
import type { Problem } from '../manifest/toml/problem.ts'
import type { RegistryFacts } from '../sandbox/bundles/bundle.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { extendPolicy } from './load/extend.ts'
import type { LoadedManifest, LoadedPolicy, LoadRequest } from './load/load.ts'
import { readOrganisation, recallPolicy } from './load/memory.ts'
import { requireProject } from './place/root.ts'
import type { TrustReport } from './sign/trust.ts'

/** How to treat an unsigned manifest of the project (M3). */
export type UnsignedTreatment =
  /** It does not take effect, and nothing opens. */
  | 'refused'
  /** It is checked as written; nothing runs on it. */
  | 'as-written'
  /** It was in force when the surrounding sandbox started, and cannot be changed from inside. */
  | 'in-force'
  /** A person is shown it; returns the report of what they signed, or null. */
  | ((loaded: LoadedManifest, report: TrustReport) => Promise<TrustReport | null>)

export interface OpenRequest extends LoadRequest {
  readonly unsigned: UnsignedTreatment
  /** For a manifest that the person named: the programs whose registries to look up now. */
  readonly programs?: readonly string[]
}

export type OpenedPolicy =
  /** `draft`: why the project's manifest is not in force. */
  | { readonly loaded: LoadedPolicy; readonly draft?: TrustReport['trust']['status'] }
  | { readonly problems: readonly Problem[] }
  | { readonly unsigned: TrustReport['trust']['status']; readonly manifestPath: string; readonly root: string }

/** Throws a Fault if a manifest cannot be read. */
export async function openPolicy(request: OpenRequest): Promise<OpenedPolicy> {
  const opened = await openAnywhere(request)
  // Inspection and code inside a sandbox may work in any root.
  const acts = request.unsigned !== 'as-written' && request.unsigned !== 'in-force'
  if (acts && 'loaded' in opened) requireProject(opened.loaded.root, request.machine)
  // Inside a sandbox the home directory is what the sandbox shows.
  if (!('loaded' in opened) || request.unsigned === 'in-force') return opened
  return { ...opened, loaded: withUserSkills(opened.loaded, request.machine, request.files) }
}

/** Why no policy is in force, as a sentence; everything is then denied. */
export async function whyClosed(opened: Exclude<OpenedPolicy, { loaded: unknown }>, root: string): Promise<string> {
  if ('unsigned' in opened) {
    const state = opened.unsigned === 'changed' ? 'was changed after it was signed' : `is ${opened.unsigned}`
    return `${opened.manifestPath} ${state}, so it does not take effect and nothing may run. The user has to read it and run \`cordon sign\` in ${opened.root}, in another terminal.`
  }
  const { renderProblem } = await import('./problems.ts')
  const problems = opened.problems.map(renderProblem).join('; ')
  return `The manifest of ${root} does not load, so nothing may run: ${problems}`
}

async function openAnywhere(request: OpenRequest): Promise<OpenedPolicy> {
  const { machine, files, root, choice, unsigned } = request
  // Inside a sandbox neither the memory nor the fleet is reachable; they apply from outside.
  const inside = unsigned === 'in-force'
  const organisation = inside ? [] : (request.organisation ?? (await readOrganisation(machine)))
  const known = choice.kind === 'project' && !inside ? recallPolicy(machine, files, root, organisation) : null
  if (known) return { loaded: known }
  const { loadPolicy } = await import('./load/load.ts')
  const outcome = await loadPolicy({ ...request, organisation })
  if ('problems' in outcome) return outcome
  const { loaded } = outcome
  if (!loaded.ownManifest) return { loaded: await withNamedRegistries(loaded, request) }
  if (unsigned === 'in-force') return { loaded }
  const { sealedRegistries } = await import('./sign/seal.ts')
  const sealed = sealedRegistries(loaded, machine)
  if (sealed) return { loaded: await reaching(loaded, sealed) }
  const { judgeTrust } = await import('./sign/trust.ts')
  const report = judgeTrust(loaded, machine, files)
  if (!report || report.trust.status === 'signed') return { loaded: await reaching(loaded, report?.registries ?? {}) }
  if (unsigned === 'as-written') return { loaded, draft: report.trust.status }
  const signed = typeof unsigned === 'function' ? await unsigned(loaded, report) : null
  if (signed?.trust.status === 'signed') return { loaded: await reaching(loaded, signed.registries) }
  return { unsigned: report.trust.status, manifestPath: loaded.manifestPath, root: loaded.root }
}

async function withNamedRegistries(
  loaded: LoadedPolicy,
  { machine, programs }: Pick<OpenRequest, 'machine' | 'programs'>,
): Promise<LoadedPolicy> {
  if (!programs || loaded.sandbox.bundles.length === 0) return loaded
  const { readRegistries } = await import('./sign/trust.ts')
  return reaching(loaded, readRegistries(loaded, machine, programs))
}

async function reaching(loaded: LoadedPolicy, registries: RegistryFacts): Promise<LoadedPolicy> {
  const { withRegistries } = await import('./registries/hosts.ts')
  return withRegistries(loaded, registries)
}

/** Adds the folders of the user's skills to the readable places. */
function withUserSkills(loaded: LoadedPolicy, { configDir, home }: Machine, files: Files): LoadedPolicy {
  const { policy } = loaded
  const folders = [join(configDir, 'skills'), join(home, '.agents', 'skills')]
    .filter(files.isDirectory)
    .map(files.canonical)
    // A link may point anywhere; files of the project stay the project's.
    .filter((path) => !isInside(path, policy.root) && !isInside(policy.root, path))
  if (folders.length === 0) return loaded
  return extendPolicy(loaded, { shown: folders.map((value) => ({ value, rule: 'your skills', source: 'built-in' })) })
}
