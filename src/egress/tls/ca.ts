/**
 * The session's certificate authority: created at start, never written to disk here, discarded with
 * the session.
 */

import { constants, randomBytes } from 'node:crypto'
import { createSecureContext, DEFAULT_CIPHERS, type SecureContext } from 'node:tls'
import { createKeyPair, type Issuer, signAuthority, signLeaf, toPem } from './certificate.ts'

export interface SessionCa {
  /** The certificate for the sandbox's trust stores. The key never leaves this object. */
  readonly pem: string
  readonly der: Buffer
  /** A server context for a canonical host, signed on first use and cached. */
  contextFor(host: string): SecureContext
}

const DAY = 24 * 60 * 60 * 1000
/** Clocks in containers and virtual machines may be slow. */
const BACKDATED = DAY
const LIFETIME = 30 * DAY
const MAX_CONTEXTS = 1024
/**
 * This connection stays on the machine: post-quantum groups would cost a third of the handshake
 * without benefit.
 */
const CURVES = 'X25519:P-256:P-384'
/** Nor are 256-bit keys needed; processors accelerate SHA-256, which comes with 128. */
const CIPHERS = `TLS_AES_128_GCM_SHA256:${DEFAULT_CIPHERS}`

export function createSessionCa(now: Date = new Date()): SessionCa {
  // A unique name, so that a trust store with an earlier session's CA does not confuse the keys.
  const issuer: Issuer = { name: `Cordon session ${randomBytes(6).toString('hex')}`, keys: createKeyPair() }
  const leafKeys = createKeyPair()
  const validity = { from: new Date(now.getTime() - BACKDATED), until: new Date(now.getTime() + LIFETIME) }
  const der = signAuthority(issuer, validity)
  const key = leafKeys.privateKey.export({ type: 'pkcs8', format: 'pem' })
  const contexts = new Map<string, SecureContext>()

  function contextFor(host: string): SecureContext {
    const known = contexts.get(host)
    if (known) return known
    if (contexts.size >= MAX_CONTEXTS) contexts.delete(contexts.keys().next().value!)
    const cert = toPem(signLeaf(issuer, host, leafKeys.spki, validity))
    const context = createSecureContext({
      key,
      cert,
      minVersion: 'TLSv1.2',
      ecdhCurve: CURVES,
      ciphers: CIPHERS,
      secureOptions: constants.SSL_OP_CIPHER_SERVER_PREFERENCE,
    })
    contexts.set(host, context)
    return context
  }

  return { pem: toPem(der), der, contextFor }
}
