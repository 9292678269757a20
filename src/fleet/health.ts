/**
 * The health of a machine: the policy in force there and what it refused, counted from the machine's
 * own record and signed by its key.
 */

import type { PublicKey, SigningKey } from '../system/keys/signing-key.ts'
import { type Certificate, type Enrolment, type FleetTeam, signMachineText, verifyMachineText } from './identity.ts'

export interface Counts {
  readonly calls: number
  readonly refused: number
  readonly asked: number
}

/** What a machine has counted. */
export interface Tally {
  readonly version: 1
  /** The policy in force, and since when. */
  readonly policy: { readonly version: number; readonly hash: string } | null
  readonly since: string
  /** Under that policy, and under the one before it. */
  readonly now: Counts
  readonly before: Counts
  /** Since it began to count. */
  readonly started: string
  readonly total: Counts
  /** Refusals by rule since then. */
  readonly rules: Readonly<Record<string, number>>
}

export interface Health extends Omit<Tally, 'version'> {
  readonly fleet: string
  readonly machine: PublicKey
  readonly time: string
  /** Cordon's version there. */
  readonly cordon: string
  /** Why the policy cannot be used or fetched there. */
  readonly problem: { readonly code: string; readonly message: string } | null
  /** Whether every call is refused there, whatever it is. */
  readonly closed: boolean
  /** Break-glass openings that count there now. */
  readonly openings: readonly { readonly id: string; readonly by: readonly string[]; readonly until: string }[]
}

export interface ReportedHealth {
  readonly health: Health
  readonly enrolment: Enrolment
}

const MAX_RULES = 50
const MAX_RULE = 100
const NOTHING: Counts = { calls: 0, refused: 0, asked: 0 }
/** A clock may differ by as much. */
export const SKEW_MS: number = 5 * 60_000

export function newTally(policy: Tally['policy'], time: string): Tally {
  const counts = { now: NOTHING, before: NOTHING, total: NOTHING }
  return { version: 1, policy, since: time, started: time, ...counts, rules: {} }
}

/** After a change of the policy: its own count begins. */
export function underPolicy(tally: Tally, policy: Tally['policy'], time: string): Tally {
  if (tally.policy?.hash === policy?.hash) return tally
  return { ...tally, policy, since: time, now: NOTHING, before: tally.now }
}

interface CallLine {
  readonly type?: unknown
  readonly time?: unknown
  readonly decision?: { readonly verdict?: unknown; readonly reason?: unknown; readonly rules?: readonly unknown[] }
}

/** Adds a line of the record. */
export function counted(tally: Tally, { type, time, decision }: CallLine): Tally {
  if (type !== 'begin' && type !== 'denied') return tally
  const refused = type === 'denied' ? 1 : 0
  const asked = decision?.verdict === 'ask' ? 1 : 0
  const add = (to: Counts): Counts => ({
    calls: to.calls + 1,
    refused: to.refused + refused,
    asked: to.asked + asked,
  })
  const isNow = String(time) >= tally.since
  const rule = String(decision?.rules?.[0] ?? decision?.reason ?? 'unknown').slice(0, MAX_RULE)
  const known = Object.hasOwn(tally.rules, rule) || Object.keys(tally.rules).length < MAX_RULES
  const name = known ? rule : 'other'
  const rules = { ...tally.rules, [name]: (Object.hasOwn(tally.rules, name) ? tally.rules[name]! : 0) + 1 }
  return {
    ...tally,
    total: add(tally.total),
    ...(isNow ? { now: add(tally.now) } : { before: add(tally.before) }),
    ...(refused === 1 && { rules }),
  }
}

export function signHealth(health: Health, key: SigningKey, certificate: Certificate): string {
  return JSON.stringify(signMachineText('health-v1', health, key, certificate))
}

/** The health in a text; null unless an enrolled machine signed it about itself, and not in the future. */
export function verifyHealth(
  text: string,
  team: FleetTeam,
  revoked: readonly PublicKey[],
  now: number,
): ReportedHealth | null {
  const found = verifyMachineText<Health>('health-v1', text, team, revoked)
  if (found === null || !isHealth(found.value) || Date.parse(found.value.time) > now + SKEW_MS) return null
  return { health: found.value, enrolment: found.enrolment }
}

function isHealth(value: Partial<Health>): boolean {
  const { time, since, started, cordon, policy, problem, closed, openings, rules } = value
  return (
    [time, since, started].every((text) => typeof text === 'string' && !Number.isNaN(Date.parse(text))) &&
    typeof cordon === 'string' &&
    (policy === null || (Number.isSafeInteger(policy?.version) && typeof policy?.hash === 'string')) &&
    (problem === null || (typeof problem?.code === 'string' && typeof problem.message === 'string')) &&
    typeof closed === 'boolean' &&
    [value.now, value.before, value.total].every(isCounts) &&
    Array.isArray(openings) &&
    openings.every((one) => typeof one?.id === 'string' && Array.isArray(one.by) && typeof one.until === 'string') &&
    isNumbers(rules)
  )
}

export function isTally(value: unknown): value is Tally {
  const { version, since, started, now, before, total, rules } = (value ?? {}) as Partial<Tally>
  return (
    version === 1 &&
    typeof since === 'string' &&
    typeof started === 'string' &&
    [now, before, total].every(isCounts) &&
    isNumbers(rules)
  )
}

function isCounts(value: Counts | undefined): boolean {
  return (
    value !== undefined && [value.calls, value.refused, value.asked].every(isAmount) && value.refused <= value.calls
  )
}

function isNumbers(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).every(isAmount)
}

function isAmount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
