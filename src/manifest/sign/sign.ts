/** Signing and verifying manifests: the user's key, the signatures in the state directory, and those of teams (M3). */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../../system/fault.ts'
import type { KeyStore } from '../../system/keys/keychain.ts'
import { isSignedBy } from '../../system/keys/signing-key.ts'
import { withLock } from '../../system/lock.ts'
import { openOwnDirectory, readOwnFile, writeOwnFile, writeOwnJson } from '../../system/state.ts'
import {
  grantHash,
  keyId,
  makeSigningKey,
  type PublicKey,
  parseDetached,
  parsePublicKey,
  parseSigningKey,
  projectMessage,
  type SigningKey,
  teamMessage,
} from './signature.ts'
import { readSignatures, type SignatureRecord, signaturePath } from './signature-file.ts'
import type { TrustedKey } from './trusted-keys.ts'

export type { SignatureRecord } from './signature-file.ts'

/** Why a detached signature did not count. */
type DetachedProblem = 'untrusted-key' | 'other-grants' | 'other-project' | 'bad-signature' | 'unreadable'

/** Whether a manifest may take effect. Only `signed` may. */
export type ManifestTrust =
  | {
      readonly status: 'signed'
      readonly grantHash: string
      readonly by: 'user' | 'team'
      readonly keyId: string
      readonly comment: string
      readonly signedAt: string | null
    }
  | { readonly status: 'unsigned'; readonly grantHash: string; readonly detached: DetachedProblem | null }
  | {
      readonly status: 'changed'
      readonly grantHash: string
      /** The grants that were signed last, for the reach diff. */
      readonly signed: { readonly canonical: string; readonly grantHash: string; readonly signedAt: string }
      readonly detached: DetachedProblem | null
    }
  | { readonly status: 'bad'; readonly grantHash: string; readonly reason: string }

/** A project can have this many signed sets of grants; the oldest goes first. */
const MAX_SIGNATURES = 100
const KEY_NAME = 'signing-key'

export interface SigningPlaces {
  readonly stateDir: string
  readonly keys: KeyStore
}

/** The user's public key, or null before its creation. Does not touch the keychain. */
export function userPublicKey(stateDir: string): PublicKey | null {
  const path = join(openOwnDirectory(stateDir), `${KEY_NAME}.pub`)
  const bytes = readOwnFile(path)
  if (bytes === null) return null
  const key = parsePublicKey(new TextDecoder().decode(bytes).trim())
  if (key === null) {
    throw new Fault('state-corrupt', `${path} does not contain a public key`, {
      remedy: `Remove it, and sign your manifests again with \`cordon sign\`.`,
    })
  }
  return key
}

/** When the user's key was created; undefined before. */
export function userKeySince(stateDir: string): string | undefined {
  return statSync(join(stateDir, `${KEY_NAME}.pub`), { throwIfNoEntry: false })?.mtime.toISOString()
}

/** The user's key, created on first use. `warning` reports that the keychain could not store it. */
export function userSigningKey(places: SigningPlaces): { readonly key: SigningKey; readonly warning: string | null } {
  const stateDir = openOwnDirectory(places.stateDir)
  return withLock(join(stateDir, 'locks', KEY_NAME), () => {
    const known = userPublicKey(stateDir)
    const stored = places.keys.read(KEY_NAME)
    if (stored === null) {
      if (known !== null) throw keyGone(known)
      const created = makeSigningKey()
      const { warning } = places.keys.write(KEY_NAME, created.secret)
      writeOwnFile(join(stateDir, `${KEY_NAME}.pub`), `${created.key.publicKey}\n`)
      return { key: created.key, warning }
    }
    const key = parseSigningKey(stored.value)
    if (key === null) throw new Fault('bad-key', `the key kept in the ${stored.from} is damaged`)
    // A crash between the two writes of the first use leaves the key alone; its public half is written again.
    if (known === null) writeOwnFile(join(stateDir, `${KEY_NAME}.pub`), `${key.publicKey}\n`)
    else if (known !== key.publicKey)
      throw new Fault('bad-key', `the key in the ${stored.from} is not the one that signed before`)
    return { key, warning: null }
  })
}

// A locked keychain must not look like a first use: a new key would silently make every signature bad.
function keyGone(known: PublicKey): Fault {
  return new Fault('key-unavailable', `your signing key ${keyId(known)} cannot be read from the keychain`, {
    remedy: 'Unlock the keychain and try again; if the key is lost, run `cordon keys reset` and sign again.',
  })
}

/** Replaces the user's key: signatures of the old one no longer count. */
export function resetUserKey(places: SigningPlaces): { readonly warning: string | null } {
  const stateDir = openOwnDirectory(places.stateDir)
  return withLock(join(stateDir, 'locks', KEY_NAME), () => {
    places.keys.delete(KEY_NAME)
    const created = makeSigningKey()
    const { warning } = places.keys.write(KEY_NAME, created.secret)
    writeOwnFile(join(stateDir, `${KEY_NAME}.pub`), `${created.key.publicKey}\n`)
    return { warning }
  })
}

