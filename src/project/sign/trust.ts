/**
 * Decides whether a project's manifest takes effect (M3): verify it, show what it opens, sign it.
 */

import { posix } from 'node:path'
import { canonicalManifest } from '../../manifest/sign/canonical.ts'
import { type ReachDiff, reachDiff } from '../../manifest/sign/reach-diff.ts'
import { type ManifestTrust, signManifest, userSigningKey, verifyManifest } from '../../manifest/sign/sign.ts'
import { grantHash, printDetached } from '../../manifest/sign/signature.ts'
import { readTrustedKeys } from '../../manifest/sign/trusted-keys.ts'
import { builtInBundle } from '../../sandbox/bundles/built-in.ts'
import type { RegistryFacts } from '../../sandbox/bundles/bundle.ts'
import { findRegistries } from '../../sandbox/bundles/registry.ts'
import { parseGitConfig } from '../../sandbox/protect/git-config.ts'
import { worktreeDirectories } from '../../sandbox/protect/protect.ts'
import { Fault } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import { openKeyStore } from '../../system/keys/keychain.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory } from '../../system/state.ts'
import type { LoadedManifest, LoadedPolicy } from '../load/load.ts'
import { verifiedFiles } from '../load/memory.ts'
import { repositoryConfig, repositoryName, repositoryTop } from '../place/repository-remotes.ts'
import { noteRegistries, registryPort } from '../registries/drift.ts'
import { claimedText, registriesOf, sealVerified, signedText } from './seal.ts'

/**
 * The identity, such as `github.com/acme/shop#packages/web`; null without a repository with one
 * origin. It comes from the repository's own configuration, which a clone writes and no commit can
 * change.
 */
export function projectIdentity(root: string, files: Files): string | null {
  const top = repositoryTop(root, files)
  const origin = top === null ? null : originOf(top, files)
  const inside = top === null ? '' : posix.relative(top, root)
  return origin === null || inside === '' ? origin : `${origin}#${inside}`
}

function originOf(top: string, files: Files): string | null {
  const text = repositoryConfig(top, files)
  const entries = text === null ? null : parseGitConfig(text)
  const urls = entries?.filter(({ key }) => key === 'remote.origin.url').map(({ value }) => value.trim()) ?? []
  return urls.length === 1 ? repositoryName(urls[0]!) : null
}

export type { ReachDiff } from '../../manifest/sign/reach-diff.ts'
export type { ManifestTrust } from '../../manifest/sign/sign.ts'

export interface TrustReport {
  readonly trust: ManifestTrust
  /** What the manifest opens and closes compared with the signed one. */
  readonly diff: ReachDiff
  /** Signed registries of the bundles (O5). */
  readonly registries: RegistryFacts
}

/** What verification needs besides the text. */
export type TrustRequest = Omit<Parameters<typeof verifyManifest>[0], 'canonical'>

export function trustRequest(
  loaded: Pick<LoadedPolicy, 'root' | 'manifestPath'>,
  machine: Machine,
  files: Files,
): TrustRequest {
  const detachedFile = `${loaded.manifestPath}.sig`
  const detached = files.exists(detachedFile) ? files.readText(detachedFile, 64 * 1024) : null
  return {
    stateDir: machine.stateDir,
    project: loaded.root,
    detached,
    identity: detached === null ? null : projectIdentity(loaded.root, files),
    trustedKeys: readTrustedKeys({
      configDir: machine.configDir,
      override: machine.env.CORDON_TRUSTED_KEYS,
      projectRoot: loaded.root,
    }),
  }
}

/** Judges the project's manifest; null if the project has none. */
export function judgeTrust(loaded: LoadedManifest, machine: Machine, files: Files): TrustReport | null {
  if (!loaded.project) return null
  const canonical = canonicalManifest(loaded.project)
  const request = trustRequest(loaded, machine, files)
  const own = verified(canonical, request, (found, verifiedIn) => sealVerified(loaded, machine, found, verifiedIn))
  const { trust, registries } = own.trust.status === 'signed' ? own : (verifiedInMain(canonical, request) ?? own)
  let diff: ReachDiff | null = null
  return {
    trust,
    get diff() {
      diff ??= reachDiff(trust.status === 'changed' ? trust.signed.canonical : null, canonical)
      return diff
    },
    registries,
  }
}

