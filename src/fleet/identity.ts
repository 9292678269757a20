/** The identity of a machine: one key, created here and never sent, its certificate and invites. */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { Fault } from '../system/fault.ts'
import type { KeyStore } from '../system/keys/keychain.ts'
import {
  isSignedBy,
  makeSigningKey,
  type PublicKey,
  parseSigningKey,
  type SigningKey,
} from '../system/keys/signing-key.ts'
import { OwnList } from '../system/own-list.ts'
import { readOwnJson, writeOwnJson } from '../system/state.ts'
import type { FleetSettings } from './settings.ts'

/** The rights of an enrolled machine: be guarded, answer asks of others, or publish and enrol. */
export type Role = 'machine' | 'approver' | 'admin'

export interface Enrolment {
  readonly fleet: string
  readonly machine: PublicKey
  readonly name: string
  readonly role: Role
  readonly groups: readonly string[]
  readonly issued: string
  /** The token that identifies this key to NATS servers; null in fleets without them. */
  readonly nats: string | null
}

/** An enrolment with the signature of one of the team's keys. */
export interface Certificate {
  readonly payload: string
  readonly key: PublicKey
  readonly signature: string
}

const KEY_NAME = 'fleet-machine-key'

function certificateMessage(payload: string): string {
  return `cordon-fleet-enrolment-v1\0${payload}`
}

/** Enrols a machine. */
export function signEnrolment(enrolment: Enrolment, key: SigningKey): Certificate {
  const payload = JSON.stringify(enrolment)
  return { payload, key: key.publicKey, signature: key.sign(certificateMessage(payload)) }
}

/** The keys of a team, and the fleet whose certificates count; null for any, where only the keys are known. */
export interface FleetTeam {
  readonly fleet: string | null
  readonly keys: readonly PublicKey[]
}

/** The enrolment that a certificate vouches for; null unless it is by a key of the team that still counts, and for this fleet. */
export function verifyCertificate(
  certificate: unknown,
  { fleet, keys }: FleetTeam,
  revoked: readonly PublicKey[] = [],
): Enrolment | null {
  const { payload, key, signature } = (certificate ?? {}) as Partial<Certificate>
  if (typeof payload !== 'string' || typeof key !== 'string' || typeof signature !== 'string') return null
  if (!keys.includes(key) || revoked.includes(key)) return null
  if (!isSignedBy(key, certificateMessage(payload), signature)) return null
  const enrolment = JSON.parse(payload) as Enrolment
  return (fleet ?? enrolment.fleet) === enrolment.fleet && !revoked.includes(enrolment.machine) ? enrolment : null
}

/** A text of an enrolled machine: signed by its key, with its certificate. */
export interface MachineText {
  readonly payload: string
  readonly signature: string
  readonly certificate: Certificate
}

/** The kinds of texts that machines sign; each signature is for one kind. */
type TextKind = 'ask-v2' | 'health-v1'

export function machineMessage(kind: TextKind, payload: string): string {
  return `cordon-fleet-${kind}\0${payload}`
}

export function signMachineText(kind: TextKind, value: object, key: SigningKey, certificate: Certificate): MachineText {
  const payload = JSON.stringify(value)
  return { payload, signature: key.sign(machineMessage(kind, payload)), certificate }
}

/** The value of a machine's text; null unless the machine is enrolled, signed it, and is named in it. */
export function verifyMachineText<T extends { readonly fleet: string; readonly machine: PublicKey }>(
  kind: TextKind,
  text: string,
  team: FleetTeam,
  revoked: readonly PublicKey[],
): { readonly value: T; readonly signed: MachineText; readonly enrolment: Enrolment } | null {
  const signed = parseObject<MachineText>(text)
  if (typeof signed?.payload !== 'string' || typeof signed.signature !== 'string') return null
  const enrolment = verifyCertificate(signed.certificate, team, revoked)
  if (enrolment === null || !isSignedBy(enrolment.machine, machineMessage(kind, signed.payload), signed.signature))
    return null
  const value = parseObject<T>(signed.payload)
  if (value?.fleet !== enrolment.fleet || value.machine !== enrolment.machine) return null
  return { value, signed, enrolment }
}

