/**
 * Remembers that a signature was verified, by the files that it was verified from, so that the next start need not load the
 * cryptography: that takes it longer than all else. Cordon's own directory is the ground of this trust either way: whoever can
 * write a seal there could write a key and a signature of his own.
 */

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { canonicalManifest } from '../manifest/canonical.ts'
import { readSignatures, signaturePath } from '../manifest/signature-file.ts'
import type { RegistryFacts } from '../sandbox/bundle.ts'
import { openOwnDirectory, readOwnJson, writeOwnJson } from '../system/state.ts'
import type { LoadedPolicy } from './load-policy.ts'
import { registriesOf, signedText } from './signed-text.ts'

interface Seal {
  readonly version: 1
  /** The signatures and the user's public key, as they were when they were verified. */
  readonly files: string
}

/**
 * The registries, when the manifest reads word for word as the newest signature says, and that was verified in the files as they
 * are now; null when the trust has to be judged.
 */
export function sealedRegistries(loaded: LoadedPolicy, stateDir: string): RegistryFacts | null {
  if (!loaded.project) return null
  const own = openOwnDirectory(stateDir)
  const seal = readOwnJson(sealPath(own, loaded.root), isSeal)
  if (seal === null || seal.files !== verifiedFiles(own, loaded.root)) return null
  const claimed = readSignatures(own, loaded.root).signatures.at(-1)?.canonical ?? null
  if (claimed === null) return null
  const registries = registriesOf(claimed)
  return signedText(canonicalManifest(loaded.project), registries) === claimed ? registries : null
}

/** The files of a verification: to be noted before it, and sealed after it. */
export function verifiedFiles(stateDir: string, project: string): string {
  return [signaturePath(stateDir, project), join(stateDir, 'signing-key.pub')].map(identityOf).join('\n')
}

/** Seals what was verified as the newest signature; not when the files have changed since they were noted. */
export function sealVerified(stateDir: string, project: string, files: string): void {
  try {
    if (files !== verifiedFiles(stateDir, project)) return
    if (readOwnJson(sealPath(stateDir, project), isSeal)?.files === files) return
    writeOwnJson(sealPath(stateDir, project), { version: 1, files } satisfies Seal)
  } catch {
    // Where nothing can be written, each start verifies.
  }
}

function sealPath(stateDir: string, project: string): string {
  return signaturePath(join(stateDir, 'verified'), project)
}

/** Which file is at a path, and since when with this content: nobody but the kernel sets the last of these. */
function identityOf(path: string): string {
  const facts = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return facts ? `${facts.dev} ${facts.ino} ${facts.size} ${facts.mtimeNs} ${facts.ctimeNs}` : 'none'
}

function isSeal(value: unknown): value is Seal {
  const seal = value as Seal | null
  return seal?.version === 1 && typeof seal.files === 'string'
}
