/** The machine's connection to its fleet's NATS servers; the client is loaded with the first one. */

import { fleetDirectory } from '../fleet/bundle-store.ts'
import { machineKey, readEnrolment } from '../fleet/identity.ts'
import type { FleetBus } from '../fleet/nats/bus.ts'
import type { FleetSettings } from '../fleet/settings.ts'
import { Fault } from '../system/fault.ts'
import { openKeyStore } from '../system/keys/keychain.ts'
import type { Machine } from '../system/machine.ts'
import type { Team } from './team.ts'

/** Connects as the machine that was enrolled here. */
export async function openBus(settings: FleetSettings, machine: Machine): Promise<FleetBus> {
  if (settings.nats === null) throw new Fault('fleet-settings', 'this fleet has no NATS servers')
  const enrolment = readEnrolment(fleetDirectory(machine.stateDir), settings)
  const { key, secret } = machineKey(openKeyStore(machine.stateDir))
  if (enrolment === null || enrolment.nats === null || enrolment.machine !== key.publicKey)
    throw new Fault('no-fleet', 'this machine is not enrolled with the NATS servers of its fleet', {
      remedy: 'Join with a code of the team: cordon fleet join URL CODE.',
    })
  const { connectBus } = await import('../fleet/nats/bus.ts')
  return connectBus({
    fleet: settings.fleet,
    servers: settings.nats.servers,
    tls: settings.tls,
    machine: enrolment.machine,
    name: enrolment.name,
    token: enrolment.nats,
    secret,
  })
}

/** The newest bundle in the fleet's bucket. */
export async function fleetBucket(settings: FleetSettings, machine: Machine): Promise<string | null> {
  const bus = await openBus(settings, machine)
  try {
    return await bus.readPolicy()
  } finally {
    await bus.close()
  }
}

/** Has the NATS servers take the fleet's account as it is now, with every key that was taken back. */
export async function pushRevocations(team: Team, machine: Machine): Promise<void> {
  const { settings } = team
  if (settings.nats === null) return
  const { account, login } = team.natsAccount(Date.now())
  const { key, secret } = machineKey(openKeyStore(machine.stateDir))
  const { openConnection } = await import('../fleet/nats/bus.ts')
  const { pushAccount } = await import('../fleet/nats/admin.ts')
  const connection = await openConnection({
    fleet: settings.fleet,
    servers: settings.nats.servers,
    tls: settings.tls,
    machine: key.publicKey,
    name: 'cordon fleet revoke',
    token: login,
    secret,
  })
  try {
    await pushAccount(connection, account)
  } finally {
    await connection.close()
  }
}

/** Makes the bucket and the streams of a fleet, each message kept on so many servers. */
export async function makeStreams(bus: FleetBus, replicas: number): Promise<void> {
  const admin = await import('../fleet/nats/admin.ts')
  await admin.makeStreams(bus, replicas)
}
