/** The names that a fleet has on its NATS servers, and who may use which of them. */

import { createHash } from 'node:crypto'
import { keyId, type PublicKey } from '../../system/keys/signing-key.ts'
import type { Role } from '../identity.ts'

export interface FleetSubjects {
  /** The key-value bucket of the policy, its stream, and the one subject in it. */
  readonly bucket: string
  readonly policyStream: string
  readonly policy: string
  readonly recordStream: string
  readonly records: (machine: string, session: string) => string
  readonly askStream: string
  readonly ask: (machine: string, ask: string) => string
  readonly answerStream: string
  /** One place for each who may answer, so that no one answers twice or for another. */
  readonly answer: (machine: string, ask: string, approver: string) => string
}

/** The names of a fleet; `*` stands for any one part of a subject. */
export function fleetSubjects(fleet: string): FleetSubjects {
  const upper = `CORDON_${fleet.toUpperCase().replaceAll('-', '_')}`
  const bucket = `${upper}_POLICY`
  return {
    bucket,
    policyStream: `KV_${bucket}`,
    policy: `$KV.${bucket}.policy`,
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

/** Where the answers to a client's own requests come: no one else may listen there. */
export function inboxOf(machine: PublicKey): string {
  return `_INBOX_${keyId(machine)}`
}

export interface NatsPermissions {
  readonly pub: { readonly allow: readonly string[] }
  readonly sub: { readonly allow: readonly string[] }
}

/**
 * What a role may do on the servers. A machine writes its own records and asks and reads the policy and its own answers; an
 * approver also reads asks and writes answers under its own name; an admin keeps the streams.
 */
export function permissionsOf(fleet: string, machine: PublicKey, role: Role): NatsPermissions {
  const names = fleetSubjects(fleet)
  const id = keyId(machine)
  const direct = (stream: string, subject: string): string => `$JS.API.DIRECT.GET.${stream}.${subject}`
  const own = {
    pub: [
      names.records(id, '*'),
      names.ask(id, '*'),
      direct(names.policyStream, names.policy),
      direct(names.answerStream, names.answer(id, '*', '*')),
    ],
    sub: [`${inboxOf(machine)}.>`, names.answer(id, '*', '*')],
  }
  if (role === 'machine') return { pub: { allow: own.pub }, sub: { allow: own.sub } }
  const approver = {
    pub: [
      ...own.pub,
      names.answer('*', '*', id),
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
      allow: [...approver.pub, names.policy, names.answer('*', '*', '*'), '$JS.API.>', '$JS.ACK.>', '$JS.FC.>'],
    },
    sub: { allow: [...approver.sub, names.records('*', '*')] },
  }
}
