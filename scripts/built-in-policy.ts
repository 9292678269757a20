/** The policy without any manifest. */

import { type CompiledPolicy, compileManifest } from '../src/manifest/compile.ts'
import { mergeLayers } from '../src/manifest/layers.ts'
import { type Frozen, frozenPolicy } from '../src/project/load/frozen.ts'

/** Compiled at build time. Its root is empty: nothing else depends on the place. */
export function builtInPolicy(): Frozen<CompiledPolicy> {
  const compiled = compileManifest(mergeLayers({}).manifest, { root: '', home: '', env: {} })
  if ('problems' in compiled) throw new Error(`the built-in policy has problems: ${JSON.stringify(compiled.problems)}`)
  return frozenPolicy(compiled)
}
