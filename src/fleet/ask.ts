/**
 * An ask for the fleet, its answers, and when they settle it: the machine trusts no other party
 * about that.
 */

import { createHash, randomBytes } from 'node:crypto'
import { isSignedBy, type PublicKey, type SigningKey } from '../system/keys/signing-key.ts'
import { type Approver, type Bundle, isFor } from './bundle.ts'
import {
  type Certificate,
  type Enrolment,
  type FleetTeam,
  type MachineText,
  machineMessage,
  parseObject,
  signMachineText,
  verifyMachineText,
} from './identity.ts'
import { type Person, signedIn } from './people.ts'

export interface FleetAsk {
  readonly fleet: string
  readonly id: string
  readonly machine: PublicKey
  readonly tool: string
  /** What would be done and why it is asked, without secrets: in short, for lists. */
  readonly subject: string
  readonly why: string
  /** The whole question, as every surface shows it. Parsed by the process that shows it. */
  readonly view: unknown
  /** The hash of the whole call that it is about. */
  readonly call: string
  readonly project: string
  readonly asked: string
  /** After this time the answer is no. */
  readonly deadline: string
}

/** An ask as sent. */
export type SignedAsk = MachineText

interface FleetAnswer {
  readonly fleet: string
  /** The hash of the very ask: an answer is for nothing else. */
  readonly ask: string
  readonly by: PublicKey
  readonly verdict: 'yes' | 'no'
  readonly message: string | null
  readonly time: string
}

interface SignedAnswer {
  readonly payload: string
  readonly signature: string
}

type Settlement =
  | { readonly settled: 'yes'; readonly by: readonly string[] }
  | { readonly settled: 'no'; readonly by: string; readonly message: string | null }
  | { readonly settled: null; readonly missing: number }

/** A machine's clock may be a little behind that of the process that answers. */
const SKEW_MS = 5 * 60_000

function answerMessage(payload: string): string {
  return `cordon-fleet-answer-v1\0${payload}`
}

export function askHash(payload: string): string {
  return createHash('sha256').update(machineMessage('ask-v2', payload)).digest('hex')
}

/** A name for an ask; its beginning shows, without reading the ask, when it has expired. */
export function newAskId(deadline: number): string {
  const seconds = Math.ceil(deadline / 1000)
  return seconds.toString(16).padStart(8, '0') + randomBytes(10).toString('hex')
}

/** Whether an ask of this name may still be open; other names may be. */
export function mayBeOpen(id: string, now: number): boolean {
  const seconds = /^[0-9a-f]{28}$/.test(id) ? Number.parseInt(id.slice(0, 8), 16) : Number.POSITIVE_INFINITY
  return seconds * 1000 + SKEW_MS > now
}

export function signAsk(ask: FleetAsk, key: SigningKey, certificate: Certificate): SignedAsk {
  return signMachineText('ask-v2', ask, key, certificate)
}

/** The ask in a text from the servers, with the machine that asks; null unless that machine is enrolled and signed it. */
export function verifyAsk(
  text: string,
  team: FleetTeam,
  revoked: readonly PublicKey[],
): { readonly ask: FleetAsk; readonly signed: SignedAsk; readonly enrolment: Enrolment } | null {
  const found = verifyMachineText<FleetAsk>('ask-v2', text, team, revoked)
  if (found === null || !isAsk(found.value)) return null
  const { value: ask, signed, enrolment } = found
  return { ask, signed, enrolment }
}

const ASK_TEXTS = ['fleet', 'id', 'machine', 'tool', 'subject', 'why', 'call', 'project', 'asked', 'deadline'] as const

/** The name is part of the subject of its answers. */
function isAsk(value: FleetAsk): boolean {
  return (
    ASK_TEXTS.every((name) => typeof value[name] === 'string') &&
    /^[0-9a-f]{16,64}$/.test(value.id) &&
    !Number.isNaN(Date.parse(value.asked)) &&
    !Number.isNaN(Date.parse(value.deadline))
  )
}

/** Answers an ask. */
export function signAnswer(
  signed: SignedAsk,
  fleet: string,
  answer: Pick<FleetAnswer, 'verdict' | 'message' | 'time'>,
  key: SigningKey,
): SignedAnswer {
  const payload = JSON.stringify({ fleet, ask: askHash(signed.payload), by: key.publicKey, ...answer })
  return { payload, signature: key.sign(answerMessage(payload)) }
}

/** Sign-ins that count are checked again at each use, because they expire. */
export interface People {
  readonly people: readonly Person[]
  readonly now: number
}

/** The approvers for a machine: those of the policy, or who signed in. It never answers itself. */
export function approversFor(
  bundle: Bundle,
  machine: PublicKey,
  groups: readonly string[],
  { people, now }: People,
): readonly Approver[] {
  return [...bundle.approvers, ...signedIn(bundle, people, now)].filter(
    ({ key, groups: theirs }) => key !== machine && !bundle.revoked.includes(key) && isFor(theirs, groups),
  )
}

/** How many different people have to say yes. */
export function peopleNeeded(bundle: Bundle, tool: string, groups: readonly string[]): number {
  const fitting = bundle.rules.filter((rule) => isFor(rule.groups, groups) && isFor(rule.tools, [tool]))
  return Math.max(1, ...fitting.map((rule) => rule.people))
}

/** Who an approver is: several keys of one are one person. */
export function personOf({ subject, name }: Approver): string {
  return subject ?? name
}

interface AskFacts extends People {
  /** The exact characters that were sent. */
  readonly payload: string
  readonly ask: FleetAsk
  readonly groups: readonly string[]
  readonly bundle: Bundle
}

/** Settles an ask by the answers that count: one no ends it, and enough different people make it a yes. */
export function settleAsk(facts: AskFacts, answers: readonly string[]): Settlement {
  const { payload, ask, groups, bundle, now } = facts
  const approvers = approversFor(bundle, ask.machine, groups, facts)
  const hash = askHash(payload)
  if (now > Date.parse(ask.deadline))
    return { settled: 'no', by: 'deadline', message: 'no one in the fleet answered in time' }
  const yes = new Map<string, string>()
  for (const text of answers) {
    const answer = verifyAnswer(text, ask, hash)
    const approver = answer && approvers.find(({ key }) => key === answer.by)
    if (!answer || !approver) continue
    if (answer.verdict === 'no') return { settled: 'no', by: approver.name, message: answer.message }
    yes.set(personOf(approver), approver.name)
  }
  const missing = peopleNeeded(bundle, ask.tool, groups) - yes.size
  return missing <= 0 ? { settled: 'yes', by: [...yes.values()] } : { settled: null, missing }
}

/** The answer in a text, when the process that it names gave it to this very ask and in time. */
export function verifyAnswer(text: string, ask: FleetAsk, hash: string): FleetAnswer | null {
  const signed = parseObject<SignedAnswer>(text)
  if (typeof signed?.payload !== 'string' || typeof signed.signature !== 'string') return null
  const answer = parseObject<FleetAnswer>(signed.payload)
  if (answer === null || typeof answer.by !== 'string') return null
  if (!isSignedBy(answer.by, answerMessage(signed.payload), signed.signature)) return null
  const time = Date.parse(answer.time)
  const inTime = time <= Date.parse(ask.deadline) && time >= Date.parse(ask.asked) - SKEW_MS
  const known = answer.verdict === 'yes' || answer.verdict === 'no'
  return known && inTime && answer.ask === hash && answer.fleet === ask.fleet ? answer : null
}
