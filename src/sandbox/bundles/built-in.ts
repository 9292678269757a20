/** The bundles that Cordon brings along: *.toml as scripts/generate-bundle-doc.ts read and checked them. */

import type { Bundle } from './bundle.ts'
import bundles from './bundles.json' with { type: 'json' }

const BY_TOOL = bundles as unknown as Readonly<Record<string, Bundle>>

/** Their tools, in the order of the alphabet. */
export const bundleNames: readonly string[] = Object.keys(BY_TOOL)

export const builtInBundles: readonly Bundle[] = Object.values(BY_TOOL)

export function builtInBundle(tool: string): Bundle | undefined {
  return Object.hasOwn(BY_TOOL, tool) ? BY_TOOL[tool] : undefined
}

/** The bundle of an agent, by the name of its program. */
export function agentBundle(program: string): Bundle | undefined {
  return builtInBundles.find(({ agent, programs }) => agent && programs.includes(program))
}
