/** A roll-out goes on only on proof of health, and neither its stages nor the team's keys can be played back. */

import { describe, expect, it, test } from 'vitest'
import { signAsk } from '../../../src/fleet/ask.ts'
import {
  type Bundle,
  cosignBundle,
  layersOf,
  signBundle,
  type VerifiedBundle,
  verifyBundle,
} from '../../../src/fleet/bundle.ts'
import { acceptBundle, storedBundle } from '../../../src/fleet/bundle-store.ts'
import { counted, type Health, newTally, signHealth, verifyHealth } from '../../../src/fleet/health.ts'
import { signEnrolment } from '../../../src/fleet/identity.ts'
import { signedBundle } from '../../../src/organisation/draft.ts'
import type { MachineRow } from '../../../src/organisation/overview.ts'
import { finalBundle, judgeStage, planRollout, signRollout } from '../../../src/organisation/rollout.ts'
import { makeSigningKey, type SigningKey } from '../../../src/system/keys/signing-key.ts'
import { bundle, FLEET, layer, NOW, openFleetWorld, signedBy } from '../../fleet/fleet-world.ts'

const [OLD, NEW] = [layer('[security]\npipes = false\n'), layer('[security]\nbackground = false\n')]
const before = bundle({ version: 3, layers: [OLD] })
const after = bundle({ version: 4, layers: [NEW], issued: new Date(NOW).toISOString() })
const STAGES = [
  { groups: ['canary'], for: '2h' },
  { groups: ['dev'], for: '1h', refusals: 20 },
] as const
const plan = planRollout(before, after, STAGES)
const [canary, second, whole, back] = plan.bundles as [Bundle, Bundle, Bundle, Bundle]
const texts = (of: Bundle, groups: readonly string[]) => layersOf(of.layers, groups).map(({ manifest }) => manifest)

describe('the bundles of a roll-out', () => {
  const rows: readonly [string, Bundle, readonly string[], Bundle['layers'][number]][] = [
    ['the canary first', canary, ['canary'], NEW],
    ['a canary that is also more', canary, ['dev', 'canary'], NEW],
    ['others not yet', canary, ['dev'], OLD],
    ['nor machines without a group', canary, [], OLD],
    ['then the second', second, ['dev'], NEW],
    ['with the canary', second, ['canary'], NEW],
    ['and not the rest', second, ['prod'], OLD],
    ['at last everybody', whole, ['prod'], NEW],
    ['and the way back', back, ['canary'], OLD],
  ]
  test.each(rows)('%s', (_, of, groups, { manifest }) => {
    expect(texts(of, groups)).toEqual([manifest])
  })
  it('have rising versions, and the way back is above all of them', () => {
    expect(plan.bundles.map(({ version }) => version)).toEqual([4, 5, 6, 7])
    expect(canary.rollout!.last).toBe(7)
  })
  it('do not begin while another roll-out runs', () => {
    expect(() => planRollout(canary, after, STAGES)).toThrow('a roll-out is running')
    expect(planRollout(whole, after, STAGES).bundles).toHaveLength(4)
  })
})

describe('a stage on a machine', () => {
  const world = openFleetWorld()
  const hours = (count: number) => NOW + count * 3_600_000
  const take = (of: Bundle, now: number) => {
    const result = acceptBundle(world.machine.stateDir, world.settings(), signedBy(of, world.team[0]!), now)
    return 'refused' in result ? result.refused : result.accepted.bundle.version
  }
  it('is refused before its time, for anyone with its bundle, and after a rollback', () => {
    expect(take(before, NOW)).toBe(3)
    expect(take(whole, NOW)).toBe('too-early')
    expect(take(canary, NOW)).toBe(4)
    expect(take(second, hours(1))).toBe('too-early')
    expect(take(second, hours(2))).toBe(5)
    expect(take(back, hours(2))).toBe(7)
    expect(take(whole, hours(9))).toBe('rolled-back')
    world.close()
  })
})

const counts = (calls: number, refused: number) => ({ calls, refused, asked: 0 })
const well = (name: string, more: Partial<MachineRow> = {}): MachineRow => ({
  id: name,
  name,
  role: 'machine',
  groups: ['canary'],
  cordon: '1',
  policy: 4,
  isPublished: true,
  seen: new Date(NOW).toISOString(),
  silent: 10,
  problem: null,
  closed: false,
  drift: null,
  now: counts(100, 2),
  before: counts(100, 2),
  total: counts(200, 4),
  rules: {},
  ...more,
})

