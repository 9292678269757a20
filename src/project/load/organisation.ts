/** The organisation's layer: the fleet's bundle for this machine, verified at every start. */

import { type Bundle, layersOf, type VerifiedBundle } from '../../fleet/bundle.ts'
import { fleetDirectory, storedBundle } from '../../fleet/bundle-store.ts'
import { type Enrolment, readEnrolment } from '../../fleet/identity.ts'
import { type ActiveOpening, lifts, parseOpenings, verifyOpening } from '../../fleet/opening.ts'
import { parsePeople } from '../../fleet/people.ts'
import { type FleetStatus, readOpenings, readStatus } from '../../fleet/policy-source.ts'
import { type FleetSettings, readFleetSettings } from '../../fleet/settings.ts'
import { Fault } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import type { WrittenManifest } from './memory.ts'

/** This machine's fleet, without network access. */
export interface FleetMembership {
  readonly settings: FleetSettings
  readonly enrolment: Enrolment | null
  readonly policy: VerifiedBundle | null
}

/** Null if this machine is in no fleet. */
export function fleetMembership(
  machine: Pick<Machine, 'systemDir' | 'configDir' | 'stateDir'>,
): FleetMembership | null {
  const settings = readFleetSettings(machine)
  if (settings === null) return null
  const enrolment = readEnrolment(fleetDirectory(machine.stateDir), settings)
  const policy = settings.policy === null ? null : storedBundle(machine.stateDir, settings)
  return { settings, enrolment, policy }
}

/** Manifests above the user's. Throws a Fault if the fleet's policy is not valid here. */
export function organisationManifests(machine: Machine, now: number): readonly WrittenManifest[] {
  const membership = fleetMembership(machine)
  if (membership === null) return []
  const { settings, enrolment, policy } = membership
  const own = ownFiles(machine, settings)
  if (settings.policy === null) return [own]
  if (policy === null)
    throw new Fault('fleet-policy', `this machine is in the fleet "${settings.fleet}" and has no policy of it yet`, {
      remedy: 'Fetch it: cordon fleet sync.',
    })
  const { bundle } = policy
  if (enrolment !== null && bundle.revoked.includes(enrolment.machine))
    throw new Fault('fleet-revoked', `this machine was taken out of the fleet "${settings.fleet}"`, {
      remedy: 'Join again with a code of the team: cordon fleet join URL CODE.',
    })
  const groups = enrolment?.groups ?? []
  const label = `organisation ${bundle.fleet} v${bundle.version}`
  const openings = activeOpenings(machine, membership, now)
  const written = layersOf(bundle.layers, groups)
    .filter((layer) => !openings.some((opening) => lifts(opening, layer)))
    .map((layer) => ({ text: layer.manifest, label: `${label} (${layer.groups.join(', ')})` }))
  const status = readStatus(fleetDirectory(machine.stateDir))
  return [own, ...written, ...closedBy(bundle, status, label, now)]
}

/** The break-glass openings that count here. A clock behind a time that was seen here opens nothing. */
export function activeOpenings(
  machine: Pick<Machine, 'stateDir'>,
  { enrolment, policy }: FleetMembership,
  now: number,
): readonly ActiveOpening[] {
  if (policy === null || enrolment === null || policy.bundle.layers.every(({ liftable }) => liftable === undefined))
    return []
  const stored = readOpenings(fleetDirectory(machine.stateDir))
  if (stored === null || now + SKEW_MS < stored.clock) return []
  const facts = { bundle: policy.bundle, machine: enrolment.machine, groups: enrolment.groups, now }
  const people = parsePeople(stored.people)
  return parseOpenings(stored.openings).flatMap((signed) => verifyOpening(signed, { ...facts, people }) ?? [])
}

/** By what is in these files, records are sent and this machine is known: they lie where every command may read. */
function ownFiles({ systemDir }: Pick<Machine, 'systemDir'>, { tls }: FleetSettings): WrittenManifest {
  const paths = JSON.stringify([`${systemDir}/**`, ...(tls.key === undefined ? [] : [tls.key])])
  const text = ['read', 'write'].map((verb) => `[capabilities.deny.${verb}]\npaths = ${paths}\n`).join('')
  return { text: `schema_version = 1\n${text}`, label: 'the fleet settings' }
}

/** A clock that is corrected may go back by as much. */
const SKEW_MS = 5 * 60_000

/** Default time in which a refused login may be a server error rather than a revocation. */
const GRACE_SECONDS = 15 * 60

/** What the bundle closes when it has expired, or when the machine cannot prove its membership. */
function closedBy(bundle: Bundle, status: FleetStatus, label: string, now: number): readonly WrittenManifest[] {
  // A clock that went back would lengthen the time: it counts as over.
  const overdue = (since: string | null | undefined, seconds: number) =>
    now >= (since == null ? 0 : Date.parse(since)) + seconds * 1000 || isAhead(since)
  const isAhead = (time: string | null | undefined) => time != null && Date.parse(time) > now + SKEW_MS
  if (status.refused != null && overdue(status.refused, bundle.grace ?? GRACE_SECONDS))
    throw new Fault('fleet-revoked', `the fleet "${bundle.fleet}" has refused this machine since ${status.refused}`, {
      remedy: 'Ask the team; a new code joins it again: cordon fleet join URL CODE.',
    })
  const why =
    bundle.expires !== null && (now >= Date.parse(bundle.expires) || isAhead(status.checked))
      ? `expired at ${bundle.expires}, or the clock went back`
      : bundle.grace !== undefined && overdue(status.proved, bundle.grace)
        ? `was last confirmed at ${status.proved ?? 'no time'}, longer ago than ${bundle.grace} seconds`
        : null
  if (why === null || bundle.closes === 'nothing') return []
  if (bundle.closes === 'everything')
    throw new Fault('fleet-policy', `the organisation’s policy ${why}, so it closes everything`, {
      remedy: 'Fetch a newer one: cordon fleet sync.',
    })
  return [{ text: 'schema_version = 1\n[security]\ndeny_domains = ["*"]\n', label: `${label} (${why})` }]
}
