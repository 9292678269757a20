/**
 * Seals a manifest whose signature was verified, with the policy that it came to, so that the next start need not load the
 * cryptography, or even read the manifest.
 */

import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { CompiledPolicy } from '../../manifest/compile.ts'
import { itemsOf } from '../../manifest/schema/manifest.ts'
import { canonicalManifest } from '../../manifest/sign/canonical.ts'
import { readSignatures } from '../../manifest/sign/signature-file.ts'
import type { RegistryFacts } from '../../sandbox/bundles/bundle.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory, writeOwnJson } from '../../system/state.ts'
import { frozenPolicy, thawedPolicy } from '../load/frozen.ts'
import type { LoadedManifest } from '../load/load.ts'
import {
  type PolicyMemory,
  readSeal,
  rememberingBuild,
  type Seal,
  sealPath,
  verifiedFiles,
  writtenText,
} from '../load/memory.ts'
import { withRegistries } from '../registries/hosts.ts'
import { registriesOf, signedText } from './signed-text.ts'

/**
 * The registries, when the manifest reads word for word as the newest signature says, and that was verified in the files as they
 * are now; null when the trust has to be judged.
 */
export function sealedRegistries(loaded: LoadedManifest, machine: Machine): RegistryFacts | null {
  // Nothing is made where nothing was sealed: looking at a project leaves no trace.
  if (!loaded.project || !existsSync(sealPath(machine.stateDir, loaded.root))) return null
  const own = openOwnDirectory(machine.stateDir)
  const files = verifiedFiles(own, loaded.root)
  if (readSeal(own, loaded.root)?.files !== files) return null
  const claimed = readSignatures(own, loaded.root).signatures.at(-1)?.canonical ?? null
  if (claimed === null) return null
  const registries = registriesOf(claimed)
  if (signedText(canonicalManifest(loaded.project), registries) !== claimed) return null
  // Only comments or the build have changed since.
  sealVerified(loaded, machine, registries, files)
  return registries
}

/** Seals what was verified as the newest signature; not when the files have changed since they were noted. */
export function sealVerified(
  loaded: LoadedManifest,
  { home, stateDir }: Machine,
  registries: RegistryFacts,
  files: string,
): void {
  try {
    const own = openOwnDirectory(stateDir)
    if (files !== verifiedFiles(own, loaded.root)) return
    const seal: Seal = { version: 2, files, memory: policyMemory(loaded, home, registries) }
    if (isDeepStrictEqual(readSeal(own, loaded.root), seal)) return
    writeOwnJson(sealPath(own, loaded.root), seal)
  } catch {
    // Where nothing can be written, each start verifies.
  }
}

/** The memory of a policy; null for one that depends on more than the text of its manifests, or is more than data. */
function policyMemory(loaded: LoadedManifest, home: string, registries: RegistryFacts): PolicyMemory | null {
  const build = rememberingBuild()
  if (build === null || !loaded.written || dependsOnPlace(loaded)) return null
  const { policy, sandbox, session, warnings } = withRegistries(loaded, registries)
  const compiled: CompiledPolicy = { policy, sandbox, session, warnings }
  const frozen = frozenPolicy(compiled)
  if (!isDeepStrictEqual(thawedPolicy(frozen), compiled)) return null
  return { build, written: writtenText(loaded.root, home, loaded.written), policy: frozen, registries }
}

/** Whether variables, other directories or the public suffix list had a part in it. */
function dependsOnPlace({ manifest, policy }: LoadedManifest): boolean {
  const directories = itemsOf(manifest, 'capabilities.allow.additional_directories')
  return policy.http.suffixes !== undefined || directories.length > 0 || canonicalManifest(manifest).includes('${')
}
