/** What `cordon fleet status` shows of this machine's fleet. */

import { fleetDirectory, storedBundle } from '../fleet/bundle-store.ts'
import { type Enrolment, readEnrolment } from '../fleet/identity.ts'
import { readFleetSettings } from '../fleet/settings.ts'
import { type FleetStatus, readStatus } from '../fleet/status.ts'
import { Fault } from '../system/fault.ts'
import type { Machine } from '../system/machine.ts'

export interface FleetView {
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
  /** Why no policy may be used, or what was refused last. */
  readonly problem: FleetStatus['problem']
  readonly checked: string | null
}

/** Looks; null where this machine is in no fleet. Asks no one. */
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
  })
  try {
    enrolment = readEnrolment(directory, settings)
    const stored = settings.policy === null ? null : storedBundle(machine.stateDir, settings)
    if (stored === null) return { ...shared(), policy: null, problem }
    const { version, issued, expires, closes } = stored.bundle
    const expired = expires !== null && Date.parse(expires) <= now
    const signers = stored.signers.length
    return { ...shared(), policy: { version, issued, expires, expired, closes, signers }, problem }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { code, message } = error
    return { ...shared(), policy: null, problem: { code, message, time: new Date(now).toISOString() } }
  }
}
