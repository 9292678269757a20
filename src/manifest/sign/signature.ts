/** What is signed and how: the grant hash of a manifest, ed25519 keys, and the signatures of people and teams. */

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** `ed25519:` and the raw public key in base64. */
export type PublicKey = `ed25519:${string}`

/** A key that can sign. */
export interface SigningKey {
  readonly publicKey: PublicKey
  readonly sign: (message: string) => string
}

/** Comments, order and unset defaults are already gone from the canonical text (`canonical.ts`). */
export function grantHash(canonical: string): string {
  return createHash('sha256').update('cordon-grants-v1\0').update(canonical).digest('hex')
}

/** What a person signs: this project may have these grants. */
export function projectMessage(project: string, hash: string): string {
  return `cordon-project-signature-v1\0${project}\0${hash}`
}

/** What a team signs: whoever trusts our key may have these grants in this project, wherever it lies. */
export function teamMessage(identity: string, hash: string): string {
  return `cordon-team-signature-v2\0${identity}\0${hash}`
}

/** The short name of a key. */
export function keyId(key: PublicKey): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 16)
}

/** Makes a key; `secret` is what the keychain keeps. */
export function makeSigningKey(): { readonly key: SigningKey; readonly secret: string } {
  const { privateKey } = generateKeyPairSync('ed25519')
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
  return { key: signingKey(privateKey), secret }
}

/** The key that was kept; null when the text is none. */
export function parseSigningKey(secret: string): SigningKey | null {
  try {
    const key = createPrivateKey({ key: Buffer.from(secret, 'base64'), format: 'der', type: 'pkcs8' })
    return key.asymmetricKeyType === 'ed25519' ? signingKey(key) : null
  } catch {
    return null
  }
}

function signingKey(privateKey: KeyObject): SigningKey {
  const raw = createPublicKey(privateKey).export({ format: 'jwk' }).x!
  return {
    publicKey: `ed25519:${Buffer.from(raw, 'base64url').toString('base64')}`,
    sign: (message) => sign(null, Buffer.from(message), privateKey).toString('base64'),
  }
}

/** Reads a public key in any usual writing of its base64; null when it is none. */
export function parsePublicKey(text: string): PublicKey | null {
  const match = /^ed25519:([A-Za-z0-9+/_-]{43})=?$/.exec(text)
  if (match === null) return null
  const raw = Buffer.from(match[1]!, 'base64url')
  return raw.length === 32 ? `ed25519:${raw.toString('base64')}` : null
}

/** A detached signature, as `cordon.toml.sig` holds it. */
export interface DetachedSignature {
  readonly key: PublicKey
  readonly grantHash: string
  /** The project it was made for, wherever that lies; null when it cannot be read. */
  readonly identity: string | null
  readonly signature: string
}

const MAX_DETACHED = 16_384

/** The signatures in the text of a `cordon.toml.sig`: one a line, others and comments skipped. It may come from anybody. */
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
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** The line of a `cordon.toml.sig`, for the project of this identity. */
export function printDetached(key: SigningKey, identity: string, hash: string): string {
  const signature = key.sign(teamMessage(identity, hash))
  return `cordon-sig-v2 ${key.publicKey} ${hash} ${encodeURIComponent(identity)} ${signature}\n`
}
