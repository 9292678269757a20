/** Break-glass: signs openings, hands them to the machines, and keeps those that this machine has got. */

import { approversFor } from '../fleet/ask.ts'
import type { Bundle, SignedText } from '../fleet/bundle.ts'
import { fleetDirectory, storedBundle } from '../fleet/bundle-store.ts'
import { fleetHttp } from '../fleet/http.ts'
import { machineKey } from '../fleet/identity.ts'
import {
  type ActiveOpening,
  claimedOpening,
  newOpening,
  parseOpenings,
  signOpening,
  verifyOpening,
} from '../fleet/opening.ts'
import { parsePeople } from '../fleet/people.ts'
import { fetchBeside, readOpenings, type StoredOpenings, writeOpenings } from '../fleet/policy-source.ts'
import type { FleetSettings } from '../fleet/settings.ts'
import { parseSeconds } from '../manifest/schema/shape.ts'
import { Fault } from '../system/fault.ts'
import { openKeyStore } from '../system/keys/keychain.ts'
import type { PublicKey } from '../system/keys/signing-key.ts'
import { withLock } from '../system/lock.ts'
import type { Machine } from '../system/machine.ts'
import type { BusHolder } from './connection.ts'
import { recordFleetEvent } from './fleet-record.ts'

/** If an opening is read and not applied: no key is left out as the machine's own. */
const NO_MACHINE: PublicKey = 'ed25519:'
const NOTHING: StoredOpenings = { version: 1, clock: 0, openings: null, people: null, recorded: [] }

/** The openings of the fleet that count now on the machines that they name; each machine reports all. */
export function announcedOpenings(machine: Machine, bundle: Bundle, now: number): readonly ActiveOpening[] {
  const stored = readOpenings(fleetDirectory(machine.stateDir)) ?? NOTHING
  const people = parsePeople(stored.people)
  const facts = { bundle, machine: NO_MACHINE, people, now: Math.max(now, stored.clock) }
  return parseOpenings(stored.openings).flatMap((signed) => {
    const groups = claimedOpening(signed)?.groups ?? []
    return verifyOpening(signed, { ...facts, groups }) ?? []
  })
}

/** Fetches openings; records which began and ended here. Returns those that began. */
export async function syncOpenings(
  settings: FleetSettings,
  machine: Machine,
  bus: BusHolder,
  now: number = Date.now(),
): Promise<readonly ActiveOpening[]> {
  const bundle = storedBundle(machine.stateDir, settings)?.bundle
  if (bundle === undefined || bundle.layers.every(({ liftable }) => liftable === undefined)) return []
  const fetched = await fetchOpenings(settings, bundle, bus, now).catch((error) => {
    if (error instanceof Fault) return null
    throw error
  })
  return keep(machine, bundle, fetched?.openings ?? [], fetched?.people, now)
}

/** Takes an opening from a file: under a cut network it is the only way. Empty if it does not count. */
export function takeOpening(
  settings: FleetSettings,
  machine: Machine,
  signed: SignedText,
  now: number,
): readonly ActiveOpening[] {
  const bundle = storedBundle(machine.stateDir, settings)?.bundle
  if (bundle === undefined) return []
  keep(machine, bundle, [signed], undefined, now)
  const id = claimedOpening(signed)?.id
  return announcedOpenings(machine, bundle, now).filter((one) => one.id === id)
}

function keep(
  machine: Machine,
  bundle: Bundle,
  added: readonly SignedText[],
  people: string | null | undefined,
  now: number,
): readonly ActiveOpening[] {
  const directory = fleetDirectory(machine.stateDir)
  return withLock(`${directory}/openings.lock`, () => {
    const before = readOpenings(directory) ?? NOTHING
    const clock = Math.max(before.clock, now)
    const merged = mergeSignatures([...parseOpenings(before.openings), ...added]).filter(
      (signed) => Date.parse(claimedOpening(signed)?.until ?? '') > clock,
    )
    const after = { clock, openings: JSON.stringify(merged), people: people === undefined ? before.people : people }
    writeOpenings(directory, { ...after, recorded: before.recorded })
    const active = announcedOpenings(machine, bundle, now)
    const begun = active.filter(({ id }) => !before.recorded.includes(id))
    const ended = before.recorded.filter((id) => !active.some((one) => one.id === id))
    for (const { fleet: _, ...opening } of begun)
      recordFleetEvent(machine, 'break-glass', { ...opening, outcome: 'opened' })
    for (const id of ended) recordFleetEvent(machine, 'break-glass', { id, outcome: 'ended' })
    if (begun.length + ended.length > 0) writeOpenings(directory, { ...after, recorded: active.map(({ id }) => id) })
    return begun
  })
}

