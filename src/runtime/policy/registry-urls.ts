/** The registries of bundles in words: what signing would find now, and how that differs from what was signed. */

import type { Bundle, RegistryFacts } from '../../sandbox/bundles/bundle.ts'
import { findRegistries, machineRegistries } from '../../sandbox/bundles/registry.ts'
import type { Machine } from '../../system/machine.ts'

/** The registries of one bundle, as they would be found for a project. */
export function registryUrls(bundle: Bundle, { home, env }: Machine, project: string): string[] {
  const facts = findRegistries([bundle], { home, project }, machineRegistries(home, env.PATH ?? '/usr/bin:/bin'))
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
