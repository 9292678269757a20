/** Ed25519 keys and tokens as NATS writes them: a machine's own key is its login, and a token of the fleet's account what it may do. */

import { createHash } from 'node:crypto'
import { Fault } from '../../system/fault.ts'
import type { PublicKey, SigningKey } from '../../system/keys/signing-key.ts'

const PREFIX: Readonly<Record<NatsRole, number>> = { operator: 14 << 3, account: 0, user: 20 << 3 }

export type NatsRole = 'operator' | 'account' | 'user'

/** A public key in the writing of NATS: `U…` for a machine. */
export function natsName(role: NatsRole, key: PublicKey): string {
  const raw = Buffer.from(key.slice('ed25519:'.length), 'base64')
  const body = Buffer.concat([Buffer.from([PREFIX[role]]), raw])
  const sum = crc16(body)
  return base32(Buffer.concat([body, Buffer.from([sum & 0xff, sum >> 8])]))
}

/** What a token says beside whose it is. */
export interface NatsClaims {
  readonly name: string
  /** Whose token it is. */
  readonly subject: { readonly role: NatsRole; readonly key: PublicKey }
  readonly issuer: { readonly role: NatsRole; readonly key: SigningKey }
  readonly nats: Readonly<Record<string, unknown>>
  /** Seconds since 1970. */
  readonly issued: number
}

/** A token that servers accept when they know its issuer. */
export function natsToken({ name, subject, issuer, nats, issued }: NatsClaims): string {
  const claims = {
    jti: '',
    iat: issued,
    iss: natsName(issuer.role, issuer.key.publicKey),
    name,
    sub: natsName(subject.role, subject.key),
    nats: { ...nats, type: subject.role, version: 2 },
  }
  const jti = base32(createHash('sha512-256').update(JSON.stringify(claims)).digest())
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part({ ...claims, jti })}`
  return `${text}.${Buffer.from(issuer.key.sign(text), 'base64').toString('base64url')}`
}

/** What servers send as a challenge. With the same key asks and answers are signed: nothing that could be one of those is. */
const NONCE = /^[A-Za-z0-9_-]{8,64}$/

/** The answer to a server's challenge; throws for one that is none. */
export function natsLogin(
  key: SigningKey,
  token: string,
  nonce: string,
): { readonly jwt: string; readonly nkey: string; readonly sig: string } {
  if (!NONCE.test(nonce)) throw new Fault('fleet-unreachable', 'the NATS server’s challenge is not one')
  const sig = Buffer.from(key.sign(nonce), 'base64').toString('base64url')
  return { jwt: token, nkey: natsName('user', key.publicKey), sig }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function base32(bytes: Uint8Array): string {
  let [bits, value, text] = [0, 0, '']
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(value >> bits) & 31]
    }
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31] : text
}

/** CRC-16/XMODEM. */
function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff
  }
  return crc
}
