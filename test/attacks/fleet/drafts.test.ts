/** Nothing that a draft of the fleet's policy changes goes unseen, and one person does not weaken a rule that needs two. */

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import type { Bundle, Identity } from '../../../src/fleet/bundle.ts'
import { acceptBundle, fleetDirectory, weakenedRules } from '../../../src/fleet/bundle-store.ts'
import { signEnrolment, writeCertificate } from '../../../src/fleet/identity.ts'
import { bundleDiff } from '../../../src/organisation/bundle-diff.ts'
import { syncPolicy } from '../../../src/organisation/sync.ts'
import { organisationManifests } from '../../../src/project/load/organisation.ts'
import { makeSigningKey } from '../../../src/system/keys/signing-key.ts'
import { bundle, FLEET, type FleetWorld, layer, NOW, openFleetWorld, signedBy } from '../../fleet/fleet-world.ts'

const [ann, bob, eve] = [makeSigningKey().key, makeSigningKey().key, makeSigningKey().key]

/** A policy of a team with its first keys. */
const OWN: Bundle = bundle({
  version: 3,
  expires: '2026-01-31T00:00:00.000Z',
  closes: 'network',
  grace: 900,
  layers: [layer('[security]\npipes = false\n'), layer('[security]\nbackground = false\n', ['ci'])],
  approvers: [
    { key: ann.publicKey, name: 'Ann', groups: ['*'] },
    { key: bob.publicKey, name: 'Bob', groups: ['prod'] },
  ],
  rules: [{ groups: ['prod'], tools: ['bash'], people: 2 }],
  revoked: [eve.publicKey],
})

/** A policy with something in every field. */
const FULL: Bundle = bundle({
  ...OWN,
  keys: [ann.publicKey, bob.publicKey],
  signers: 2,
  rollout: { stage: 1, stages: 2, last: 9, starts: '2026-01-01T00:00:00.000Z' },
})

/** It excludes listed approvers, so it is changed in a policy without them. */
const IDENTITY: Identity = {
  issuer: 'https://id.example.com',
  client: 'cordon',
  claim: 'groups',
  groups: { sre: ['prod'] },
  session: 3600,
  keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'a', kid: 'k1' }],
}

type Field = Exclude<keyof Bundle, 'fleet' | 'version' | 'issued'>

/** Other values for each field; the type makes a new field of a bundle a new row. */
const CHANGED: { readonly [F in Field]-?: readonly [Bundle[F], ...Bundle[F][]] } = {
  expires: [null, '2026-03-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'],
  closes: ['nothing', 'everything'],
  grace: [undefined, 60, 90_000],
  layers: [
    [],
    [layer('[security]\npipes = false\n')],
    [layer('[security]\npipes = false\n'), layer('[security]\nbackground = false\n', ['prod'])],
    [layer('[security]\npipes = false\n'), layer('[security]\nbackground = true\n', ['ci'])],
    [layer('# a comment\n[security]\npipes = false\n'), FULL.layers[1]!],
    [{ ...FULL.layers[0]!, liftable: 600 }, FULL.layers[1]!],
    [{ ...FULL.layers[0]!, only: ['prod'] }, FULL.layers[1]!],
    [{ ...FULL.layers[0]!, except: ['prod'] }, FULL.layers[1]!],
  ],
  approvers: [
    [],
    [FULL.approvers[0]!],
    [...FULL.approvers, { key: eve.publicKey, name: 'Eve', groups: ['dev'] }],
    [FULL.approvers[0]!, { ...FULL.approvers[1]!, groups: ['prod', 'dev'] }],
    [FULL.approvers[0]!, { ...FULL.approvers[1]!, name: 'Bobby' }],
    [FULL.approvers[0]!, { ...FULL.approvers[1]!, key: eve.publicKey }],
    FULL.approvers.toReversed(),
  ],
  rules: [
    [],
    [{ groups: ['prod'], tools: ['bash'], people: 1 }],
    [{ groups: ['prod'], tools: ['bash'], people: 3 }],
    [{ groups: ['dev'], tools: ['bash'], people: 2 }],
    [{ groups: ['prod'], tools: ['write'], people: 2 }],
    [FULL.rules[0]!, FULL.rules[0]!],
  ],
  revoked: [[], [eve.publicKey, bob.publicKey]],
  keys: [undefined, [ann.publicKey], [...FULL.keys!, eve.publicKey], FULL.keys!.toReversed()],
  signers: [1],
  identity: [
    IDENTITY,
    { ...IDENTITY, issuer: 'https://other.example.com' },
    { ...IDENTITY, client: 'other' },
    { ...IDENTITY, claim: 'roles' },
    { ...IDENTITY, groups: { sre: ['prod', 'dev'] } },
    { ...IDENTITY, groups: {} },
    { ...IDENTITY, session: 7200 },
    { ...IDENTITY, keys: [...IDENTITY.keys, { kty: 'OKP', crv: 'Ed25519', x: 'b', kid: 'k2' }] },
  ],
  rollout: [undefined, { ...FULL.rollout!, stage: 2 }, { ...FULL.rollout!, starts: '2026-02-01T00:00:00.000Z' }],
}