describe('what follows a stage', () => {
  const since = new Date(NOW).toISOString()
  const signed = plan.bundles.map((one) => signedBy(one, makeSigningKey().key))
  const state = (at: number) => ({ stages: plan.stages, texts: signed, at, since })
  const HOURS = 2 * 3600
  const rows: readonly [string, readonly MachineRow[], number, string][] = [
    ['the control', [well('a'), well('b')], HOURS, 'next'],
    ['before its time', [well('a')], HOURS - 1, 'wait'],
    ['a clock that was set back', [well('a')], -60, 'wait'],
    ['no machine at all', [], HOURS, 'wait'],
    ['machines of other groups', [well('a', { groups: ['dev'] })], HOURS, 'wait'],
    [
      'one that has never reported',
      [well('a'), well('b', { silent: null, policy: null, isPublished: false })],
      HOURS,
      'wait',
    ],
    ['one that went silent', [well('a'), well('b', { silent: 601 })], HOURS, 'wait'],
    ['one that is off for a day does not hold it up', [well('a'), well('b', { silent: 90_000 })], HOURS, 'next'],
    ['one that still has the policy before', [well('a'), well('b', { policy: 3, isPublished: false })], HOURS, 'wait'],
    ['another text of that version', [well('a', { isPublished: false })], HOURS, 'wait'],
    ['no call yet', [well('a', { now: counts(0, 0) })], HOURS, 'wait'],
    ['a problem', [well('a', { problem: 'unreachable' })], HOURS, 'wait'],
    ['a machine that refuses everything', [well('a'), well('b', { closed: true })], 60, 'stop'],
    ['refusals beyond the bound', [well('a', { now: counts(100, 8) })], 60, 'stop'],
    ['as many as before', [well('a', { now: counts(100, 50), before: counts(100, 48) })], HOURS, 'next'],
    ['beyond it in few calls', [well('a', { now: counts(3, 3) })], HOURS, 'wait'],
    [
      'one machine that reports millions of good calls hides no other’s refusals',
      [well('a', { now: counts(10 ** 9, 0) }), ...['b', 'c', 'd'].map((name) => well(name, { now: counts(100, 12) }))],
      60,
      'stop',
    ],
    [
      'one machine that reports refusals stops the rest only if it moves their mean',
      [well('a', { now: counts(10 ** 9, 10 ** 9) }), ...Array.from({ length: 30 }, (_, at) => well(`m${at}`))],
      HOURS,
      'next',
    ],
  ]
  test.each(rows)('%s', (_, machines, seconds, expected) => {
    expect(judgeStage(state(0), machines, NOW + seconds * 1000).step).toBe(expected)
  })
  it('the bound is that of the stage', () => {
    const worse = [well('a', { policy: 5, now: counts(100, 15) })]
    expect(judgeStage(state(1), worse, NOW + 3_600_000).step).toBe('next')
    expect(judgeStage(state(0), [{ ...worse[0]!, policy: 4 }], NOW + HOURS * 1000).step).toBe('stop')
  })
})

describe('the health of a machine', () => {
  const [team, machine, other] = [makeSigningKey().key, makeSigningKey().key, makeSigningKey().key]
  const certificate = (of: SigningKey, by = team) =>
    signEnrolment(
      { fleet: FLEET, machine: of.publicKey, name: 'm', role: 'machine', groups: ['canary'], issued: '', nats: null },
      by,
    )
  const time = new Date(NOW).toISOString()
  const { version: _, ...tally } = newTally({ version: 4, hash: 'h' }, time)
  const health = (more: Partial<Health> = {}): Health => ({
    ...tally,
    fleet: FLEET,
    machine: machine.publicKey,
    time,
    cordon: '1',
    problem: null,
    closed: false,
    openings: [],
    ...more,
  })
  const known = { fleet: FLEET, keys: [team.publicKey] }
  const verified = (text: string, revoked: readonly `ed25519:${string}`[] = []) =>
    verifyHealth(text, known, revoked, NOW) !== null
  const rows: readonly [string, () => string, boolean][] = [
    ['the control', () => signHealth(health(), machine, certificate(machine)), true],
    ['by another machine', () => signHealth(health(), other, certificate(other)), false],
    ['by another key under its certificate', () => signHealth(health(), other, certificate(machine)), false],
    ['by a machine that no team enrolled', () => signHealth(health(), machine, certificate(machine, other)), false],
    ['for another fleet', () => signHealth(health({ fleet: 'other' }), machine, certificate(machine)), false],
    [
      'from the future',
      () => signHealth(health({ time: new Date(NOW + 3_600_000).toISOString() }), machine, certificate(machine)),
      false,
    ],
    [
      'with more refusals than calls',
      () => signHealth(health({ now: counts(1, 2) }), machine, certificate(machine)),
      false,
    ],
    ['with fewer than none', () => signHealth(health({ now: counts(1, -1) }), machine, certificate(machine)), false],
    ['an ask of the machine', () => JSON.stringify(signAsk(health() as never, machine, certificate(machine))), false],
    [
      'changed afterwards',
      () => signHealth(health(), machine, certificate(machine)).replace('\\"calls\\":0', '\\"calls\\":9'),
      false,
    ],
  ]
  test.each(rows)('%s', (_, text, expected) => {
    expect(verified(text())).toBe(expected)
  })
  it('of a revoked machine', () => {
    expect(verified(signHealth(health(), machine, certificate(machine)), [machine.publicKey])).toBe(false)
  })
  it('is counted under the policy in force at the time of each call', () => {
    const line = (type: string, at: number) => ({
      type,
      time: new Date(at).toISOString(),
      decision: { rules: ['deny x'] },
    })
    let count = newTally(null, time)
    for (const one of [line('begin', NOW - 5), line('denied', NOW - 5), line('denied', NOW + 5), line('end', NOW + 5)])
      count = counted(count, one)
    expect(count).toMatchObject({
      now: counts(1, 1),
      before: counts(2, 1),
      total: counts(3, 2),
      rules: { 'deny x': 2 },
    })
  })
  it('cannot be filled with names of rules', () => {
    let count = newTally(null, time)
    for (let at = 0; at < 200; at++) count = counted(count, { type: 'denied', time, decision: { rules: [`r${at}`] } })
    expect(Object.keys(count.rules)).toHaveLength(51)
    expect(count.total.refused).toBe(200)
  })
})

