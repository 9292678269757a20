/** The text that is signed: the manifest's grants, and the registries that its bundles reach. */

import { readSignatures } from '../../manifest/sign/signature-file.ts'
import type { RegistryFacts } from '../../sandbox/bundles/bundle.ts'
import { openOwnDirectory } from '../../system/state.ts'

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
