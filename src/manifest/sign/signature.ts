/**
 * What is signed and how: the grant hash of a manifest, ed25519 keys, signatures of people and
 * teams.
 */

import { createHash } from 'node:crypto'
import { attempt } from '../../system/fault.ts'
import { type PublicKey, parsePublicKey, type SigningKey } from '../../system/keys/signing-key.ts'

export {
  keyId,
  makeSigningKey,
  type PublicKey,
  parsePublicKey,
  parseSigningKey,
  type SigningKey,
} from '../../system/keys/signing-key.ts'

/** Comments, order and unset defaults are already gone from the canonical text (`canonical.ts`). */
export function grantHash(canonical: string): string {
  return createHash('sha256').update('cordon-grants-v1\0').update(canonical).digest('hex')
}

/** The message a person signs: this project may have these grants. */
export function projectMessage(project: string, hash: string): string {
  return `cordon-project-signature-v1\0${project}\0${hash}`
}

/** The message a team signs: those that trust our key may have these grants in this project. */
export function teamMessage(identity: string, hash: string): string {
  return `cordon-team-signature-v2\0${identity}\0${hash}`
}

/** A detached signature, as in `cordon.toml.sig`. */
interface DetachedSignature {
  readonly key: PublicKey
  readonly grantHash: string
  /** The project it was created for, wherever that lies; null if unreadable. */
  readonly identity: string | null
  readonly signature: string
}

const MAX_DETACHED = 16_384

/** The signatures in a `cordon.toml.sig`: one a line, skipping the rest. The text is untrusted. */
export function parseDetached(text: string): readonly DetachedSignature[] {
  if (text.length > MAX_DETACHED) return []
  return text.split('\n').flatMap((line) => {
    const [word, key, hash, identity, signature, ...more] = line.trim().split(/\s+/)
    const publicKey = parsePublicKey(key ?? '')
    const wellFormed = word === 'cordon-sig-v2' && more.length === 0 && /^[0-9a-f]{64}$/.test(hash ?? '')
    return wellFormed && publicKey !== null && signature !== undefined
      ? [{ key: publicKey, grantHash: hash!, identity: decoded(identity!), signature }]
      : []
  })
}

function decoded(text: string): string | null {
  return attempt(() => decodeURIComponent(text), null)
}

/** The line of a `cordon.toml.sig`, for the project of this identity. */
export function printDetached(key: SigningKey, identity: string, hash: string): string {
  const signature = key.sign(teamMessage(identity, hash))
  return `cordon-sig-v2 ${key.publicKey} ${hash} ${encodeURIComponent(identity)} ${signature}\n`
}
