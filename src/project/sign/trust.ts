/** Whether a project's manifest may take effect (M3): verify it, show what it would open, sign it. */

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
import { noteRegistries, registryPort } from '../registries/drift.ts'
import { claimedText, registriesOf, sealVerified, signedText } from './seal.ts'

const MAX_CONFIG = 256 * 1024
const USUAL_PORTS: ReadonlySet<string> = new Set(['', '22', '80', '443', '9418'])

/**
 * The identity, such as `github.com/acme/shop` or `github.com/acme/shop#packages/web`; null where the project is in no repository
 * with one origin. It is read from the repository's own configuration, which a clone writes and no commit can bring.
 */
export function projectIdentity(root: string, files: Files): string | null {
  for (let top = root; ; top = posix.dirname(top)) {
    if (files.exists(posix.join(top, '.git'))) {
      const origin = originOf(top, files)
      const inside = posix.relative(top, root)
      return origin === null || inside === '' ? origin : `${origin}#${inside}`
    }
    if (top === posix.dirname(top)) return null
  }
}

function originOf(top: string, files: Files): string | null {
  const directory = gitDirectory(posix.join(top, '.git'), files)
  const text = directory === null ? null : read(posix.join(directory, 'config'), files)
  const entries = text === null ? null : parseGitConfig(text)
  const urls = entries?.filter(({ key }) => key === 'remote.origin.url').map(({ value }) => value.trim()) ?? []
  return urls.length === 1 ? repositoryName(urls[0]!) : null
}

/** A worktree and a submodule have a file instead of the directory, and a worktree's configuration is the main one's. */
function gitDirectory(path: string, files: Files): string | null {
  if (files.isDirectory(path)) return path
  const named = /^gitdir: (.+)$/m.exec(read(path, files) ?? '')?.[1]?.trim()
  if (named === undefined) return null
  const directory = posix.resolve(posix.dirname(path), named)
  const common = read(posix.join(directory, 'commondir'), files)?.trim()
  return common === undefined ? directory : posix.resolve(directory, common)
}

function read(path: string, files: Files): string | null {
  try {
    return files.exists(path) ? files.readText(path, MAX_CONFIG) : null
  } catch {
    return null
  }
}

/** One name for every spelling of an address: `git@host:a/b.git`, `https://host/a/b`, `ssh://git@host/a/b/`. */
export function repositoryName(url: string): string | null {
  const address = /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/]*@)?([^/:]+)(?::(\d*))?\/(.+)$/i.exec(url)
  const short = address ? null : /^(?:[^@/:]+@)?([^/:@]{2,}):(?!\/\/)(.+)$/.exec(url)
  const [host, port, path] = address
    ? [address[1]!, address[2] ?? '', address[3]!]
    : short
      ? [short[1]!, '', short[2]!]
      : ['', '', url]
  if (host === '' && !path.startsWith('/')) return null
  const name = path.replace(/\/+$/, '').replace(/\.git$/, '')
  const bare = host === '' ? name : name.replace(/^\/+/, '')
  if (bare === '' || bare.split('/').includes('..')) return null
  return host === '' ? bare : `${host.toLowerCase()}${USUAL_PORTS.has(port) ? '' : `:${port}`}/${bare}`
}

export type { ReachDiff } from '../../manifest/sign/reach-diff.ts'
export type { ManifestTrust } from '../../manifest/sign/sign.ts'

export interface TrustReport {
  readonly trust: ManifestTrust
  /** What the manifest opens and closes against what was signed last. */
  readonly diff: ReachDiff
  /** Registries of the bundles as they were when the manifest was signed (O5); none for one that is not. */
  readonly registries: RegistryFacts
}

/** What a verification of the project's manifest needs beside the text. */
export type TrustRequest = Omit<Parameters<typeof verifyManifest>[0], 'canonical'>

/** Reads what the verification of a project's manifest needs. */
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

/** Judges the project's manifest; null when the project has none, and built-in defaults hold. */
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
 * A working tree is the project that it was made from: the same grants count as signed there. Both ends of the link between the two
 * must agree, and one of them lies in the main repository, so that a folder cannot make itself a working tree of a signed project.
 */
function verifiedInMain(canonical: string, request: TrustRequest): ReturnType<typeof verified> | null {
  const [shared] = worktreeDirectories(request.project)
  if (shared === undefined || posix.basename(shared) !== '.git') return null
  const found = verified(canonical, { ...request, project: posix.dirname(shared) }, () => {})
  return found.trust.status === 'signed' ? found : null
}

/**
 * The registries that were signed are part of the signed text itself: they are taken from there, and verified with it. Mostly the
 * newest signature is the one; a team signs without registries, which are a matter of each machine.
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
    // What the newest signature claims must be what was verified: another one of the same hash would do for that, too.
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

/** Signs the project's manifest as it is now. The person has seen the diff and said yes. */
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

/** The text of a `cordon.toml.sig` by the user's key, for those who trust it: without the registries of this machine. */
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
 * Asks the tools of the chosen bundles for their registries, and for a signature the project's own files; those of `programs` only, when they
 * are given: then no one signs, and no file of the project has a say.
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
