/** The registries of bundles in words: what signing would find now, and how that differs from what was signed. */

import { isInside } from '../../files/baseline.ts'
import type { Bundle, RegistryFacts } from '../../sandbox/bundles/bundle.ts'
import { findRegistries, machineRegistries, type RegistryPort } from '../../sandbox/bundles/registry.ts'
import type { Machine } from '../../system/machine.ts'

/** How the tools of this machine are asked, those that a project brings along left out. */
export function registryPort(root: string, { home, env }: Pick<Machine, 'home' | 'env'>): RegistryPort {
  const path = (env.PATH ?? '/usr/bin:/bin')
    .split(':')
    .filter((entry) => entry.startsWith('/') && !isInside(entry, root))
    .join(':')
  return machineRegistries(home, path)
}

/** The registries of one bundle, as they would be found for a project. */
export function registryUrls(bundle: Bundle, machine: Machine, project: string): string[] {
  const facts = findRegistries([bundle], { home: machine.home, project }, registryPort(project, machine))
  return (facts[bundle.tool] ?? []).map(({ url }) => url)
}

/** What signing now would open and close, against what was signed last. */
export function registryChanges(signed: RegistryFacts, now: RegistryFacts): { opens: string[]; closes: string[] } {
  const listed = (facts: RegistryFacts) =>
    Object.entries(facts).flatMap(([tool, found]) => found.map(({ url }) => `${tool} reaches its registry ${url}.`))
  const [before, after] = [listed(signed), listed(now)]
  return {
    opens: after.filter((line) => !before.includes(line)),
    closes: before.filter((line) => !after.includes(line)),
  }
}