describe('the keys of the team', () => {
  const [a, b, c, e] = Array.from({ length: 4 }, () => makeSigningKey().key) as [
    SigningKey,
    SigningKey,
    SigningKey,
    SigningKey,
  ]
  const root = { fleet: FLEET, keys: [a.publicKey], signers: 1, revoked: [] }
  const history = (found: VerifiedBundle | null = null) => found ?? { keys: [a.publicKey], needed: 1, changes: [] }
  const rotated = (version: number, keys: readonly SigningKey[], from: VerifiedBundle | null = null) =>
    bundle({ version, keys: keys.map(({ publicKey }) => publicKey), signers: from?.needed ?? 1 })
  const signed = (of: Bundle, from: VerifiedBundle | null, ...by: readonly SigningKey[]) => {
    const [first, ...others] = by
    return others.reduce((text, one) => signBundleAgain(text, one), signBundle(of, first!, history(from)))
  }
  const toB = verified(signed(rotated(2, [b]), null, a, b))
  const toC = verified(signed(rotated(3, [c]), toB, b, c))

  function verified(text: string, trust = root): VerifiedBundle {
    const found = verifyBundle(text, trust)
    if ('problem' in found) throw new Error(`${found.problem}: ${found.message}`)
    return found
  }
  const problem = (text: string, trust = root) => {
    const found = verifyBundle(text, trust)
    return 'problem' in found ? found.problem : 'ACCEPTED'
  }

  it('the control: a chain of rotations, for machines with the first keys and with the last', () => {
    const text = signed(rotated(4, [c]), toC, c)
    expect(verified(text).keys).toEqual([c.publicKey])
    expect(verified(text).team).toEqual([a, b, c].map(({ publicKey }) => publicKey))
    expect(problem(text, { ...root, keys: [c.publicKey] })).toBe('ACCEPTED')
  })
  const rows: readonly [string, () => string, string][] = [
    ['a rotation that the old keys did not sign', () => signed(rotated(2, [e]), null, e), 'unsigned'],
    ['one that the new keys did not sign', () => signed(rotated(2, [b]), null, a), 'unsigned'],
    ['an old key after the rotation, under the chain', () => signed(rotated(4, [c]), toC, a), 'unsigned'],
    [
      'a bundle that names other keys than the chain',
      () => signBundle(bundle({ version: 4, keys: [e.publicKey], signers: 1 }), c, { ...toC, keys: [e.publicKey] }),
      'malformed',
    ],
    [
      'a change out of another place of the chain',
      () => signed(rotated(4, [c]), { ...toC, changes: [toC.changes[1]!] }, c),
      'unsigned',
    ],
    [
      'a chain in another order',
      () => signed(rotated(4, [c]), { ...toC, changes: toC.changes.toReversed() }, c),
      'unsigned',
    ],
    [
      'a change from keys that the team never had, which would enrol machines',
      () => {
        const known = { keys: [a.publicKey, e.publicKey], needed: 1, changes: [] }
        return signBundleAgain(signBundle(rotated(2, [b]), a, known), b)
      },
      'malformed',
    ],
    ['keys without a chain', () => signBundle(bundle({ version: 4, keys: [a.publicKey], signers: 1 }), a), 'malformed'],
  ]
  test.each(rows)('%s', (_, text, expected) => {
    expect(problem(text())).toBe(expected)
  })

  it('a machine that knows a rotation takes no bundle without it, by whichever old key', () => {
    const world = openFleetWorld()
    const settings = world.settings({ keys: [a.publicKey] })
    const take = (text: string) => {
      const result = acceptBundle(world.machine.stateDir, settings, text, NOW)
      return 'refused' in result ? result.refused : result.accepted.bundle.version
    }
    expect(take(signedBy(bundle({ version: 1 }), a))).toBe(1)
    expect(take(signed({ ...rotated(2, [b]), revoked: [a.publicKey] }, null, a, b))).toBe(2)
    expect(storedBundle(world.machine.stateDir, settings)!.keys).toEqual([b.publicKey])
    // The key that was rotated away: alone, and with its own chain.
    expect(take(signedBy(bundle({ version: 9 }), a))).toBe('unsigned')
    expect(take(signed(rotated(9, [e]), null, a, e))).toBe('unsigned')
    expect(take(signed(rotated(3, [b]), toB, b))).toBe(3)
    world.close()
  })

  it('a rotated key that was not revoked does not come back either', () => {
    const world = openFleetWorld()
    const settings = world.settings({ keys: [a.publicKey] })
    const take = (text: string) => {
      const result = acceptBundle(world.machine.stateDir, settings, text, NOW)
      return 'refused' in result ? result.refused : result.accepted.bundle.version
    }
    expect(take(signed(rotated(2, [b]), null, a, b))).toBe(2)
    expect(take(signedBy(bundle({ version: 9 }), a))).toBe('rolled-back')
    expect(take(signed(rotated(9, [e]), null, a, e))).toBe('rolled-back')
    world.close()
  })

  it('one person does not bring a second self into the team to weaken a rule that needs two', () => {
    const world = openFleetWorld()
    const settings = world.settings({ keys: [a.publicKey, b.publicKey] })
    const two = { keys: [a.publicKey, b.publicKey], needed: 1, changes: [] }
    const rules = [{ groups: ['*'], tools: ['bash'], people: 2 }]
    const take = (text: string) => {
      const result = acceptBundle(world.machine.stateDir, settings, text, NOW)
      return 'refused' in result ? result.refused : result.accepted.bundle.version
    }
    expect(take(signedBy(bundle({ version: 1, rules }), a))).toBe(1)
    const added = bundle({ version: 2, rules, keys: [a.publicKey, e.publicKey], signers: 1 })
    const alone = signBundleAgain(signBundle(added, a, two), e)
    expect(take(alone)).toBe('malformed')
    expect(take(signBundleAgain(alone, b))).toBe(2)
    world.close()
  })
})

