/** Operators of a fleet on a real NATS server: the overview, break-glass, one's own records, and a network that is cut. */

import { spawnSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAuditLog } from '../../src/audit/log.ts'
import { machineKey } from '../../src/fleet/identity.ts'
import { newOpening, signOpening } from '../../src/fleet/opening.ts'
import { publishOpening, signedOpening, syncOpenings } from '../../src/organisation/break-glass.ts'
import { holdBus, pushRevocations } from '../../src/organisation/connection.ts'
import { reportHealth } from '../../src/organisation/machine-health.ts'
import { fleetOverview } from '../../src/organisation/overview.ts'
import { fleetRecords, verifyReceived } from '../../src/organisation/received.ts'
import { shipRecords } from '../../src/organisation/ship.ts'
import { onBus, portsOf, syncPolicy } from '../../src/organisation/sync.ts'
import { organisationManifests } from '../../src/project/load/organisation.ts'
import { openKeyStore } from '../../src/system/keys/keychain.ts'
import { keyId } from '../../src/system/keys/signing-key.ts'
import type { Machine } from '../../src/system/machine.ts'
import { layer } from './fleet-world.ts'
import { type NatsFleet, openNatsFleet } from './nats-fleet.ts'

const CLI = process.env.CORDON_CLI ?? join(import.meta.dirname, '../../dist/cordon.cjs')
const node = realpathSync(process.execPath)
const keyOf = (of: Machine) => machineKey(openKeyStore(of.stateDir)).key
const minutes = (count: number) => Date.now() + count * 60_000
const LIFTABLE = { ...layer('[security]\npipes = false\n'), liftable: 3600 }

let fleet: NatsFleet
let machine: Machine
let ann: Machine
let version = 0

beforeAll(async () => {
  fleet = await openNatsFleet(1)
  machine = await fleet.machine('m1', 'machine', ['prod'])
  ann = await fleet.machine('ann', 'approver')
  await publish()
  for (const one of [fleet.admin, machine, ann]) await syncPolicy(fleet.settings, one)
})
afterAll(() => fleet?.close())

const publish = (more: object = {}) =>
  fleet.publish({
    version: ++version,
    layers: [LIFTABLE],
    approvers: [{ key: keyOf(ann).publicKey, name: 'Ann', groups: ['*'] }],
    ...more,
  })

/** The command line of one of the machines. */
function cordon(of: Machine, ...args: readonly string[]) {
  const folder = (name: string) => join(of.home, name)
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: of.home,
    XDG_CONFIG_HOME: folder('config'),
    XDG_STATE_HOME: folder('state'),
    XDG_CACHE_HOME: folder('cache'),
    CORDON_KEYCHAIN: 'off',
  }
  return spawnSync(node, [CLI, 'fleet', ...args], { env, cwd: of.home, encoding: 'utf8' })
}

function record(of: Machine, session: string, types: readonly ('begin' | 'denied')[]): void {
  const log = openAuditLog({
    stateDir: of.stateDir,
    session,
    now: () => new Date().toISOString(),
    redact: (text) => text,
    sync: 'never',
  })
  for (const [at, type] of types.entries()) {
    const decision = { verdict: type === 'denied' ? 'deny' : 'allow', reason: 'x', rules: ['deny curl'] } as const
    log.record({ type, call: `c${at}`, tool: 'bash', args_hash: 'x', decision })
  }
  log.close()
}

describe('the overview', () => {
  it('is what machines report on their next sync', async () => {
    record(machine, 's1', ['begin', 'begin', 'denied'])
    expect(cordon(machine, 'sync').stdout).toContain('policy')
    const status = JSON.parse(cordon(fleet.admin, 'status', '--json').stdout)
    expect(status.overview).toMatchObject({
      policy: version,
      total: { calls: 3, refused: 1 },
      refusals: { 'deny curl': 1 },
      asks: 0,
      policies: { [version]: 1, none: 1 },
    })
    const shown = cordon(fleet.admin, 'status').stdout
    expect(shown).toContain('calls    3, 1 refused: deny curl (1)')
    expect(shown).toContain('ann')
    expect(shown).toContain('it has never reported')
    // There is one nowhere else, and a machine may not read that of others.
    expect(JSON.parse(cordon(machine, 'status', '--json').stdout).overview).toBe(null)
  })

  it('a machine reports for itself alone', async () => {
    const hostile = await fleet.machine('hostile')
    const bus = await fleet.bus(hostile)
    const other = bus.names.health(keyId(keyOf(machine).publicKey))
    const { jetstream } = await import('@nats-io/jetstream')
    await expect(jetstream(bus.connection, { timeout: 500 }).publish(other, '{}')).rejects.toThrow()
    await expect(bus.publishOpenings('[]')).rejects.toThrow()
    await bus.close()
  })
})

