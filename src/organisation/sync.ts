/** Keeps the organisation's policy fresh: fetches it, verifies it, and reports its state. */

import { openAuditLog } from '../audit/log.ts'
import type { VerifiedBundle } from '../fleet/bundle.ts'
import { acceptBundle, fleetDirectory, storedBundle } from '../fleet/bundle-store.ts'
import { fleetHttp } from '../fleet/http.ts'
import { type Enrolment, readEnrolment } from '../fleet/identity.ts'
import { type FleetStatus, fetchPolicy, type PolicyPorts, readStatus, writeStatus } from '../fleet/policy-source.ts'
import { type FleetSettings, readFleetSettings } from '../fleet/settings.ts'
import { createRedactor } from '../scan/redact/redact.ts'
import { Fault, messageOf } from '../system/fault.ts'
import type { Machine } from '../system/machine.ts'
import { fleetBucket } from './connection.ts'

export type PolicySync =
  | { readonly outcome: 'new' | 'unchanged'; readonly policy: VerifiedBundle | null }
  /** The last good one stays in force. */
  | { readonly outcome: 'refused' | 'unreachable'; readonly code: string; readonly message: string }

/** Fetches the policy once. Only a machine that cannot write its own state makes it throw. */
export async function syncPolicy(
  settings: FleetSettings,
  machine: Machine,
  now: number = Date.now(),
  ports: PolicyPorts = { http: fleetHttp(settings.tls), bucket: () => fleetBucket(settings, machine) },
): Promise<PolicySync> {
  const place = settings.policy
  if (place === null) return { outcome: 'unchanged', policy: null }
  const directory = fleetDirectory(machine.stateDir)
  const before = readStatus(directory)
  const time = new Date(now).toISOString()
  const failed = (outcome: 'refused' | 'unreachable', code: string, message: string): PolicySync => {
    if (before.problem?.code !== code || before.problem.message !== message)
      report(machine, { outcome, code, message, place, time })
    const refused = code === 'fleet-refused' ? (before.refused ?? time) : before.refused
    writeStatus(directory, { ...before, checked: time, refused, problem: { code, message, time } })
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
  try {
    return storedBundle(stateDir, settings) !== null
  } catch {
    return false
  }
}

/** A refused policy is in the record: somebody tried, or something is broken, and both are worth knowing. */
function report(machine: Machine, facts: Readonly<Record<string, unknown>>): void {
  const redactor = createRedactor()
  const log = openAuditLog({
    stateDir: machine.stateDir,
    session: 'fleet',
    now: () => new Date().toISOString(),
    redact: (text) => redactor.redact(text),
    sync: 'never',
    shared: true,
  })
  try {
    log.record({ type: 'warning', about: 'fleet-policy', ...facts })
  } finally {
    log.close()
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
