/** The policy that holds where no one wrote a manifest. */

import { type CompiledPolicy, compileManifest } from '../../manifest/compile.ts'
import { mergeLayers } from '../../manifest/layers.ts'
import { type Frozen, frozenPolicy } from './frozen.ts'

/** Compiles it, for the build to keep. The place is left open: nothing else in it depends on where it holds. */
export function builtInPolicy(): Frozen<CompiledPolicy> {
  const compiled = compileManifest(mergeLayers({}).manifest, { root: '', home: '', env: {} })
  if ('problems' in compiled) throw new Error(`the built-in policy has problems: ${JSON.stringify(compiled.problems)}`)
  return frozenPolicy(compiled)
}