interface VerifyRequest {
  readonly stateDir: string
  /** The canonical project root. */
  readonly project: string
  /** The canonical text of the grants, with whatever else is part of the hash. */
  readonly canonical: string
  /** The text of `cordon.toml.sig`, if there is one. */
  readonly detached: string | null
  readonly trustedKeys: readonly TrustedKey[]
  /** The project's name wherever it lies; null without one, so no team can have signed for it. */
  readonly identity: string | null
}

/** Decides whether a manifest was signed. Reads the state directory, never the keychain. */
export function verifyManifest(request: VerifyRequest): ManifestTrust {
  const hash = grantHash(request.canonical)
  const stateDir = openOwnDirectory(request.stateDir)
  const { signatures } = readSignatures(stateDir, request.project)
  const own = signatures.findLast((record) => record.grant_hash === hash)
  const publicKey = own === undefined ? null : userPublicKey(stateDir)
  if (own !== undefined && publicKey !== null && isGood(own, publicKey, request.project)) {
    return {
      status: 'signed',
      grantHash: hash,
      by: 'user',
      keyId: keyId(publicKey),
      comment: '',
      signedAt: own.signed_at,
    }
  }
  const team = verifyDetached(request, hash)
  if ('key' in team) {
    const { id, comment } = team.key
    return { status: 'signed', grantHash: hash, by: 'team', keyId: id, comment, signedAt: null }
  }
  if (own !== undefined) {
    return { status: 'bad', grantHash: hash, reason: 'the signature in the state directory is not by your key' }
  }
  const last = lastSigned(stateDir, request.project, signatures)
  if (last === null) return { status: 'unsigned', grantHash: hash, detached: team.problem }
  const signed = { canonical: last.canonical, grantHash: last.grant_hash, signedAt: last.signed_at }
  return { status: 'changed', grantHash: hash, signed, detached: team.problem }
}

function isGood(record: SignatureRecord, key: PublicKey, project: string): boolean {
  return record.key === key && isSignedBy(key, projectMessage(project, record.grant_hash), record.signature)
}

function lastSigned(stateDir: string, project: string, signatures: readonly SignatureRecord[]): SignatureRecord | null {
  if (signatures.length === 0) return null
  const key = userPublicKey(stateDir)
  const good = (record: SignatureRecord) =>
    key !== null && isGood(record, key, project) && grantHash(record.canonical) === record.grant_hash
  return signatures.findLast(good) ?? null
}

function verifyDetached(
  { detached, identity, trustedKeys }: VerifyRequest,
  hash: string,
): { readonly key: TrustedKey } | { readonly problem: DetachedProblem | null } {
  if (detached === null) return { problem: null }
  const signatures = parseDetached(detached)
  if (signatures.length === 0) return { problem: 'unreadable' }
  let problem: DetachedProblem = 'untrusted-key'
  for (const { key, grantHash: signedHash, identity: signedFor, signature } of signatures) {
    const known = trustedKeys.find((candidate) => candidate.key === key)
    if (known === undefined) continue
    if (signedHash !== hash) problem = 'other-grants'
    else if (identity === null || signedFor !== identity) problem = 'other-project'
    else if (isSignedBy(key, teamMessage(identity, hash), signature)) return { key: known }
    else problem = 'bad-signature'
  }
  return { problem }
}

interface SignRequest extends SigningPlaces {
  readonly project: string
  readonly canonical: string
  /** ISO time. */
  readonly now: string
}

/** Signs these grants for this project. The caller has shown the reach diff and heard a yes. */
export function signManifest(request: SignRequest): {
  readonly record: SignatureRecord
  readonly warning: string | null
} {
  const { key, warning } = userSigningKey(request)
  const stateDir = openOwnDirectory(request.stateDir)
  const hash = grantHash(request.canonical)
  const record: SignatureRecord = {
    grant_hash: hash,
    signed_at: request.now,
    key: key.publicKey,
    signature: key.sign(projectMessage(request.project, hash)),
    canonical: request.canonical,
  }
  updateSignatures(stateDir, request.project, (before) =>
    [...before.filter((other) => other.grant_hash !== hash), record].slice(-MAX_SIGNATURES),
  )
  return { record, warning }
}

function updateSignatures(
  stateDir: string,
  project: string,
  change: (before: readonly SignatureRecord[]) => readonly SignatureRecord[],
): void {
  withLock(join(stateDir, 'locks', 'signatures'), () => {
    const before = readSignatures(stateDir, project)
    writeOwnJson(signaturePath(stateDir, project), { ...before, signatures: change(before.signatures) })
  })
}