const rows = Object.entries(CHANGED).flatMap(([field, values]) =>
  values.map((value, index) => ({ field: field as Field, index, value })),
)

describe('fleet diff', () => {
  it('says nothing about the same policy', async () => {
    expect(await bundleDiff(FULL, { ...FULL, version: 4 }, null)).toEqual([])
  })

  test.each(rows)('shows a change of $field ($index)', async ({ field, value }) => {
    const after = { ...FULL, version: 4, [field]: value }
    const changes = await bundleDiff(FULL, after, null)
    expect(changes.map((one) => one.field)).toContain(field)
    expect(changes.map((one) => one.direction)).toEqual(
      changes.map((one) => one.direction).toSorted((a, b) => 'och'.indexOf(a[0]!) - 'och'.indexOf(b[0]!)),
    )
  })

  test.each(rows)('shows the way back of $field ($index)', async ({ field, value }) => {
    const other = { ...FULL, [field]: value }
    expect((await bundleDiff(other, { ...FULL, version: 4 }, null)).map((one) => one.field)).toContain(field)
  })

  test.each(CHANGED.identity.slice(1))('shows a change inside the sign-in (%#)', async (identity) => {
    const signedIn = { ...FULL, approvers: [], identity: IDENTITY }
    const after = { ...signedIn, version: 4, identity }
    for (const [from, to] of [
      [signedIn, after],
      [after, signedIn],
    ] as const)
      expect((await bundleDiff(from, to, null)).map((one) => one.field)).toContain('identity')
  })

  it('shows what opens first', async () => {
    const after = bundle({ version: 4, closes: 'everything' })
    const [first] = await bundleDiff(FULL, after, null)
    expect(first!.direction).toBe('opens')
  })
})

describe('a draft that weakens what several people must agree to', () => {
  let world: FleetWorld
  beforeEach(() => {
    world = openFleetWorld()
    accept(signedBy(OWN, world.team[0]!))
  })
  afterEach(() => world.close())

  const accept = (text: string) => {
    const result = acceptBundle(world.machine.stateDir, world.settings(), text, Date.parse('2026-01-10T00:00:00Z'))
    return 'refused' in result ? result.refused : 'accepted'
  }
  const drafts: readonly [name: string, change: Partial<Bundle>, weakens: boolean][] = [
    ['the control: another layer', { layers: [] }, false],
    ['drops the rule', { rules: [] }, true],
    ['asks one person', { rules: [{ groups: ['prod'], tools: ['bash'], people: 1 }] }, true],
    ['moves the rule to other machines', { rules: [{ groups: ['dev'], tools: ['bash'], people: 2 }] }, true],
    ['moves it to another tool', { rules: [{ groups: ['prod'], tools: ['write'], people: 2 }] }, true],
    ['covers every tool', { rules: [{ groups: ['prod'], tools: ['*'], people: 2 }] }, false],
    ['asks three', { rules: [{ groups: ['*'], tools: ['bash'], people: 3 }] }, false],
    [
      'adds a second self as an approver',
      { approvers: [...FULL.approvers, { key: eve.publicKey, name: 'Eve', groups: ['prod'] }] },
      true,
    ],
    [
      'gives one person two names',
      { approvers: [...FULL.approvers, { key: eve.publicKey, name: 'Ann 2', groups: ['*'] }] },
      true,
    ],
    [
      'adds an approver elsewhere',
      { approvers: [...FULL.approvers, { key: eve.publicKey, name: 'Eve', groups: ['dev'] }] },
      false,
    ],
    ['lets people sign in', { approvers: [], identity: IDENTITY }, true],
    ['removes an approver', { approvers: [FULL.approvers[0]!] }, false],
  ]
  test.each(drafts)('%s', (_, change, weakens) => {
    const next = { ...OWN, version: 4, ...change }
    expect(weakenedRules(OWN, next).length > 0).toBe(weakens)
    expect(accept(signedBy(next, world.team[0]!))).toBe(weakens ? 'two-people' : 'accepted')
    expect(accept(signedBy({ ...next, version: 5 }, world.team[0]!, world.team[1]!))).toBe('accepted')
  })
})

