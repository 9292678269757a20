/** The bundles that Cordon brings along. */

import type { Bundle } from './bundle.ts'
import { BUNDLES } from './bundles.generated.ts'

/** Their tools, in the order of the alphabet. */
export const bundleNames: readonly string[] = Object.keys(BUNDLES)

const made = new Map<string, Bundle>()

/** The bundle of a tool, built on first use: a start does not read them all. */
export function builtInBundle(tool: string): Bundle | undefined {
  const known = made.get(tool)
  if (known || !Object.hasOwn(BUNDLES, tool)) return known
  const bundle = BUNDLES[tool]!()
  made.set(tool, bundle)
  return bundle
}

export function builtInBundles(): readonly Bundle[] {
  return bundleNames.flatMap((tool) => builtInBundle(tool) ?? [])
}
