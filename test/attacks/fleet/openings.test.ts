/** Break-glass opens no more, no longer and for nobody else than the policy says. */

import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import type { Bundle, SignedText } from '../../../src/fleet/bundle.ts'
import { acceptBundle, fleetDirectory } from '../../../src/fleet/bundle-store.ts'
import { machineKey, signEnrolment, writeCertificate } from '../../../src/fleet/identity.ts'
import { newOpening, type Opening, signOpening } from '../../../src/fleet/opening.ts'
import { syncOpenings, takeOpening } from '../../../src/organisation/break-glass.ts'
import { holdBus } from '../../../src/organisation/connection.ts'
import { organisationManifests } from '../../../src/project/load/organisation.ts'
import { openKeyStore } from '../../../src/system/keys/keychain.ts'
import { makeSigningKey, type SigningKey } from '../../../src/system/keys/signing-key.ts'
import { bundle, FLEET, type FleetWorld, layer, NOW, openFleetWorld, signedBy } from '../../fleet/fleet-world.ts'

const [ann, bob, eve] = [makeSigningKey().key, makeSigningKey().key, makeSigningKey().key]
const RULE: Partial<Bundle> = { rules: [{ groups: ['prod'], tools: ['break-glass'], people: 2 }] }
let world: FleetWorld
let own: SigningKey
let version = 0

const policy = (more: Partial<Bundle> = {}): Bundle =>
  bundle({
    version: ++version,
    layers: [
      { ...layer('[security]\npipes = false\n'), liftable: 3600 },
      { ...layer('[security]\nbackground = false\n'), liftable: 600 },
      layer('[security]\ncompound = false\n'),
    ],
    approvers: [
      { key: ann.publicKey, name: 'Ann', groups: ['prod'] },
      { key: bob.publicKey, name: 'Bob', groups: ['prod'] },
      { key: own.publicKey, name: 'Own', groups: ['prod'] },
    ],
    ...more,
  })
const publish = (more: Partial<Bundle> = {}) =>
  acceptBundle(world.machine.stateDir, world.settings(), signedBy(policy(more), world.team[0]!, world.team[1]!), NOW)
const minutes = (count: number) => NOW + count * 60_000
const closed = (now: number) =>
  ['pipes', 'background', 'compound'].filter((name) =>
    organisationManifests(world.machine, now).some(({ text }) => text.includes(`${name} = false`)),
  )
const opening = (seconds: number, more: Partial<Opening> = {}): Opening => ({
  ...newOpening({ fleet: FLEET, groups: ['prod'], reason: 'the site is down' }, seconds, NOW),
  ...more,
})
const take = (signed: SignedText, now = NOW) => takeOpening(world.settings(), world.machine, signed, now)

beforeEach(() => {
  version = 0
  world = openFleetWorld()
  world.join()
  own = machineKey(openKeyStore(world.machine.stateDir)).key
  const enrolment = { fleet: FLEET, machine: own.publicKey, name: 'm', role: 'machine', groups: ['prod'] } as const
  const certificate = signEnrolment({ ...enrolment, issued: '', nats: null }, world.team[0]!)
  writeCertificate(fleetDirectory(world.machine.stateDir), certificate)
  publish()
})
afterEach(() => world.close())

it('the control: it lifts the layers that allow so long, until it ends, and both are in the record', () => {
  expect(closed(NOW)).toEqual(['pipes', 'background', 'compound'])
  expect(take(signOpening(opening(600), ann))).toMatchObject([{ by: ['Ann'], reason: 'the site is down' }])
  expect(closed(minutes(1))).toEqual(['compound'])
  expect(closed(minutes(10))).toEqual(['pipes', 'background', 'compound'])
  take(signOpening(opening(60, { until: opening(0).issued }), ann), minutes(11))
  const folder = join(world.machine.stateDir, 'audit')
  const [log] = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  const lines = readFileSync(join(folder, log!), 'utf8').split('\n')
  expect(lines.filter((line) => line.includes('"about":"break-glass"'))).toEqual([
    expect.stringContaining('the site is down'),
    expect.stringContaining('"outcome":"ended"'),
  ])
})