/**
 * A worktree shares the grants signed for its main repository. Both ends of their link must agree,
 * and one lies in the main repository, so a folder cannot declare itself a worktree of a signed
 * project.
 */
function verifiedInMain(canonical: string, request: TrustRequest): ReturnType<typeof verified> | null {
  const [shared] = worktreeDirectories(request.project)
  if (shared === undefined || posix.basename(shared) !== '.git') return null
  const found = verified(canonical, { ...request, project: posix.dirname(shared) }, () => {})
  return found.trust.status === 'signed' ? found : null
}

/**
 * Verifies with the registries of the signed text itself, usually of the newest signature. A team
 * signs without registries, which differ by machine.
 */
function verified(
  canonical: string,
  request: TrustRequest,
  seal: (registries: RegistryFacts, files: string) => void,
): Pick<TrustReport, 'trust' | 'registries'> {
  const own = openOwnDirectory(request.stateDir)
  const files = verifiedFiles(own, request.project)
  const claimed = claimedText(own, request.project)
  const newest = claimed === null ? null : verifiedWith(registriesOf(claimed), canonical, request)
  if (newest?.trust.status === 'signed') {
    // The newest signature's text must be the verified one, since another text could have the same
    // hash.
    const same = claimed === signedText(canonical, newest.registries)
    if (newest.trust.by === 'user' && same) seal(newest.registries, files)
    return newest
  }
  const plain = verifyManifest({ ...request, canonical })
  if (plain.status !== 'changed') return { trust: plain, registries: {} }
  return verifiedWith(registriesOf(plain.signed.canonical), canonical, request)
}

function verifiedWith(
  registries: RegistryFacts,
  canonical: string,
  request: TrustRequest,
): Pick<TrustReport, 'trust' | 'registries'> {
  const trust = verifyManifest({ ...request, canonical: signedText(canonical, registries) })
  return { trust, registries: trust.status === 'signed' ? registries : {} }
}

/** Signs the manifest. The person has seen the diff and agreed. */
export function signProject(loaded: LoadedManifest, machine: Machine, now: Date): { readonly warning: string | null } {
  if (!loaded.project) {
    throw new Fault('no-manifest', `${loaded.root} has no cordon.toml to sign`, { remedy: 'cordon init writes one.' })
  }
  const registries = readRegistries(loaded, machine)
  const canonical = signedText(canonicalManifest(loaded.project), registries)
  const { warning } = signManifest({
    stateDir: machine.stateDir,
    keys: openKeyStore(machine.stateDir),
    project: loaded.root,
    canonical,
    now: now.toISOString(),
  })
  noteRegistries(loaded, machine, registries)
  return { warning }
}

/** A `cordon.toml.sig` for those who trust the user's key, without this machine's registries. */
export function detachedSignature(loaded: LoadedManifest, machine: Machine, files: Files): string {
  if (!loaded.project) throw new Fault('no-manifest', `${loaded.root} has no cordon.toml to sign`)
  const identity = projectIdentity(loaded.root, files)
  if (identity === null)
    throw new Fault('no-origin', `${loaded.root} is in no repository with an origin, which a team signs for`, {
      remedy: 'Name where it comes from, as the others cloned it: git remote add origin URL.',
    })
  const { key } = userSigningKey({ stateDir: machine.stateDir, keys: openKeyStore(machine.stateDir) })
  return printDetached(key, identity, grantHash(canonicalManifest(loaded.project)))
}

/**
 * Asks the bundles' tools for their registries, and the project's files for a signature. `programs`
 * limits it to those, and then no project file counts.
 */
export function readRegistries(
  loaded: { readonly root: string; readonly sandbox: Pick<LoadedPolicy['sandbox'], 'bundles'> },
  machine: Machine,
  programs: readonly string[] | null = null,
): RegistryFacts {
  const chosen = loaded.sandbox.bundles.flatMap(({ value }) => {
    const bundle = builtInBundle(value.tool)
    const wrappers = value.wrappers.map((wrapper) => wrapper.split(/[\s:]/, 1)[0]!)
    const lifts = (program: string): boolean => bundle!.programs.includes(program) || wrappers.includes(program)
    return bundle && (programs === null || programs.some(lifts)) ? [bundle] : []
  })
  const project = programs === null ? loaded.root : null
  return findRegistries(chosen, { home: machine.home, project }, registryPort(loaded.root, machine))
}
