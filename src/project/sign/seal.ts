/** Seals a verified manifest with its policy, so that the next start need not verify it. */

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

/** The registries if the seal is valid; null if trust has to be judged. */
export function sealedRegistries(loaded: LoadedManifest, machine: Machine): RegistryFacts | null {
  // Inspecting a project leaves no trace.
  if (!loaded.project || !existsSync(sealPath(machine.stateDir, loaded.root))) return null
  const own = openOwnDirectory(machine.stateDir)
  const files = verifiedFiles(own, loaded.root)
  if (readSeal(own, loaded.root)?.files !== files) return null
  const claimed = readSignatures(own, loaded.root).signatures.at(-1)?.canonical ?? null
  if (claimed === null) return null
  const registries = registriesOf(claimed)
  if (signedText(canonicalManifest(loaded.project), registries) !== claimed) return null
  // Only comments or the build changed.
  sealVerified(loaded, machine, registries, files)
  return registries
}

/** Seals the verified text unless the files changed meanwhile. */
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
    // Without a writable place every start verifies.
  }
}

/** The policy to remember; null if it depends on more than the manifests' text. */
function policyMemory(loaded: LoadedManifest, home: string, registries: RegistryFacts): PolicyMemory | null {
  const build = rememberingBuild()
  if (build === null || !loaded.written || dependsOnPlace(loaded)) return null
  const { policy, sandbox, session, warnings } = withRegistries(loaded, registries)
  const compiled: CompiledPolicy = { policy, sandbox, session, warnings }
  const frozen = frozenPolicy(compiled)
  if (!isDeepStrictEqual(thawedPolicy(frozen), compiled)) return null
  return { build, written: writtenText(loaded.root, home, loaded.written), policy: frozen, registries }
}

/** Whether variables, other directories or the public suffix list took part. */
function dependsOnPlace({ manifest, policy }: LoadedManifest): boolean {
  const directories = itemsOf(manifest, 'capabilities.allow.additional_directories')
  return policy.http.suffixes !== undefined || directories.length > 0 || canonicalManifest(manifest).includes('${')
}

/** The grants as they are hashed, with the registries that the bundles reach. */
export function signedText(canonical: string, registries: RegistryFacts): string {
  return JSON.stringify({ ...JSON.parse(canonical), registries })
}

export function registriesOf(signed: string): RegistryFacts {
  const { registries } = JSON.parse(signed) as { registries?: RegistryFacts }
  return registries ?? {}
}

/** The text that the newest signature claims; null without one. Not verified. */
export function claimedText(stateDir: string, project: string): string | null {
  return readSignatures(openOwnDirectory(stateDir), project).signatures.at(-1)?.canonical ?? null
}
