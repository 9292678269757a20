/**
 * Registries that changed in configuration since they were signed. Asking the tools takes seconds,
 * so they are asked only when one of their files has changed.
 */

import { dirname, join } from 'node:path'
import { isInside } from '../../files/baseline.ts'
import { builtInBundle } from '../../sandbox/bundles/built-in.ts'
import { type AppliedBundle, type Bundle, type RegistryFacts, selectBundles } from '../../sandbox/bundles/bundle.ts'
import { findRegistries, machineRegistries, type RegistryPort } from '../../sandbox/bundles/registry.ts'
import { sha256 } from '../../system/addon.ts'
import { attempt } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import { makeDirectories, openOwnDirectory, readOwnJson, writeOwnJson } from '../../system/state.ts'
import type { LoadedPolicy } from '../load/load.ts'
import { identityOf } from '../load/memory.ts'

/** What signing now would open and close. */
export type RegistryDrift = ReturnType<typeof registryChanges>

/** Findings for the files of a stamp. */
interface StoredFindings {
  readonly version: 1
  readonly stamp: string
  readonly found: RegistryFacts
}

/** The drift of a command's registries; null if none or unsigned. */
export function registryDrift(
  root: string,
  registries: RegistryFacts | null,
  machine: Machine,
  applied: readonly AppliedBundle[],
): RegistryDrift | null {
  if (registries === null || Object.keys(registries).length === 0) return null
  const reaching = applied.filter(
    ({ fetch, defaultDomains, bundle }) => fetch && defaultDomains && bundle.registries.length > 0,
  )
  const changes = reaching.map(({ bundle }) => {
    const signed = registries[bundle.tool] ?? []
    return registryChanges({ [bundle.tool]: signed }, currentRegistries(bundle, root, machine))
  })
  const drift = { opens: changes.flatMap(({ opens }) => opens), closes: changes.flatMap(({ closes }) => closes) }
  return drift.opens.length + drift.closes.length > 0 ? drift : null
}

export function typedDrift(loaded: LoadedPolicy, machine: Machine, command: readonly string[]): RegistryDrift | null {
  const choices = loaded.sandbox.bundles.map(({ value }) => value)
  const signed = loaded.ownManifest ? loaded.registries : null
  return registryDrift(loaded.root, signed, machine, selectBundles(choices, command, builtInBundle))
}

/** One line for a process that is not asked. */
export function driftLine({ opens, closes }: RegistryDrift): string {
  const lines = [...opens.map((line) => `+ ${line}`), ...closes.map((line) => `- ${line}`)]
  return `the registries have changed since you signed, and the signed ones apply until you sign again (cordon sign): ${lines.join(' ')}`
}

function currentRegistries(bundle: Bundle, root: string, machine: Machine): RegistryFacts {
  const stamp = stampOf(bundle, root, machine.home)
  const known = readFindings(findingsPath(bundle, root, machine.stateDir))
  if (known?.stamp === stamp) return known.found
  const found = findRegistries([bundle], { home: machine.home, project: root }, registryPort(root, machine))
  note(bundle, root, machine, { version: 1, stamp, found })
  return found
}

/** Stores what signing found, so that the next run need not ask. */
export function noteRegistries({ root, sandbox }: LoadedPolicy, machine: Machine, registries: RegistryFacts): void {
  for (const { value } of sandbox.bundles) {
    const bundle = builtInBundle(value.tool)
    const own = registries[value.tool]
    const found = own ? { [value.tool]: own } : {}
    if (bundle && bundle.registries.length > 0)
      note(bundle, root, machine, { version: 1, stamp: stampOf(bundle, root, machine.home), found })
  }
}

function note(bundle: Bundle, root: string, { stateDir }: Machine, look: StoredFindings): void {
  try {
    const file = findingsPath(bundle, root, openOwnDirectory(stateDir))
    makeDirectories(dirname(file))
    writeOwnJson(file, look)
  } catch {
    // Without a writable place the tools are asked each time.
  }
}

function findingsPath({ tool }: Bundle, root: string, stateDir: string): string {
  return join(stateDir, 'registries', sha256(`${root}\n${tool}`).slice(0, 32))
}

/** Identities of the configuration files. */
function stampOf({ registries }: Bundle, root: string, home: string): string {
  const paths = registries.flatMap(({ file, project, reads }) => [
    ...(project === null ? [] : [join(root, project)]),
    ...[...(file === null ? [] : [file]), ...reads].map((path) => path.replace(/^~(?=\/)/, () => home)),
  ])
  return [...new Set(paths)].map((path) => `${path} ${identityOf(path)}`).join('\n')
}

function readFindings(file: string): StoredFindings | null {
  return attempt(
    () => readOwnJson(file, (value): value is StoredFindings => (value as StoredFindings | null)?.version === 1),
    null,
  )
}

/** Asks this machine's tools, except those inside the project. */
export function registryPort(root: string, { home, env }: Pick<Machine, 'home' | 'env'>): RegistryPort {
  const path = (env.PATH ?? '/usr/bin:/bin')
    .split(':')
    .filter((entry) => entry.startsWith('/') && !isInside(entry, root))
    .join(':')
  return machineRegistries(home, path)
}

/** The registries of one bundle in a project. */
export function registryUrls(bundle: Bundle, machine: Machine, project: string): string[] {
  const facts = findRegistries([bundle], { home: machine.home, project }, registryPort(project, machine))
  return (facts[bundle.tool] ?? []).map(({ url }) => url)
}

/** What signing now would open and close. */
export function registryChanges(signed: RegistryFacts, now: RegistryFacts): { opens: string[]; closes: string[] } {
  const listed = (facts: RegistryFacts) =>
    Object.entries(facts).flatMap(([tool, found]) => found.map(({ url }) => `${tool} reaches its registry ${url}.`))
  const [before, after] = [listed(signed), listed(now)]
  return {
    opens: after.filter((line) => !before.includes(line)),
    closes: before.filter((line) => !after.includes(line)),
  }
}
