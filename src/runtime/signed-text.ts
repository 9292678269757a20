/** The text that is signed: the manifest's grants, and the registries that its bundles reach. */

import { canonicalManifest } from '../manifest/canonical.ts'
import { readSignatures } from '../manifest/signature-file.ts'
import type { RegistryFacts } from '../sandbox/bundle.ts'
import { openOwnDirectory } from '../system/state.ts'
import type { LoadedPolicy } from './load-policy.ts'

/** The grants as they are hashed. */
export function signedText(canonical: string, registries: RegistryFacts): string {
  return JSON.stringify({ ...JSON.parse(canonical), registries })
}

/** The registries in a text that was signed. */
export function registriesOf(signed: string): RegistryFacts {
  const { registries } = JSON.parse(signed) as { registries?: RegistryFacts }
  return registries ?? {}
}

/** The text that the newest signature says it is about; null when there is none. Not verified. */
export function claimedText(stateDir: string, project: string): string | null {
  return readSignatures(openOwnDirectory(stateDir), project).signatures.at(-1)?.canonical ?? null
}

/**
 * The registries, when the manifest reads as the newest signature says; null when it does not, or nobody signed. This is a look
 * without the cryptography, whose code takes a start longer to load than all else: whoever goes by it must have the trust judged
 * before anything runs.
 */
export function readsAsSigned(loaded: LoadedPolicy, stateDir: string): RegistryFacts | null {
  const claimed = loaded.project && claimedText(stateDir, loaded.root)
  if (!claimed) return null
  const registries = registriesOf(claimed)
  return signedText(canonicalManifest(loaded.project!), registries) === claimed ? registries : null
}