it('verifies its own records on the servers, and reads nobody else’s', async () => {
  record(ann, 's2', ['begin'])
  for (const one of [machine, ann]) await shipRecords(fleet.settings, one, new AbortController().signal)
  const own = await fleetRecords(machine)
  const id = keyId(keyOf(machine).publicKey)
  expect(own.length).toBeGreaterThan(2)
  expect(new Set(own.map((one) => one.machine))).toEqual(new Set([id]))
  expect(verifyReceived(own, [])).toMatchObject({ ok: true })
  expect(new Set((await fleetRecords(fleet.admin)).map((one) => one.machine)).size).toBe(2)
  const { readRecords } = await import('../../src/fleet/nats/admin.ts')
  const bus = await fleet.bus(machine)
  await expect(readRecords(bus, keyId(keyOf(ann).publicKey))).rejects.toThrow()
  await expect(readRecords(bus, null)).rejects.toThrow()
  await bus.close()
})

describe('break-glass', () => {
  const closed = (now = Date.now()) => organisationManifests(machine, now).some(({ text }) => text.includes('pipes'))
  it('reaches machines with their next sync, and everybody hears of it', async () => {
    const request = { groups: ['prod'], reason: 'the site is down', seconds: 1800 }
    const { signed, counts } = signedOpening(fleet.settings, ann, request, Date.now())
    expect(counts).toBe(true)
    await onBus(fleet.settings, ann, (bus) => publishOpening(bus, ann, signed))
    expect(closed()).toBe(true)
    expect(cordon(machine, 'sync').stdout).toContain('break-glass by Ann')
    expect(closed()).toBe(false)
    expect(closed(minutes(31))).toBe(true)
    for (const one of [machine, ann]) {
      await onBus(fleet.settings, one, (bus) => syncOpenings(fleet.settings, one, bus))
      expect(cordon(one, 'status').stdout).toContain('the site is down')
    }
    const overview = await onBus(fleet.settings, fleet.admin, (bus) => fleetOverview(fleet.team, fleet.admin, bus))
    expect(overview.openings).toMatchObject([{ by: ['Ann'] }])
    expect(cordon(machine, 'break-glass').stdout).toContain('prod until')
  })

  it('a machine whose network is cut takes it from a file, and a machine signs none for itself', () => {
    const out = join(fleet.base, 'opening.json')
    const args = ['break-glass', '--reason', 'x', '--for', '10m', '--groups', 'prod', '--out', out]
    expect(cordon(machine, ...args).stderr).toContain('does not name this machine’s key as an approver')
    expect(cordon(ann, ...args).status).toBe(0)
    expect(cordon(machine, 'break-glass', 'take', out).stdout).toContain('opened until')
    const forged = signOpening(
      newOpening({ fleet: 'acme', groups: ['prod'], reason: 'x' }, 600, Date.now()),
      keyOf(machine),
    )
    expect(forged.signatures).toHaveLength(1)
  })
})

describe('a network that is cut', () => {
  const open = (now: number) => {
    try {
      return organisationManifests(machine, now).length > 0
    } catch {
      return false
    }
  }
  it('closes a machine after the grace time, over one kept connection, and opens it again', async () => {
    await publish({ closes: 'everything', grace: 900 })
    const bus = holdBus(fleet.settings, machine)
    const sync = (now = Date.now()) => syncPolicy(fleet.settings, machine, now, portsOf(fleet.settings, bus))
    expect(await sync()).toMatchObject({ outcome: 'new' })
    await fleet.servers.kill(0)
    expect(await sync()).toMatchObject({ outcome: 'unreachable' })
    expect(await onBus(fleet.settings, machine, (own) => reportHealth(fleet.settings, machine, own))).not.toBe(null)
    expect(open(minutes(14))).toBe(true)
    expect(open(minutes(16))).toBe(false)
    // A clock that is set back does not lengthen it.
    expect(open(minutes(-60))).toBe(false)
    await fleet.servers.start(0)
    await expect.poll(() => sync().then(({ outcome }) => outcome), { timeout: 30_000 }).toBe('unchanged')
    expect(open(minutes(14))).toBe(true)
    // Revoked while it is connected: the same connection is refused.
    fleet.team.revoke(keyOf(machine).publicKey, Date.now())
    await pushRevocations(fleet.team, fleet.admin)
    await expect
      .poll(() => sync().then((found) => ('code' in found ? found.code : found.outcome)), { timeout: 30_000 })
      .toBe('fleet-refused')
    expect(open(minutes(5))).toBe(true)
    expect(open(minutes(16))).toBe(false)
    await bus.close()
  })
})
