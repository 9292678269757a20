/** A whole fleet on real NATS servers: a team that runs it, a desk where machines join, and machines their own with homes. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bundle } from '../../src/fleet/bundle.ts'
import type { Role } from '../../src/fleet/identity.ts'
import type { FleetBus } from '../../src/fleet/nats/bus.ts'
import { type FleetSettings, readFleetSettings } from '../../src/fleet/settings.ts'
import { answerRelay } from '../../src/organisation/answer.ts'
import { joinByCode, makeStreams, openBus, serveDesk } from '../../src/organisation/connection.ts'
import { putBundle, signedBundle } from '../../src/organisation/draft.ts'
import { foundFleet, openTeam, type Team } from '../../src/organisation/team.ts'
import { type Machine, thisMachine } from '../../src/system/machine.ts'
import { bundle } from './fleet-world.ts'
import { type NatsServers, startNats } from './nats-servers.ts'

export interface NatsFleet {
  readonly base: string
  readonly servers: NatsServers
  readonly team: Team
  readonly admin: Machine
  readonly deskUrl: string
  readonly settings: FleetSettings
  /** A machine that has joined with a code. */
  machine(name: string, role?: Role, groups?: readonly string[]): Promise<Machine>
  bus(machine: Machine): Promise<FleetBus>
  publish(more: Partial<Bundle>): Promise<void>
  close(): Promise<void>
}

export async function openNatsFleet(count: number, asks = 30): Promise<NatsFleet> {
  process.env.CORDON_KEYCHAIN = 'off'
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-nats-')))
  const admin = machineIn(base, 'admin')
  // The servers have to know the fleet's keys, and the fleet its servers: their ports are found first.
  const ports = await startNats(base, count, () => '')
  const { urls } = ports
  const team = foundFleet(
    admin,
    { fleet: 'acme', signers: 1, policy: 'nats', nats: { servers: urls }, records: { nats: true }, asks },
    Date.now(),
  )
  await ports.close()
  ports.configure((folder) => team.natsConfiguration(Date.now(), folder))
  for (let index = 0; index < count; index++) await ports.start(index)
  const settings = readFleetSettings(admin)!
  const desk = serveDesk(team, { relay: answerRelay(settings, admin) })
  await new Promise<void>((resolve) => desk.listen(0, '127.0.0.1', resolve))
  const deskUrl = `http://127.0.0.1:${(desk.address() as AddressInfo).port}/`
  const bus = await settled(() => openBus(settings, admin))
  await settled(() => makeStreams(bus, count))
  await bus.close()
  return {
    base,
    servers: ports,
    team,
    admin,
    deskUrl,
    settings,
    async machine(name, role = 'machine', groups = []) {
      const machine = machineIn(base, name)
      const code = team.invite({ role, groups, expires: Date.now() + 60_000 })
      await joinByCode(machine, deskUrl, code, name)
      return machine
    },
    bus: (machine) => openBus(settings, machine),
    async publish(more) {
      const next = bundle({ issued: new Date().toISOString(), revoked: openTeam(admin).revoked(), ...more })
      await putBundle(team, admin, signedBundle(team, next, null).text, null)
    },
    async close() {
      desk.closeAllConnections()
      await new Promise((resolve) => desk.close(resolve))
      await ports.close()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

/** A cluster takes a moment until it has a leader. */
async function settled<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === 40) throw error
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }
}

/** Folders for one machine. */
export function machineIn(base: string, name: string): Machine {
  const home = join(base, name)
  mkdirSync(home, { mode: 0o700 })
  return {
    ...thisMachine(),
    cwd: home,
    home,
    configDir: join(home, 'config/cordon'),
    stateDir: join(home, 'state/cordon'),
    cacheDir: join(home, 'cache/cordon'),
    systemDir: join(home, 'etc'),
  }
}
