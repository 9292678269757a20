/**
 * Remembers the policy of a verified manifest: reading, compiling and verifying take longer than a
 * decision. The memory is valid for the same texts, place, build and signature files. A process that can
 * write it could also write a key and a signature.
 */

import { lstatSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { CompiledPolicy } from '../../manifest/compile.ts'
import { signaturePath } from '../../manifest/sign/signature-file.ts'
import type { RegistryFacts } from '../../sandbox/bundles/bundle.ts'
import { attempt } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory, readOwnJson } from '../../system/state.ts'
import { findRoot, MANIFEST_NAME } from '../place/root.ts'
import { type Frozen, thawedPolicy } from './frozen.ts'
import type { LoadedPolicy } from './load.ts'

/** Hash of the sources, set by the build. Unbuilt code remembers nothing. */
declare const BUILD: string | undefined
/** Result of `builtInPolicy`, set by the build. */
declare const BUILT_IN_POLICY: Frozen<CompiledPolicy>

export interface Seal {
  readonly version: 2
  /** Identities of the signature and key files when they were verified. */
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

/** The build's hash; null if nothing is remembered. */
export function rememberingBuild(): string | null {
  return typeof BUILD === 'string' ? BUILD : null
}

/** The remembered policy, or null: read the manifests. */
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

/** Everything that the policy depends on apart from the build. */
export function writtenText(root: string, home: string, { organisation, user, project }: WrittenManifests): string {
  return JSON.stringify([root, home, organisation, user, project])
}

/** The seal of a project; null without a valid one. */
export function readSeal(stateDir: string, project: string): Seal | null {
  // Damaged or writable by others: verify again.
  return attempt(() => readOwnJson(sealPath(stateDir, project), isSeal), null)
}

export function sealPath(stateDir: string, project: string): string {
  return signaturePath(join(stateDir, 'verified'), project)
}

/** Identities of the signature files: taken before verifying, compared when sealing. */
export function verifiedFiles(stateDir: string, project: string): string {
  return [signaturePath(stateDir, project), join(stateDir, 'signing-key.pub')].map(identityOf).join('\n')
}

/** A file's identity with its ctime, which only the kernel sets. */
export function identityOf(path: string): string {
  const facts = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return facts ? `${facts.dev} ${facts.ino} ${facts.size} ${facts.mtimeNs} ${facts.ctimeNs}` : 'none'
}

function isSeal(value: unknown): value is Seal {
  const seal = value as Seal | null
  return seal?.version === 2 && typeof seal.files === 'string' && typeof seal.memory === 'object'
}

export interface WrittenManifest {
  readonly text: string
  /** The file's name in messages. */
  readonly label: string
}

export interface WrittenManifests {
  /** The fleet's policy for this machine (X8). */
  readonly organisation: readonly WrittenManifest[]
  readonly user: WrittenManifest | null
  readonly project: WrittenManifest | null
}

/** Loads the fleet code only on a machine in a fleet. */
export async function readOrganisation(machine: Machine): Promise<readonly WrittenManifest[]> {
  if (!mayBeInFleet(machine)) return []
  const { organisationManifests } = await import('./organisation.ts')
  return organisationManifests(machine, Date.now())
}

/** Whether fleet settings exist, or something there that cannot be checked. */
export function mayBeInFleet({ systemDir, configDir }: Pick<Machine, 'systemDir' | 'configDir'>): boolean {
  return [systemDir, configDir].some((directory) => {
    return attempt(() => lstatSync(join(directory, 'fleet.json'), { throwIfNoEntry: false }) !== undefined, true)
  })
}

/** Reads the manifests in force. An unreadable one is a fault: its denials would be lost. */
export function readManifests(
  root: string,
  machine: Machine,
  files: Files,
  organisation: readonly WrittenManifest[],
): WrittenManifests {
  const project = join(root, MANIFEST_NAME)
  return {
    organisation,
    user: readUserManifest(machine, files),
    project: files.isMissing(project) ? null : { text: files.readText(project), label: MANIFEST_NAME },
  }
}

export function readUserManifest({ configDir, home }: Machine, files: Files): WrittenManifest | null {
  const file = join(configDir, MANIFEST_NAME)
  if (files.isMissing(file)) return null
  // Short, and without the user's name.
  const label = file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file
  return { text: files.readText(file), label }
}
