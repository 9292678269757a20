/** Ed25519 keys: create, store, read and name them, and verify signatures. */

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'

/** `ed25519:` and the raw public key in base64. */
export type PublicKey = `ed25519:${string}`

export interface SigningKey {
  readonly publicKey: PublicKey
  readonly sign: (message: string) => string
}

/** A key's short name. */
export function keyId(key: PublicKey): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 16)
}

/** Creates a key; `secret` is its stored form. */
export function makeSigningKey(): { readonly key: SigningKey; readonly secret: string } {
  const { privateKey } = generateKeyPairSync('ed25519')
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
  return { key: signingKey(privateKey), secret }
}

/** Reads a stored key; null if invalid. */
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

/** Reads a public key in any common base64 form; null if invalid. */
export function parsePublicKey(text: string): PublicKey | null {
  const match = /^ed25519:([A-Za-z0-9+/_-]{43})=?$/.exec(text)
  if (match === null) return null
  const raw = Buffer.from(match[1]!, 'base64url')
  return raw.length === 32 ? `ed25519:${raw.toString('base64')}` : null
}

/** Whether the key signed the message. False for malformed input. */
export function isSignedBy(key: string, message: string, signature: string): boolean {
  if (!/^[A-Za-z0-9+/]{86}==$/.test(signature)) return false
  // Lone surrogates encode alike, so two texts would share a signature.
  if (!message.isWellFormed()) return false
  try {
    const x = Buffer.from(key.slice('ed25519:'.length), 'base64').toString('base64url')
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return verify(null, Buffer.from(message), publicKey, Buffer.from(signature, 'base64'))
  } catch {
    return false
  }
}