describe('the second signer', () => {
  const [a, b, e] = [makeSigningKey().key, makeSigningKey().key, makeSigningKey().key]
  const team = { key: b, settings: { keys: [a.publicKey, b.publicKey], signers: 2 } } as never
  it('signs no key change that was not shown', () => {
    const shown = bundle({ version: 2 })
    const good = signBundle(shown, a)
    expect(signedBundle(team, good, null).missing).toBe(0)
    const hidden = signBundle({ ...shown, keys: [e.publicKey], signers: 1 }, a, {
      keys: [a.publicKey, b.publicKey],
      needed: 2,
      changes: [],
    })
    const forged = JSON.stringify({ ...JSON.parse(good), changes: JSON.parse(hidden).changes })
    expect(() => signedBundle(team, forged, null)).toThrow('does not follow')
    // The control is one that was shown; one from keys that nobody knows would enrol machines by those.
    const open = { ...shown, keys: [b.publicKey, e.publicKey], signers: 1 }
    const from = (keys: readonly `ed25519:${string}`[]) => signBundle(open, a, { keys, needed: 2, changes: [] })
    // Eve is the one who has not signed yet.
    expect(signedBundle(team, from([a.publicKey]), null).missing).toBe(1)
    expect(() => signedBundle(team, from([a.publicKey, e.publicKey]), null)).toThrow('does not follow')
  })
  it('signs no stage that does not follow from the draft', () => {
    const first = { key: a, settings: { keys: [a.publicKey, b.publicKey], signers: 2 } } as never
    const { rollout, missing } = signRollout(first, null, after, STAGES, null)
    expect(missing).toBe(1)
    const final = finalBundle(rollout)!
    expect(final).toEqual(after)
    expect(signRollout(team, null, final, STAGES, rollout.texts).missing).toBe(0)
    const worse = rollout.texts.with(0, signBundle({ ...canary, layers: [] }, a))
    expect(() => signRollout(team, null, final, STAGES, worse)).toThrow('does not follow from its draft')
  })
})

function signBundleAgain(text: string, key: SigningKey): string {
  return cosignBundle(text, key)!
}
