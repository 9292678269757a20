import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { acceptBundle, storedBundle } from '../../../src/fleet/bundle-store.ts'
import { signEnrolment, writeCertificate } from '../../../src/fleet/identity.ts'
import { syncPolicy } from '../../../src/organisation/sync.ts'
import { readOrganisation } from '../../../src/project/load/memory.ts'
import { organisationManifests } from '../../../src/project/load/organisation.ts'
import { makeSigningKey, type SigningKey } from '../../../src/system/keys/signing-key.ts'
import { bundle, FLEET, type FleetWorld, layer, NOW, openFleetWorld, signedBy } from '../../fleet/fleet-world.ts'

let world: FleetWorld
beforeEach(() => {
  world = openFleetWorld(2)
})
afterEach(() => world.close())

const good = (version: number, more = {}) => signedBy(bundle({ version, ...more }), world.team[0]!, world.team[1]!)
const accept = (text: string, now = NOW) => acceptBundle(world.machine.stateDir, world.settings(), text, now)
const refusal = (text: string, now = NOW) => {
  const result = accept(text, now)
  return 'refused' in result ? result.refused : 'ACCEPTED'
}

describe('a bundle from anybody', () => {
  const stranger = makeSigningKey().key
  const payloadOf = (text: string) => JSON.parse(text) as { payload: string; signatures: { key: string }[] }
  const rows: readonly [string, (text: string) => string, string, string][] = [
    ['as it is', (text) => text, 'ACCEPTED', 'the control'],
    ['one signature of two', () => signedBy(bundle({ version: 3 }), world.team[0]!), 'unsigned', ''],
    [
      'the same signature twice',
      (text) => {
        const signed = payloadOf(text)
        return JSON.stringify({ ...signed, signatures: [signed.signatures[0], signed.signatures[0]] })
      },
      'unsigned',
      'one key counts once',
    ],
    [
      'a stranger’s signature beside one',
      () => signedBy(bundle({ version: 3 }), world.team[0]!, stranger),
      'unsigned',
      '',
    ],
    [
      'a stranger’s under the name of the team',
      () => {
        const signed = payloadOf(signedBy(bundle({ version: 3 }), stranger, world.team[0]!))
        signed.signatures[0]!.key = world.team[1]!.publicKey
        return JSON.stringify(signed)
      },
      'unsigned',
      'the name in it is not believed',
    ],
    [
      'another content under good signatures',
      (text) => {
        const signed = payloadOf(text)
        return JSON.stringify({ ...signed, payload: signed.payload.replace('"version":3', '"version":4') })
      },
      'unsigned',
      '',
    ],
    ['cut in the middle', (text) => text.slice(0, text.length / 2), 'unreadable', ''],
    ['empty', () => '', 'unreadable', 'what a cut download leaves'],
    [
      'too many signatures',
      (text) => JSON.stringify({ ...payloadOf(text), signatures: Array(1000).fill({ key: '', signature: '' }) }),
      'unreadable',
      'work for nothing',
    ],
    [
      'of another fleet',
      () => signedBy(bundle({ version: 3, fleet: 'other' }), world.team[0]!, world.team[1]!),
      'other-fleet',
      'the same team may run two',
    ],
    [
      'with a field too many',
      () => signedBy({ ...bundle({ version: 3 }), allow: 'all' } as never, world.team[0]!, world.team[1]!),
      'malformed',
      'from a newer Cordon: half a policy is not a policy',
    ],
    [
      'half a character instead of a whole one',
      () => {
        const signed = payloadOf(good(3, { layers: [layer('# \ufffd')] }))
        return JSON.stringify({ ...signed, payload: signed.payload.replace('\ufffd', '\ud800') })
      },
      'unsigned',
      'both are the same bytes when they are written',
    ],
    [
      'a second content under the same name',
      (text) => `${text.trim().slice(0, -1)}, "payload": ${JSON.stringify(JSON.stringify(bundle({ version: 9 })))}}`,
      'unsigned',
      'what is read is what was verified, whichever of the two it is',
    ],
    ['a version beyond what can be counted', () => good(2 ** 53), 'malformed', 'nothing could follow it'],
    [
      'a time without a zone',
      () => good(3, { expires: '2027-01-01T00:00:00' }),
      'malformed',
      'it would expire at another time on every machine',
    ],
    ['older than the one in force', () => good(1), 'rolled-back', ''],
    ['another one of the same version', () => good(2, { closes: 'everything' }), 'forked', ''],
    [
      'expired on arrival',
      () => good(3, { expires: '2026-05-31T00:00:00.000Z' }),
      'expired',
      'kept from us until it had expired',
    ],
  ]
  test.each(rows)('%s', (_, change, expected) => {
    accept(good(2))
    expect(refusal(change(good(3)))).toBe(expected)
    const { bundle: inForce } = storedBundle(world.machine.stateDir, world.settings())!
    expect(inForce.version).toBe(expected === 'ACCEPTED' ? 3 : 2)
  })
})

