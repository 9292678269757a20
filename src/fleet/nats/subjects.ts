/** The subjects of a fleet on its NATS servers, the rights to them, and logins. */

import { createHash } from 'node:crypto'
import { Fault } from '../../system/fault.ts'
import { keyId, type PublicKey, type SigningKey } from '../../system/keys/signing-key.ts'
import type { Role } from '../identity.ts'

export interface FleetSubjects {
  /** The key-value bucket of the policy, its stream, and the one subject in it. */
  readonly bucket: string
  readonly policyStream: string
  readonly policy: string
  /** The people who signed in, and the break-glass openings that a key signed last. */
  readonly people: string
  readonly openings: (approver: string) => string
  readonly healthStream: string
  readonly health: (machine: string) => string
  readonly recordStream: string
  readonly records: (machine: string, session: string) => string
  readonly askStream: string
  readonly ask: (machine: string, ask: string) => string
  readonly answerStream: string
  /** One subject for each approver, so that nobody answers twice or for another. */
  readonly answer: (machine: string, ask: string, approver: string) => string
}

/** The subjects of a fleet; `*` matches any one part. */
export function fleetSubjects(fleet: string): FleetSubjects {
  const upper = `CORDON_${fleet.toUpperCase().replaceAll('-', '_')}`
  const bucket = `${upper}_POLICY`
  return {
    bucket,
    policyStream: `KV_${bucket}`,
    policy: `$KV.${bucket}.policy`,
    people: `$KV.${bucket}.people`,
    openings: (approver) => `$KV.${bucket}.openings.${approver}`,
    healthStream: `${upper}_HEALTH`,
    health: (machine) => `cordon.${fleet}.health.${machine}`,
    recordStream: `${upper}_RECORDS`,
    records: (machine, session) => `cordon.${fleet}.records.${machine}.${session}`,
    askStream: `${upper}_ASKS`,
    ask: (machine, ask) => `cordon.${fleet}.asks.${machine}.${ask}`,
    answerStream: `${upper}_ANSWERS`,
    answer: (machine, ask, approver) => `cordon.${fleet}.answers.${machine}.${ask}.${approver}`,
  }
}

/** A text as one part of a subject: as it is where it can be, else by its hash. */
export function subjectPart(text: string): string {
  return /^[A-Za-z0-9_-]{1,80}$/.test(text) ? text : createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** The subject of replies to a client's own requests: nobody else may subscribe there. */
export function inboxOf(machine: PublicKey): string {
  return `_INBOX_${keyId(machine)}`
}

interface NatsPermissions {
  readonly pub: { readonly allow: readonly string[] }
  readonly sub: { readonly allow: readonly string[] }
}

/**
 * The rights of a role on the servers. A machine writes its own records and asks and reads the
 * policy and its own answers; an approver also reads asks and writes answers under its own name; an
 * admin keeps the streams.
 */
export function permissionsOf(fleet: string, machine: PublicKey, role: Role): NatsPermissions {
  const names = fleetSubjects(fleet)
  const id = keyId(machine)
  const direct = (stream: string, subject: string): string => `$JS.API.DIRECT.GET.${stream}.${subject}`
  const own = {
    pub: [
      names.records(id, '*'),
      names.ask(id, '*'),
      names.health(id),
      direct(names.policyStream, names.policy),
      direct(names.policyStream, names.people),
      direct(names.policyStream, names.openings('*')),
      direct(names.answerStream, names.answer(id, '*', '*')),
      // Its own records, by a consumer with its own name, whose filter is part of the subject.
      `$JS.API.CONSUMER.CREATE.${names.recordStream}.${id}.${names.records(id, '*')}`,
      ...['INFO', 'DELETE', 'MSG.NEXT'].map((verb) => `$JS.API.CONSUMER.${verb}.${names.recordStream}.${id}`),
    ],
    sub: [`${inboxOf(machine)}.>`, names.answer(id, '*', '*')],
  }
  if (role === 'machine') return { pub: { allow: own.pub }, sub: { allow: own.sub } }
  const approver = {
    pub: [
      ...own.pub,
      names.answer('*', '*', id),
      names.openings(id),
      direct(names.askStream, names.ask('*', '*')),
      direct(names.answerStream, names.answer('*', '*', '*')),
      `$JS.API.STREAM.INFO.${names.askStream}`,
      `$JS.API.STREAM.INFO.${names.answerStream}`,
    ],
    sub: [...own.sub, names.ask('*', '*')],
  }
  if (role === 'approver') return { pub: { allow: approver.pub }, sub: { allow: approver.sub } }
  return {
    // Answers of others as well: the desk hands in what programs bring, signed by the process that gave it.
    pub: {
      allow: [
        ...approver.pub,
        names.policy,
        names.people,
        names.answer('*', '*', '*'),
        '$JS.API.>',
        '$JS.ACK.>',
        '$JS.FC.>',
      ],
    },
    sub: { allow: [...approver.sub, names.records('*', '*'), names.health('*')] },
  }
}

/**
 * Ed25519 keys and tokens in NATS form: a machine's own key is its login, and a token of the
 * fleet's account grants its rights.
 */
const PREFIX: Readonly<Record<NatsRole, number>> = { operator: 14 << 3, account: 0, user: 20 << 3 }

type NatsRole = 'operator' | 'account' | 'user'

/** A public key in the writing of NATS: `U…` for a machine. */
export function natsName(role: NatsRole, key: PublicKey): string {
  const raw = Buffer.from(key.slice('ed25519:'.length), 'base64')
  const body = Buffer.concat([Buffer.from([PREFIX[role]]), raw])
  const sum = crc16(body)
  return base32(Buffer.concat([body, Buffer.from([sum & 0xff, sum >> 8])]))
}

/** The claims of a token besides its key. */
interface NatsClaims {
  readonly name: string
  /** The key that the token is for. */
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

/** The answer to a server's challenge; throws for an invalid one. */
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