/** An object as JSON; null for anything else. */
export function parseObject<T>(text: string): T | null {
  try {
    const value = JSON.parse(text) as T
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/**
 * The word of an enrolled machine for the key that signs its record: with it a receiver that knows
 * the team's keys needs none of each machine.
 */
export interface Voucher {
  readonly certificate: Certificate
  readonly signature: string
}

function voucherMessage(recordKey: PublicKey): string {
  return `cordon-fleet-record-key-v1\0${recordKey}`
}

export function vouchFor(recordKey: PublicKey, certificate: Certificate, key: SigningKey): Voucher {
  return { certificate, signature: key.sign(voucherMessage(recordKey)) }
}

/** The machine that vouches for a key of a record; null unless the team vouches for the machine. */
export function voucherOf(voucher: unknown, recordKey: string, team: FleetTeam): PublicKey | null {
  const { certificate, signature } = (voucher ?? {}) as Partial<Voucher>
  const machine = verifyCertificate(certificate, team)?.machine
  if (machine === undefined || typeof signature !== 'string') return null
  return isSignedBy(machine, voucherMessage(recordKey as PublicKey), signature) ? machine : null
}

/** The key of this machine, created on first use; `secret` is for a NATS client. */
export function machineKey(keys: KeyStore): { readonly key: SigningKey; readonly secret: string } {
  const stored = keys.read(KEY_NAME)
  if (stored !== null) {
    const key = parseSigningKey(stored.value)
    if (key === null) throw new Fault('bad-key', `the key of this machine in the ${stored.from} is damaged`)
    return { key, secret: stored.value }
  }
  const created = makeSigningKey()
  keys.write(KEY_NAME, created.secret)
  return created
}

/**
 * The enrolment of this machine; null without one. An invalid one is a fault: without its groups
 * the machine would escape their rules.
 */
export function readEnrolment(fleetDirectory: string, settings: FleetSettings): Enrolment | null {
  const certificate = readCertificate(fleetDirectory)
  if (certificate === null) return null
  const enrolment = verifyCertificate(certificate, settings)
  if (enrolment !== null) return enrolment
  throw new Fault('fleet-policy', `the certificate of this machine is not by a key of the fleet "${settings.fleet}"`, {
    remedy: 'Join again with a code of the team: cordon fleet join URL CODE.',
  })
}

/** The stored certificate, to show it to others. */
export function readCertificate(fleetDirectory: string): Certificate | null {
  return readOwnJson(certificatePath(fleetDirectory), isCertificate)
}

export function writeCertificate(fleetDirectory: string, certificate: Certificate): void {
  writeOwnJson(certificatePath(fleetDirectory), certificate)
}

function certificatePath(directory: string): string {
  return join(directory, 'certificate.json')
}

function isCertificate(value: unknown): value is Certificate {
  const one = value as Partial<Certificate> | null
  return typeof one?.payload === 'string' && typeof one.key === 'string' && typeof one.signature === 'string'
}

/** The role and groups of an enrolment. */
export interface Invite {
  readonly id: string
  readonly secret: string
  readonly role: Role
  readonly groups: readonly string[]
  readonly expires: number
}

/** Makes a code. */
export function makeInvite(
  teamDirectory: string,
  invite: Pick<Invite, 'role' | 'groups' | 'expires'>,
): { readonly code: string } {
  const id = randomBytes(4).toString('hex')
  const secret = randomBytes(16).toString('hex')
  INVITES.change(teamDirectory, (invites) => [...invites, { ...invite, id, secret }])
  return { code: `${id}-${secret}` }
}

/** The parts of a code; null when it is not. */
export function parseCode(code: string): { readonly id: string; readonly secret: string } | null {
  const match = /^([0-9a-f]{8})-([0-9a-f]{32})$/.exec(code.trim())
  return match && { id: match[1]!, secret: match[2]! }
}

/** Proves that the process that sends a text has the code. */
export function codeProof(secret: string, purpose: 'join' | 'joined', text: string): string {
  return createHmac('sha256', Buffer.from(secret, 'hex')).update(`cordon-fleet-${purpose}-v1\0${text}`).digest('hex')
}

export function isProof(given: unknown, wanted: string): boolean {
  if (typeof given !== 'string' || given.length !== wanted.length) return false
  return timingSafeEqual(Buffer.from(given), Buffer.from(wanted))
}

/** Takes the invite of a proof, once. Null for a wrong proof, and after its time. */
export function takeInvite(
  teamDirectory: string,
  id: string,
  proof: unknown,
  text: string,
  now: number,
): Invite | null {
  let taken: Invite | null = null
  INVITES.change(teamDirectory, (invites) => {
    const found = invites.find((invite) => invite.id === id && invite.expires > now)
    if (!found || !isProof(proof, codeProof(found.secret, 'join', text))) return invites
    taken = found
    return invites.filter((invite) => invite !== found)
  })
  return taken
}

const INVITES = new OwnList<Invite>({ file: 'invites.json', lock: 'invites.lock', field: 'invites' }, () => true)