it('a revoked signer does not count for the next one', () => {
  accept(good(2, { revoked: [world.team[1]!.publicKey] }))
  expect(refusal(good(3))).toBe('unsigned')
})

it('nor does it for any later one, although the bundles between do not name it again', () => {
  const [b, a] = world.team as [SigningKey, SigningKey]
  const settings = world.settings({ signers: 1 })
  const take = (text: string) => {
    const taken = acceptBundle(world.machine.stateDir, settings, text, NOW)
    return 'accepted' in taken ? `version ${taken.accepted.bundle.version}` : taken.refused
  }
  const revoked = [a.publicKey]
  expect(take(signedBy(bundle({ version: 1, revoked }), b))).toBe('version 1')
  // The control: right after it, its signature does not count.
  expect(take(signedBy(bundle({ version: 2 }), a))).toBe('unsigned')
  expect(take(signedBy(bundle({ version: 2, revoked: [] }), b))).toBe('version 2')
  expect(storedBundle(world.machine.stateDir, settings)!.bundle.revoked).toEqual(revoked)
  expect(take(signedBy(bundle({ version: 3 }), a))).toBe('unsigned')
  // A crash before the floor was written does not bring it back either.
  const floor = join(world.machine.stateDir, 'fleet/policy-floor.json')
  const before = readFileSync(floor)
  expect(take(signedBy(bundle({ version: 3, revoked: [] }), b))).toBe('version 3')
  writeFileSync(floor, before)
  expect(take(signedBy(bundle({ version: 4 }), a))).toBe('unsigned')
})

it('the version stays the floor when the bundle itself is removed or exchanged', () => {
  accept(good(2))
  const old = good(2)
  const path = join(world.machine.stateDir, 'fleet/policy.bundle')
  accept(good(5))
  writeFileSync(path, old, { mode: 0o600 })
  expect(() => storedBundle(world.machine.stateDir, world.settings())).toThrow('version 5 was in force')
  rmSync(path)
  expect(() => storedBundle(world.machine.stateDir, world.settings())).toThrow('its file is gone')
  expect(refusal(good(4))).toBe('rolled-back')
  expect(refusal(good(6))).toBe('ACCEPTED')
})

it('a crash between the bundle and its floor keeps neither the same one out nor another one in', () => {
  accept(good(4))
  const floor = join(world.machine.stateDir, 'fleet/policy-floor.json')
  const before = readFileSync(floor)
  const five = good(5)
  accept(five)
  writeFileSync(floor, before)
  expect(refusal(good(5, { closes: 'everything' }))).toBe('forked')
  expect(refusal(five)).toBe('ACCEPTED')
  expect(JSON.parse(readFileSync(floor, 'utf8')).version).toBe(5)
})

it('a policy that is gone here comes anew, although its place says that it is the same', async () => {
  const asked: unknown[] = []
  const ports = {
    http: async ({ headers }: { headers?: Readonly<Record<string, string>> }) => {
      asked.push(headers?.['if-none-match'] ?? null)
      return asked.at(-1) === null
        ? { status: 200, header: () => '"e1"', text: good(2) }
        : { status: 304, header: () => null, text: '' }
    },
    bucket: async () => null,
  }
  const settings = world.settings({ policy: 'https://policy.example.com/' })
  const sync = () => syncPolicy(settings, world.machine, NOW, ports)
  expect([await sync(), await sync()]).toMatchObject([{ outcome: 'new' }, { outcome: 'unchanged' }])
  rmSync(join(world.machine.stateDir, 'fleet/policy.bundle'))
  expect(await sync()).toMatchObject({ outcome: 'new' })
  expect(asked).toEqual([null, '"e1"', null])
})

