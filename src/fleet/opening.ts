/**
 * Break-glass: people open what the policy lets them open, for a limited time and with a reason. It
 * counts only with the signatures that an answer to an ask would need.
 */

import { randomBytes } from 'node:crypto'
import type { PublicKey, SigningKey } from '../system/keys/signing-key.ts'
import { approversFor, type People, peopleNeeded, personOf } from './ask.ts'
import {
  type Bundle,
  isFor,
  isSignedText,
  type PolicyLayer,
  type SignedText,
  signersOf,
  withSignature,
} from './bundle.ts'
import { parseObject } from './identity.ts'

export interface Opening {
  readonly fleet: string
  readonly id: string
  /** The machines of these groups. */
  readonly groups: readonly string[]
  readonly reason: string
  readonly issued: string
  readonly until: string
}

/** An opening that counts on a machine. */
export interface ActiveOpening extends Opening {
  readonly by: readonly string[]
}

/** The name of a break-glass in rules about how many people must agree. */
export const BREAK_GLASS = 'break-glass'
const MAX_REASON = 1000
const SKEW_MS = 5 * 60_000

function openingMessage(payload: string): string {
  return `cordon-fleet-opening-v1\0${payload}`
}

export function newOpening(
  { fleet, groups, reason }: Pick<Opening, 'fleet' | 'groups' | 'reason'>,
  seconds: number,
  now: number,
): Opening {
  const [issued, until] = [now, now + seconds * 1000].map((time) => new Date(time).toISOString())
  return { fleet, id: randomBytes(8).toString('hex'), groups, reason, issued: issued!, until: until! }
}

export function signOpening(opening: Opening | SignedText, key: SigningKey): SignedText {
  const signed = 'payload' in opening ? opening : { payload: JSON.stringify(opening), signatures: [] }
  return withSignature(signed, openingMessage(signed.payload), key)
}

/** The openings in an unverified text. */
export function parseOpenings(text: string | null): readonly SignedText[] {
  const value = text === null ? null : parseObject<readonly SignedText[]>(text)
  return Array.isArray(value) ? value.slice(0, 100).filter(isSignedText) : []
}

export function claimedOpening({ payload }: SignedText): Opening | null {
  const value = parseObject<Opening>(payload)
  if (value === null) return null
  const { fleet, id, groups, reason, issued, until } = value
  const whole =
    [fleet, id, reason, issued, until].every((text) => typeof text === 'string') &&
    Array.isArray(groups) &&
    groups.every((group) => typeof group === 'string') &&
    reason.trim() !== '' &&
    reason.length <= MAX_REASON &&
    Date.parse(until) > Date.parse(issued)
  return whole ? value : null
}

interface OpeningFacts extends People {
  readonly bundle: Bundle
  readonly machine: PublicKey
  readonly groups: readonly string[]
}

/** The opening as it counts on a machine now; null if it does not. */
export function verifyOpening(signed: SignedText, facts: OpeningFacts): ActiveOpening | null {
  const { bundle, machine, groups, now } = facts
  const opening = claimedOpening(signed)
  if (opening === null || opening.fleet !== bundle.fleet || !isFor(opening.groups, groups)) return null
  if (now + SKEW_MS < Date.parse(opening.issued) || now >= Date.parse(opening.until)) return null
  const approvers = approversFor(bundle, machine, groups, facts)
  const keys = signersOf(
    signed,
    openingMessage(signed.payload),
    approvers.map(({ key }) => key),
  )
  const by = new Map(
    approvers.filter(({ key }) => keys.includes(key)).map((approver) => [personOf(approver), approver.name]),
  )
  return by.size >= peopleNeeded(bundle, BREAK_GLASS, groups) ? { ...opening, by: [...by.values()] } : null
}

/** Whether an opening lifts a layer: no longer than the policy says for that layer. */
export function lifts({ issued, until }: Opening, { liftable = 0 }: PolicyLayer): boolean {
  return Date.parse(until) - Date.parse(issued) <= liftable * 1000
}