describe('a machine that cannot prove its membership', () => {
  let world: FleetWorld
  beforeEach(() => {
    world = openFleetWorld()
    world.join({ policy: 'https://policy.example.com/' })
    const machine = makeSigningKey().key.publicKey
    const enrolment = { fleet: FLEET, machine, name: 'm', role: 'machine', groups: [], issued: '', nats: null } as const
    writeCertificate(fleetDirectory(world.machine.stateDir), signEnrolment(enrolment, world.team[0]!))
  })
  afterEach(() => world.close())

  const minutes = (count: number) => NOW + count * 60_000
  const sync = (now: number, status: number, content: Bundle) =>
    syncPolicy(world.settings({ policy: 'https://policy.example.com/' }), world.machine, now, {
      http: async () => ({ status, header: () => null, text: status === 200 ? signedBy(content, world.team[0]!) : '' }),
      bucket: async () => null,
    })
  const outcome = (now: number): string => {
    try {
      const layers = organisationManifests(world.machine, now)
      return layers.some(({ text }) => text.includes('deny_domains')) ? 'no network' : 'open'
    } catch (error) {
      return (error as { code: string }).code
    }
  }

  const closing: readonly [closes: Bundle['closes'], grace: number | undefined, at: number, expected: string][] = [
    ['network', 900, 14, 'open'],
    ['network', 900, 16, 'no network'],
    ['everything', 900, 16, 'fleet-policy'],
    ['everything', undefined, 60 * 24, 'open'],
  ]
  test.each(closing)(
    'unreachable, closes %s, grace %s s, after %s minutes: %s',
    async (closes, grace, at, expected) => {
      const content = bundle({ closes, ...(grace !== undefined && { grace }) })
      expect(await sync(NOW, 200, content)).toMatchObject({ outcome: 'new' })
      expect(await sync(minutes(at), 503, content)).toMatchObject({ outcome: 'unreachable' })
      expect(outcome(minutes(at))).toBe(expected)
      // It opens again once the fleet accepts it.
      await sync(minutes(at), 200, content)
      expect(outcome(minutes(at))).toBe('open')
    },
  )

  test.each([401, 403])('refused with %s: everything closes after the grace time', async (status) => {
    const content = bundle({ closes: 'nothing' })
    await sync(NOW, 200, content)
    expect(await sync(minutes(1), status, content)).toMatchObject({ outcome: 'refused', code: 'fleet-refused' })
    expect(outcome(minutes(2))).toBe('open')
    // A server that cannot be reached afterwards does not reset the time.
    await sync(minutes(10), 503, content)
    await sync(minutes(12), status, content)
    expect(outcome(minutes(17))).toBe('fleet-revoked')
    await sync(minutes(18), 200, content)
    expect(outcome(minutes(18))).toBe('open')
  })

  it('one whose status was removed has proved nothing', async () => {
    await sync(NOW, 200, bundle({ closes: 'network', grace: 900 }))
    expect(outcome(minutes(1))).toBe('open')
    rmSync(join(fleetDirectory(world.machine.stateDir), 'status.json'))
    expect(outcome(minutes(1))).toBe('no network')
    writeFileSync(join(fleetDirectory(world.machine.stateDir), 'status.json'), 'x', { mode: 0o600 })
    expect(outcome(minutes(1))).not.toBe('open')
  })
})
