/**
 * Remembers the policy that a verified manifest came to, so that the next start need not read, compile and verify it again: all of
 * that together takes longer than the decision. It holds while the manifests read word for word as they did, in the same place, under
 * the same build, and their signature is in the same files. Cordon's own directory is the ground of this trust either way: the process that can
 * write a memory there could write a key and a signature of his own.
 */

import { lstatSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { CompiledPolicy } from '../../manifest/compile.ts'
import { signaturePath } from '../../manifest/sign/signature-file.ts'
import type { RegistryFacts } from '../../sandbox/bundles/bundle.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory, readOwnJson } from '../../system/state.ts'
import { findRoot, MANIFEST_NAME } from '../place/root.ts'
import { type Frozen, thawedPolicy } from './frozen.ts'
import type { LoadedPolicy } from './load.ts'
import { readManifests, type WrittenManifest, type WrittenManifests } from './written-manifests.ts'

/** The hash of all sources; the build puts it here. Unbuilt code remembers nothing. */
declare const BUILD: string | undefined
/** What `builtInPolicy` gave at the build. */
declare const BUILT_IN_POLICY: Frozen<CompiledPolicy>

/** What was verified, and what it came to. */
export interface Seal {
  readonly version: 2
  /** The signatures and the user's public key, as they were when they were verified. */
  readonly files: string
  readonly memory: PolicyMemory | null
}

export interface PolicyMemory {
  readonly build: string
  /** See `writtenText`. */
  readonly written: string
  readonly policy: Frozen<CompiledPolicy>
  readonly registries: RegistryFacts
}

/** The build that remembers; null where nothing is remembered. */
export function rememberingBuild(): string | null {
  return typeof BUILD === 'string' ? BUILD : null
}

/** The policy in force in a project, registries included, when it is known already; null: read the manifests. */
export function recallPolicy(
  machine: Machine,
  files: Files,
  root: string | null,
  organisation: readonly WrittenManifest[],
): LoadedPolicy | null {
  const build = rememberingBuild()
  if (build === null) return null
  const { cwd, home, stateDir } = machine
  const project = files.canonical(root === null ? findRoot(cwd, files) : resolve(cwd, root))
  const place = { root: project, manifestPath: join(project, MANIFEST_NAME) }
  const written = readManifests(project, machine, files, organisation)
  if (!written.project) {
    if (written.user || organisation.length > 0) return null
    const { policy, ...rest } = thawedPolicy(BUILT_IN_POLICY)
    return { ...rest, ...place, policy: { ...policy, root: project, home }, ownManifest: false, registries: {} }
  }
  if (!files.exists(sealPath(stateDir, project))) return null
  const own = openOwnDirectory(stateDir)
  const seal = readSeal(own, project)
  const memory = seal?.memory
  if (!memory || memory.build !== build || memory.written !== writtenText(project, home, written)) return null
  if (seal.files !== verifiedFiles(own, project)) return null
  return { ...thawedPolicy(memory.policy), ...place, ownManifest: true, registries: memory.registries }
}

/** All that the compiled policy depends on, beside the build: where it holds, and what was written. */
export function writtenText(root: string, home: string, { organisation, user, project }: WrittenManifests): string {
  return JSON.stringify([root, home, organisation, user, project])
}

/** What was sealed for a project; null when nothing was, or in another form. */
export function readSeal(stateDir: string, project: string): Seal | null {
  try {
    return readOwnJson(sealPath(stateDir, project), isSeal)
  } catch {
    // Damaged, or not ours alone: whatever it says, the manifest is verified again.
    return null
  }
}

export function sealPath(stateDir: string, project: string): string {
  return signaturePath(join(stateDir, 'verified'), project)
}

/** The files of a verification: to be noted before it, and sealed after it. */
export function verifiedFiles(stateDir: string, project: string): string {
  return [signaturePath(stateDir, project), join(stateDir, 'signing-key.pub')].map(identityOf).join('\n')
}

/** Which file is at a path, and since when with this content: no one but the kernel sets the last of these. */
export function identityOf(path: string): string {
  const facts = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return facts ? `${facts.dev} ${facts.ino} ${facts.size} ${facts.mtimeNs} ${facts.ctimeNs}` : 'none'
}

function isSeal(value: unknown): value is Seal {
  const seal = value as Seal | null
  return seal?.version === 2 && typeof seal.files === 'string' && typeof seal.memory === 'object'
}
