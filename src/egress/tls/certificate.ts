/**
 * X.509 certificates: creates a session authority and its leaves in DER, and signs them with
 * node:crypto alone.
 */

import { constants, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { createSecureContext, DEFAULT_CIPHERS, type SecureContext } from 'node:tls'
import { parseIpv4, parseIpv6 } from '../../hosts/address.ts'
import {
  bits,
  boolean,
  der,
  explicit,
  implicit,
  integer,
  objectId,
  octets,
  sequence,
  setOf,
  time,
  utf8,
} from './der.ts'

export interface KeyPair {
  readonly privateKey: KeyObject
  /** In its certificate encoding. */
  readonly spki: Buffer
}

export interface Validity {
  readonly from: Date
  readonly until: Date
}

/** A leaf's facts about its issuer. */
export interface Issuer {
  readonly name: string
  readonly keys: KeyPair
}

const ECDSA_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'))
const COMMON_NAME = objectId('2.5.4.3')
const ORGANISATION = objectId('2.5.4.10')
const MAX_COMMON_NAME = 64

const EXTENSION = {
  subjectKeyId: objectId('2.5.29.14'),
  keyUsage: objectId('2.5.29.15'),
  subjectAltName: objectId('2.5.29.17'),
  basicConstraints: objectId('2.5.29.19'),
  authorityKeyId: objectId('2.5.29.35'),
  extendedKeyUsage: objectId('2.5.29.37'),
} as const

const SERVER_AUTH = objectId('1.3.6.1.5.5.7.3.1')
const CERT_SIGN_AND_CRL_SIGN = bits(Buffer.from([0x06]), 1)
const DIGITAL_SIGNATURE = bits(Buffer.from([0x80]), 7)

export function createKeyPair(): KeyPair {
  // Generated with the encoding: exporting the public key later takes as long as generating it.
  const options = { namedCurve: 'P-256', publicKeyEncoding: { type: 'spki', format: 'der' } } as const
  const { privateKey, publicKey } = generateKeyPairSync('ec', options) as unknown as {
    readonly privateKey: KeyObject
    readonly publicKey: Buffer
  }
  return { privateKey, spki: publicKey }
}

/** A self-signed authority that may sign leaves and no further authorities. */
export function signAuthority(issuer: Issuer, validity: Validity): Buffer {
  const id = keyId(issuer.keys.spki)
  return signCertificate(issuer, issuer.name, issuer.keys.spki, validity, [
    extension(EXTENSION.basicConstraints, true, sequence(boolean(true), integer(0))),
    extension(EXTENSION.keyUsage, true, CERT_SIGN_AND_CRL_SIGN),
    extension(EXTENSION.subjectKeyId, false, octets(id)),
    extension(EXTENSION.authorityKeyId, false, sequence(implicit(0, id))),
  ])
}

/** A server certificate for one canonical host: a name or an address. */
export function signLeaf(issuer: Issuer, host: string, spki: Buffer, validity: Validity): Buffer {
  // Long names exceed a common name's limit; clients only read the alternative name.
  const subject = host.length <= MAX_COMMON_NAME ? host : 'cordon leaf'
  return signCertificate(issuer, subject, spki, validity, [
    extension(EXTENSION.basicConstraints, true, sequence()),
    extension(EXTENSION.keyUsage, true, DIGITAL_SIGNATURE),
    extension(EXTENSION.extendedKeyUsage, false, sequence(SERVER_AUTH)),
    extension(EXTENSION.subjectAltName, false, sequence(alternativeName(host))),
    extension(EXTENSION.subjectKeyId, false, octets(keyId(spki))),
    extension(EXTENSION.authorityKeyId, false, sequence(implicit(0, keyId(issuer.keys.spki)))),
  ])
}

export function toPem(certificate: Buffer): string {
  const text = certificate.toString('base64')
  let lines = ''
  for (let at = 0; at < text.length; at += 64) lines += `${text.slice(at, at + 64)}\n`
  return `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`
}

/** The DER bytes of every certificate in a PEM text. */
export function fromPem(pem: string): Buffer[] {
  const blocks = pem.matchAll(/-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g)
  return Array.from(blocks, (block) => Buffer.from(block[1]!, 'base64'))
}

function signCertificate(
  issuer: Issuer,
  subject: string,
  spki: Buffer,
  validity: Validity,
  extensions: readonly Buffer[],
): Buffer {
  const body = sequence(
    explicit(0, integer(2)),
    serialNumber(),
    ECDSA_SHA256,
    distinguishedName(issuer.name),
    sequence(time(validity.from), time(validity.until)),
    distinguishedName(subject),
    spki,
    explicit(3, sequence(...extensions)),
  )
  return sequence(body, ECDSA_SHA256, bits(sign('sha256', body, issuer.keys.privateKey)))
}

function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0]! & 0x7f) | 0x40
  return integer(bytes)
}

function distinguishedName(commonName: string): Buffer {
  return sequence(setOf(sequence(ORGANISATION, utf8('Cordon'))), setOf(sequence(COMMON_NAME, utf8(commonName))))
}

function extension(id: Buffer, critical: boolean, value: Buffer): Buffer {
  return critical ? sequence(id, boolean(true), octets(value)) : sequence(id, octets(value))
}

function alternativeName(host: string): Buffer {
  // Not `isIP` of node:net: compiling its expression takes 6 ms at start.
  if (parseIpv4(host) !== null) return der(0x87, Buffer.from(host.split('.').map(Number)))
  const groups = parseIpv6(host)
  if (groups !== null) return der(0x87, Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff])))
  return der(0x82, Buffer.from(host, 'latin1'))
}

/** The key identifier of RFC 5280, 4.2.1.2: a unique value, here the end of the public point. */
function keyId(spki: Buffer): Buffer {
  return spki.subarray(-20)
}

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
