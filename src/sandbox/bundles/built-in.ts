/** The bundles that Cordon brings along: *.toml as scripts/generate-bundle-doc.ts read and checked them. */

import type { Bundle } from './bundle.ts'
import bundles from './bundles.json' with { type: 'json' }

/** The text of bundles.json; the build inserts it in place of the import, whose 500 objects every start would make. */
declare const BUNDLES: string | undefined

/** In a function, so that a start that needs no bundle does not even load the text. */
function builtText(): string | null {
  return typeof BUNDLES === 'string' ? BUNDLES : null
}

let parsed: Readonly<Record<string, Bundle>> | undefined

function byTool(): Readonly<Record<string, Bundle>> {
  // Decided by the build, which then leaves the import out.
  parsed ??= (typeof BUNDLES === 'string' ? JSON.parse(builtText()!) : bundles) as Readonly<Record<string, Bundle>>
  return parsed
}

/** Their tools, in the order of the alphabet. */
export function bundleNames(): readonly string[] {
  return Object.keys(byTool())
}

export function builtInBundles(): readonly Bundle[] {
  return Object.values(byTool())
}

export function builtInBundle(tool: string): Bundle | undefined {
  return Object.hasOwn(byTool(), tool) ? byTool()[tool] : undefined
}

/** The bundle of an agent, by the name of its program. */
export function agentBundle(program: string): Bundle | undefined {
  // Nearly every command is in none.
  if (builtText()?.includes(JSON.stringify(program)) === false) return undefined
  return builtInBundles().find(({ agent, programs }) => agent && programs.includes(program))
}