it('lifts no layer for which it is too long', () => {
  take(signOpening(opening(601), ann))
  expect(closed(NOW)).toEqual(['background', 'compound'])
})

describe('an opening that does not count', () => {
  const rows: readonly [string, () => SignedText, Partial<Bundle>?, number?][] = [
    ['longer than any layer allows', () => signOpening(opening(3601), ann)],
    ['by a stranger', () => signOpening(opening(600), eve)],
    ['by the machine’s own key', () => signOpening(opening(600), own)],
    ['for other machines', () => signOpening(opening(600, { groups: ['dev'] }), ann)],
    ['of another fleet', () => signOpening(opening(600, { fleet: 'other' }), ann)],
    ['without a reason', () => signOpening(opening(600, { reason: ' ' }), ann)],
    ['from the future', () => signOpening(opening(600, { issued: new Date(minutes(30)).toISOString() }), ann)],
    ['with a longer time under its signature', () => changed((text) => text.replace('T00:10:00', 'T00:50:00'))],
    ['with another reason under its signature', () => changed((text) => text.replace('down', 'fine'))],
    ['by one person, where the policy wants two', () => signOpening(opening(600), ann), RULE],
    [
      'signed twice by one person',
      () => {
        const once = signOpening(opening(600), ann)
        return { ...once, signatures: [...once.signatures, ...once.signatures] }
      },
      RULE,
    ],
    ['by an approver who was revoked', () => signOpening(opening(600), ann), { revoked: [ann.publicKey] }],
    ['by an approver who was removed', () => signOpening(opening(600), ann), { approvers: [] }],
    [
      'of a policy that lifts nothing',
      () => signOpening(opening(600), ann),
      { layers: [layer('[security]\npipes = false\nbackground = false\ncompound = false\n')] },
    ],
  ]
  test.each(rows)('%s', (_, signed, more) => {
    publish(more)
    take(signed())
    expect(closed(NOW)).toEqual(['pipes', 'background', 'compound'])
  })
  it('the control: two people, each with a copy', () => {
    publish(RULE)
    const one = opening(600)
    take(signOpening(one, ann))
    expect(closed(NOW)).toHaveLength(3)
    take(signOpening(one, bob))
    expect(closed(NOW)).toEqual(['compound'])
  })
})

function changed(how: (text: string) => string): SignedText {
  const signed = signOpening(opening(600), ann)
  return { ...signed, payload: how(signed.payload) }
}

describe('one that counted ends at once', () => {
  const rows: readonly [string, Partial<Bundle>][] = [
    ['when its approver is removed', { approvers: [{ key: bob.publicKey, name: 'Bob', groups: ['prod'] }] }],
    ['when its approver is revoked', { revoked: [ann.publicKey] }],
    ['when the policy asks for two', RULE],
  ]
  test.each(rows)('%s', (_, more) => {
    take(signOpening(opening(600), ann))
    expect(closed(NOW)).toEqual(['compound'])
    publish(more)
    expect(closed(NOW)).toHaveLength(3)
  })
})

it('a clock set back does not revive it, fetched again or not', async () => {
  const signed = signOpening(opening(600), ann)
  take(signed)
  await syncOpenings(world.settings(), world.machine, holdBus(world.settings(), world.machine), minutes(20))
  expect(closed(minutes(1))).toHaveLength(3)
  take(signed, minutes(1))
  expect(closed(minutes(1))).toHaveLength(3)
  // The control: what keeps it closed is the time that was seen.
  rmSync(join(fleetDirectory(world.machine.stateDir), 'openings.json'))
  take(signed, minutes(1))
  expect(closed(minutes(1))).toEqual(['compound'])
})
