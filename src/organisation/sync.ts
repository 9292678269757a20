/** Keeps the organisation's policy fresh: fetches it, verifies it, and reports its state. */

import type { VerifiedBundle } from '../fleet/bundle.ts'
import { acceptBundle, fleetDirectory, storedBundle } from '../fleet/bundle-store.ts'
import { fleetHttp } from '../fleet/http.ts'
import { type Enrolment, readEnrolment } from '../fleet/identity.ts'
import type { ActiveOpening } from '../fleet/opening.ts'
import { type FleetStatus, fetchPolicy, type PolicyPorts, readStatus, writeStatus } from '../fleet/policy-source.ts'
import { type FleetSettings, readFleetSettings } from '../fleet/settings.ts'
import { attempt, Fault, messageOf } from '../system/fault.ts'
import type { Machine } from '../system/machine.ts'
import { announcedOpenings } from './break-glass.ts'
import { type BusHolder, holdBus } from './connection.ts'
import { recordFleetEvent } from './fleet-record.ts'

export type PolicySync =
  | { readonly outcome: 'new' | 'unchanged'; readonly policy: VerifiedBundle | null }
  /** The last good one stays in force. */
  | { readonly outcome: 'refused' | 'unreachable'; readonly code: string; readonly message: string }

/** Fetches the policy once. Only a machine that cannot write its own state makes it throw. */
export async function syncPolicy(
  settings: FleetSettings,
  machine: Machine,
  now: number = Date.now(),
  ports: PolicyPorts | null = null,
): Promise<PolicySync> {
  const place = settings.policy
  if (place === null) return { outcome: 'unchanged', policy: null }
  if (ports === null)
    return onBus(settings, machine, (bus) => syncPolicy(settings, machine, now, portsOf(settings, bus)))
  const directory = fleetDirectory(machine.stateDir)
  const before = readStatus(directory)
  const time = new Date(now).toISOString()
  const failed = (outcome: 'refused' | 'unreachable', code: string, message: string): PolicySync => {
    if (before.problem?.code !== code || before.problem.message !== message)
      recordFleetEvent(machine, 'fleet-policy', { outcome, code, message, place, time })
    const refused = code === 'fleet-refused' ? (before.refused ?? time) : before.refused
    // The latest time that was seen: a clock that is set back without an answer of the fleet gains nothing.
    const checked = before.checked !== null && before.checked > time ? before.checked : time
    writeStatus(directory, { ...before, checked, refused, problem: { code, message, time } })
    return { outcome, code, message }
  }
  try {
    const fetched = await fetchPolicy(
      place,
      before.problem === null && hasGood(machine, settings) ? before.etag : null,
      ports,
    )
    if (fetched === 'unchanged') {
      writeStatus(directory, { ...before, checked: time, proved: time, refused: null, problem: null })
      return { outcome: 'unchanged', policy: null }
    }
    const result = acceptBundle(machine.stateDir, settings, fetched.text, now)
    if ('refused' in result) return failed('refused', result.refused, result.message)
    writeStatus(directory, {
      version: 1,
      checked: time,
      etag: fetched.etag,
      proved: time,
      refused: null,
      problem: null,
    })
    return { outcome: result.isNew ? 'new' : 'unchanged', policy: result.accepted }
  } catch (error) {
    if (error instanceof Fault && error.code.startsWith('state-')) throw error
    const refused = error instanceof Fault && error.code === 'fleet-refused'
    return failed(
      refused ? 'refused' : 'unreachable',
      refused ? 'fleet-refused' : 'fleet-unreachable',
      messageOf(error),
    )
  }
}

/** Whether the stored bundle is good: otherwise it must be fetched again, whatever its ETag. */
function hasGood({ stateDir }: Machine, settings: FleetSettings): boolean {
  return attempt(() => storedBundle(stateDir, settings) !== null, false)
}

/** The ways to a bundle over the network. */
export function portsOf(settings: FleetSettings, bus: BusHolder): PolicyPorts {
  return { http: fleetHttp(settings.tls), bucket: async () => (await bus.open()).readPolicy() }
}

/** Runs work that may need the servers, with its own connection. */
export async function onBus<T>(
  settings: FleetSettings,
  machine: Machine,
  work: (bus: BusHolder) => Promise<T>,
): Promise<T> {
  const bus = holdBus(settings, machine)
  try {
    return await work(bus)
  } finally {
    await bus.close()
  }
}

/** What `cordon fleet status` shows of this machine's fleet. */
interface FleetView {
  readonly fleet: string
  readonly machine: string | null
  readonly name: string | null
  readonly role: string | null
  readonly groups: readonly string[]
  readonly policy: {
    readonly version: number
    readonly issued: string
    readonly expires: string | null
    readonly expired: boolean
    readonly closes: string
    readonly signers: number
  } | null
  /** Why no policy is usable, or what was refused last. */
  readonly problem: FleetStatus['problem']
  readonly checked: string | null
  /** Break-glass openings of the fleet that count now, wherever. */
  readonly openings: readonly ActiveOpening[]
}

/** Reads the state; null if this machine is in no fleet. Makes no request. */
export function fleetView(machine: Machine, now: number): FleetView | null {
  const settings = readFleetSettings(machine)
  if (settings === null) return null
  const directory = fleetDirectory(machine.stateDir)
  const { checked, problem } = readStatus(directory)
  let enrolment: Enrolment | null = null
  const shared = () => ({
    fleet: settings.fleet,
    machine: enrolment?.machine ?? null,
    name: enrolment?.name ?? null,
    role: enrolment?.role ?? null,
    groups: enrolment?.groups ?? [],
    checked,
    openings: [],
  })
  try {
    enrolment = readEnrolment(directory, settings)
    const stored = settings.policy === null ? null : storedBundle(machine.stateDir, settings)
    if (stored === null) return { ...shared(), policy: null, problem }
    const { version, issued, expires, closes } = stored.bundle
    const expired = expires !== null && Date.parse(expires) <= now
    const signers = stored.signers.length
    const policy = { version, issued, expires, expired, closes, signers }
    return { ...shared(), policy, problem, openings: announcedOpenings(machine, stored.bundle, now) }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { code, message } = error
    return { ...shared(), policy: null, problem: { code, message, time: new Date(now).toISOString() } }
  }
}
