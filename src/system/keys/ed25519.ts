/** Ed25519 signatures by keys as Cordon writes them: `ed25519:` and the raw public key in base64. */

import { createPublicKey, verify } from 'node:crypto'

/** Whether the key signed the message. False for anything malformed. */
export function isSignedBy(key: string, message: string, signature: string): boolean {
  if (!/^[A-Za-z0-9+/]{86}==$/.test(signature)) return false
  // Half a character is written as another one, so that two texts would have one signature.
  if (!message.isWellFormed()) return false
  try {
    const x = Buffer.from(key.slice('ed25519:'.length), 'base64').toString('base64url')
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return verify(null, Buffer.from(message), publicKey, Buffer.from(signature, 'base64'))
  } catch {
    return false
  }
}