/** The layers of the policy; the machine's own files are denied beside them. */
const layersAt = (now: number) =>
  organisationManifests(world.machine, now).filter(({ label }) => label !== 'the fleet settings')

it('a machine whose certificate counts no more is not simply in no group', () => {
  world.join()
  accept(good(2, { layers: [layer('[security]\npipes = false\n', ['prod'])] }))
  const enrolment = {
    fleet: FLEET,
    machine: makeSigningKey().key.publicKey,
    name: 'm',
    role: 'machine' as const,
    groups: ['prod'],
    issued: '2026-01-01T00:00:00Z',
    nats: null,
  }
  const directory = join(world.machine.stateDir, 'fleet')
  writeCertificate(directory, signEnrolment(enrolment, world.team[0]!))
  expect(layersAt(NOW)).toHaveLength(1)
  writeCertificate(directory, signEnrolment(enrolment, makeSigningKey().key))
  expect(() => organisationManifests(world.machine, NOW)).toThrow('not by a key of the fleet')
})

it('settings that cannot be read do not count as absent', async () => {
  symlinkSync('/nowhere', join(world.machine.systemDir, 'fleet.json'))
  await expect(readOrganisation(world.machine)).rejects.toThrow('cannot be read')
})

it('a stored bundle that was changed is not used, and everything stays closed', () => {
  world.join()
  accept(good(2, { layers: [layer('[security]\npipes = false\n')] }))
  expect(layersAt(NOW)).toHaveLength(1)
  const path = join(world.machine.stateDir, 'fleet/policy.bundle')
  writeFileSync(path, readFileSync(path, 'utf8').replace('pipes = false', 'pipes = true '), { mode: 0o600 })
  expect(() => organisationManifests(world.machine, NOW)).toThrow('does not count')
})

it('in a fleet with a policy and without one, nothing is decided', () => {
  world.join()
  expect(() => organisationManifests(world.machine, NOW)).toThrow('has no policy of it yet')
})

const expiry = '2026-06-01T00:00:00.000Z'
test.each([
  ['nothing', 'nothing', NOW, 0],
  ['network, before', 'network', NOW - 1, 0],
  ['network, after', 'network', NOW, 1],
  ['everything, before', 'everything', NOW - 1, 0],
] as const)('an expired one closes %s', (_, closes, now, layers) => {
  world.join()
  accept(good(2, { expires: expiry, closes }), NOW - 10)
  const written = layersAt(now)
  expect(written).toHaveLength(layers)
  if (layers > 0) expect(written[0]!.text).toContain('deny_domains = ["*"]')
})

it('an expired one that closes everything closes it', () => {
  world.join()
  accept(good(2, { expires: expiry, closes: 'everything' }), NOW - 10)
  expect(() => organisationManifests(world.machine, NOW)).toThrow('closes everything')
})

it('the record says once what was refused, and the last good one applies', async () => {
  const ports = (text: string) => ({
    http: async () => ({ status: 200, header: () => null, text }),
    bucket: async () => null,
  })
  const settings = world.settings({ policy: 'https://policy.example.com/' })
  expect(await syncPolicy(settings, world.machine, NOW, ports(good(2)))).toMatchObject({ outcome: 'new' })
  for (let times = 0; times < 3; times++)
    expect(await syncPolicy(settings, world.machine, NOW, ports(good(1)))).toMatchObject({
      outcome: 'refused',
      code: 'rolled-back',
    })
  const log = readFileSync(join(world.machine.stateDir, 'audit/fleet.0.jsonl'), 'utf8').trim().split('\n')
  expect(log).toHaveLength(1)
  expect(JSON.parse(log[0]!)).toMatchObject({ type: 'warning', about: 'fleet-policy', code: 'rolled-back' })
  expect(storedBundle(world.machine.stateDir, settings)!.bundle.version).toBe(2)
})
