/** Counts the calls of this machine from its record, and reports its health to the team. */

import { join } from 'node:path'
import { parseLine } from '../audit/event.ts'
import { AuditQueue } from '../audit/queue.ts'
import { fleetDirectory } from '../fleet/bundle-store.ts'
import { counted, type Health, isTally, newTally, signHealth, type Tally, underPolicy } from '../fleet/health.ts'
import { fleetHttp } from '../fleet/http.ts'
import { machineKey, readCertificate } from '../fleet/identity.ts'
import { readStatus } from '../fleet/policy-source.ts'
import type { FleetSettings } from '../fleet/settings.ts'
import { activeOpenings, fleetMembership, organisationManifests } from '../project/load/organisation.ts'
import { Fault, messageOf } from '../system/fault.ts'
import { openKeyStore } from '../system/keys/keychain.ts'
import { withLock } from '../system/lock.ts'
import type { Machine } from '../system/machine.ts'
import { readOwnJson, writeOwnJson } from '../system/state.ts'
import { version } from '../system/version.ts'
import type { BusHolder } from './connection.ts'
import { openLayer } from './draft.ts'

/** What this machine has counted; null before the first time. */
export function metricsOf({ stateDir }: Pick<Machine, 'stateDir'>): Tally | null {
  return readOwnJson(tallyPath(fleetDirectory(stateDir)), isTally)
}

/** Counts what the record has got since, and for which policy. */
export function countCalls(machine: Machine, now: number): Tally {
  const directory = fleetDirectory(machine.stateDir)
  const path = tallyPath(directory)
  return withLock(`${path}.lock`, () => {
    const time = new Date(now).toISOString()
    const policy = policyOf(machine)
    let tally = underPolicy(readOwnJson(path, isTally) ?? newTally(policy, time), policy, time)
    const queue = new AuditQueue({ stateDir: machine.stateDir, cursor: join(directory, 'cursor-tally.json') })
    for (let batch = queue.next(); batch !== null; batch = queue.next()) {
      for (const { text } of batch.lines) tally = counted(tally, parseLine(text) ?? {})
      writeOwnJson(path, tally)
      batch.confirm()
    }
    writeOwnJson(path, tally)
    return tally
  })
}

function policyOf(machine: Machine): Tally['policy'] {
  try {
    const policy = fleetMembership(machine)?.policy
    return policy ? { version: policy.bundle.version, hash: policy.hash } : null
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

/** The health of this machine; null if it is not enrolled. */
export async function ownHealth(settings: FleetSettings, machine: Machine, now: number): Promise<string | null> {
  const directory = fleetDirectory(machine.stateDir)
  const certificate = readCertificate(directory)
  if (certificate === null) return null
  const { key } = machineKey(openKeyStore(machine.stateDir))
  const { version: _, ...tally } = countCalls(machine, now)
  const { problem } = readStatus(directory)
  const refusal = await loadProblem(machine, now)
  const health: Health = {
    ...tally,
    fleet: settings.fleet,
    machine: key.publicKey,
    time: new Date(now).toISOString(),
    cordon: version,
    problem: refusal ?? (problem && { code: problem.code, message: problem.message }),
    closed: refusal !== null,
    openings: openingsOf(machine, now),
  }
  return signHealth(health, key, certificate)
}

function openingsOf(machine: Machine, now: number): Health['openings'] {
  try {
    const membership = fleetMembership(machine)
    return membership === null
      ? []
      : activeOpenings(machine, membership, now).map(({ id, by, until }) => ({ id, by, until }))
  } catch (error) {
    if (error instanceof Fault) return []
    throw error
  }
}

/** Why the policy cannot be used here, so that every call is refused. */
async function loadProblem(machine: Machine, now: number): Promise<Health['problem']> {
  try {
    for (const manifest of organisationManifests(machine, now)) await openLayer(manifest)
    return null
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { code: error.code, message: messageOf(error) }
  }
}

/** Sends it to the servers, or to the team's desk; a team that does not hear it does not proceed. */
export async function reportHealth(
  settings: FleetSettings,
  machine: Machine,
  bus: BusHolder,
  now: number = Date.now(),
): Promise<string | null> {
  const health = await ownHealth(settings, machine, now)
  if (health === null || (settings.nats === null && settings.desk === null)) return null
  try {
    if (settings.nats !== null) await (await bus.open()).publishHealth(health)
    else {
      const url = new URL('/health', settings.desk!).href
      const { status } = await fleetHttp(settings.tls)({ url, method: 'POST', body: health })
      if (status !== 202) return `the desk answered ${status}`
    }
    return null
  } catch (error) {
    return messageOf(error)
  }
}

function tallyPath(directory: string): string {
  return join(directory, 'tally.json')
}