/** Each approver hands in a copy with its own signature. */
function mergeSignatures(openings: readonly SignedText[]): readonly SignedText[] {
  const merged = new Map<string, SignedText>()
  for (const { payload, signatures } of openings) {
    const known = merged.get(payload)?.signatures ?? []
    const more = signatures.filter(
      (one) => !known.some(({ key, signature }) => key === one.key && signature === one.signature),
    )
    merged.set(payload, { payload, signatures: [...known, ...more].slice(0, 64) })
  }
  return [...merged.values()]
}

async function fetchOpenings(
  settings: FleetSettings,
  bundle: Bundle,
  holder: BusHolder,
  now: number,
): Promise<{ readonly openings: readonly SignedText[]; readonly people: string | null }> {
  const { policy } = settings
  if (policy === null) return { openings: [], people: null }
  if (policy !== 'nats') {
    const http = fleetHttp(settings.tls)
    const people = bundle.identity === undefined ? null : await fetchBeside(policy, 'people', http)
    return { openings: parseOpenings(await fetchBeside(policy, 'openings', http)), people }
  }
  const bus = await holder.open()
  const people = bundle.identity === undefined ? null : await bus.readPeople()
  const approvers = approversFor(bundle, NO_MACHINE, allGroups(bundle), { people: parsePeople(people), now })
  const texts = await bus.readOpenings(approvers.map(({ key }) => key))
  return { openings: texts.flatMap(parseOpenings), people }
}

function allGroups({ approvers, identity }: Bundle): readonly string[] {
  return [...approvers.flatMap(({ groups }) => groups), ...Object.values(identity?.groups ?? {}).flat()]
}

export interface OpeningRequest {
  readonly groups: readonly string[]
  readonly reason: string
  readonly seconds: number
}

/** How long an opening shall last, in whole seconds; null if the text is not such a time. */
export function openingSeconds(time: string): number | null {
  const seconds = parseSeconds(time)
  return seconds !== null && Number.isInteger(seconds) ? seconds : null
}

/** Signs an opening with this machine's key: a new one, or one that waits for more people. */
export function signedOpening(
  settings: FleetSettings,
  machine: Machine,
  request: OpeningRequest | SignedText,
  now: number,
): { readonly signed: SignedText; readonly counts: boolean } {
  const bundle = storedBundle(machine.stateDir, settings)?.bundle
  if (bundle === undefined) throw new Fault('fleet-policy', 'there is no policy here that allows a break-glass')
  const opening = 'payload' in request ? request : newOpening({ fleet: bundle.fleet, ...request }, request.seconds, now)
  const { key } = machineKey(openKeyStore(machine.stateDir))
  const signed = signOpening(opening, key)
  const claimed = claimedOpening(signed)
  if (claimed === null || claimed.fleet !== bundle.fleet)
    throw new Fault('bad-key', 'that is not a break-glass of this fleet')
  const people = parsePeople(readOpenings(fleetDirectory(machine.stateDir))?.people ?? null)
  // As any machine but this one sees it.
  const facts = { bundle, machine: NO_MACHINE, groups: claimed.groups, people, now }
  if (!approversFor(bundle, facts.machine, claimed.groups, facts).some((one) => one.key === key.publicKey))
    throw new Fault('no-fleet', 'the policy does not name this machine’s key as an approver for those machines')
  return { signed, counts: verifyOpening(signed, facts) !== null }
}

/** The one opening in a file. */
export function onlyOpening(text: string): SignedText {
  const [opening, ...more] = parseOpenings(text)
  if (opening === undefined || more.length > 0) throw new Fault('bad-key', 'that is not a break-glass')
  return opening
}

/** Hands openings to the machines of a fleet with servers. */
export async function publishOpening(bus: BusHolder, machine: Machine, signed: SignedText): Promise<void> {
  const servers = await bus.open()
  const { publicKey } = machineKey(openKeyStore(machine.stateDir)).key
  const before = (await servers.readOpenings([publicKey])).flatMap(parseOpenings)
  const open = before.filter((one) => Date.parse(claimedOpening(one)?.until ?? '') > Date.now())
  await servers.publishOpenings(JSON.stringify(mergeSignatures([...open, signed])))
}
