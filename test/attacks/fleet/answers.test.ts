import { describe, expect, it, test } from 'vitest'
import { type FleetAsk, settleAsk, signAnswer, signAsk, verifyAsk } from '../../../src/fleet/ask.ts'
import type { Bundle } from '../../../src/fleet/bundle.ts'
import { type Role, signEnrolment } from '../../../src/fleet/identity.ts'
import { makeSigningKey, type SigningKey } from '../../../src/system/keys/signing-key.ts'
import { bundle, FLEET } from '../../fleet/fleet-world.ts'

const team = makeSigningKey().key
const machine = makeSigningKey().key
const ann = makeSigningKey().key
const annsPhone = makeSigningKey().key
const bob = makeSigningKey().key
const stranger = makeSigningKey().key
const ASKED = Date.parse('2026-06-01T10:00:00Z')
const at = (seconds: number) => new Date(ASKED + seconds * 1000).toISOString()

function certificate(key: SigningKey, groups: readonly string[] = ['dev'], by = team, role: Role = 'machine') {
  const enrolment = { fleet: FLEET, machine: key.publicKey, name: 'm1', role, groups, issued: at(-100), nats: null }
  return signEnrolment(enrolment, by)
}

const ask: FleetAsk = {
  fleet: FLEET,
  id: 'a1a1a1a1a1a1a1a1',
  machine: machine.publicKey,
  tool: 'bash',
  subject: 'git push',
  why: 'it reaches out',
  view: {},
  call: 'c1',
  project: '/p',
  asked: at(0),
  deadline: at(60),
}
const signed = signAsk(ask, machine, certificate(machine))
const otherAsk = signAsk({ ...ask, id: 'a2a2a2a2a2a2a2a2', subject: 'ls' }, machine, certificate(machine))

const policy = (more: Partial<Bundle> = {}): Bundle =>
  bundle({
    approvers: [
      { key: ann.publicKey, name: 'Ann', groups: ['dev'] },
      { key: annsPhone.publicKey, name: 'Ann', groups: ['dev'] },
      { key: bob.publicKey, name: 'Bob', groups: ['*'] },
      { key: machine.publicKey, name: 'the machine itself', groups: ['*'] },
    ],
    ...more,
  })

const answer = (key: SigningKey, verdict: 'yes' | 'no' = 'yes', seconds = 10, to = signed, fleet = FLEET): string =>
  JSON.stringify(signAnswer(to, fleet, { verdict, message: null, time: at(seconds) }, key))

function settled(answers: readonly string[], bundleOf = policy(), now = 20, groups = ['dev']): string | null {
  const facts = { payload: signed.payload, ask, groups, bundle: bundleOf, people: [], now: ASKED + now * 1000 }
  return settleAsk(facts, answers).settled
}

describe('what settles an ask', () => {
  const two = policy({ rules: [{ groups: ['dev'], tools: ['bash'], people: 2 }] })
  const rows: readonly [string, string | null, string | null][] = [
    ['a yes of somebody who may', settled([answer(ann)]), 'yes'],
    ['a no', settled([answer(ann, 'no')]), 'no'],
    ['a no after a yes that was not enough', settled([answer(ann), answer(bob, 'no')], two), 'no'],
    ['nobody', settled([]), null],
    ['an answer to another ask', settled([answer(ann, 'yes', 10, otherAsk)]), null],
    ['one for another fleet', settled([answer(ann, 'yes', 10, signed, 'other')]), null],
    ['a late one', settled([answer(ann, 'yes', 61)]), null],
    ['one in time that comes late', settled([answer(ann)], policy(), 61), 'no'],
    ['one from before the ask', settled([answer(ann, 'yes', -3600)]), null],
    ['one by a stranger', settled([answer(stranger)]), null],
    ['one by a revoked key', settled([answer(ann)], policy({ revoked: [ann.publicKey] })), null],
    ['one by the machine that asks', settled([answer(machine)]), null],
    ['one by somebody of another group', settled([answer(ann)], policy(), 20, ['ops']), null],
    ['one of two', settled([answer(ann)], two), null],
    ['one person twice', settled([answer(ann), answer(ann)], two), null],
    ['one person with two keys', settled([answer(ann), answer(annsPhone)], two), null],
    ['two people', settled([answer(ann), answer(bob)], two), 'yes'],
    [
      'a rule for another tool',
      settled([answer(ann)], policy({ rules: [{ groups: ['*'], tools: ['write'], people: 2 }] })),
      'yes',
    ],
    ['no JSON', settled(['{', '', 'null', '[]', '{"payload":"{}","signature":""}']), null],
    ['a changed verdict under the old signature', settled([answer(ann, 'no').replace('\\"no\\"', '\\"yes\\"')]), null],
  ]
  test.each(rows)('%s', (_, found, expected) => expect(found).toBe(expected))
})

describe('an ask that is shown to people', () => {
  const settings = { fleet: FLEET, keys: [team.publicKey] }
  const shown = (text: object, revoked: readonly SigningKey[] = []) =>
    verifyAsk(
      JSON.stringify(text),
      settings,
      revoked.map((key) => key.publicKey),
    ) !== null
  it('is one of an enrolled machine', () => {
    expect(shown(signed)).toBe(true)
    expect(shown({ ...signed, payload: signed.payload.replace('git push', 'git pull') })).toBe(false)
    expect(shown(signAsk(ask, stranger, certificate(machine)))).toBe(false)
    expect(shown(signAsk(ask, stranger, certificate(stranger)))).toBe(false)
    expect(shown(signAsk(ask, machine, certificate(machine, ['dev'], stranger)))).toBe(false)
    expect(shown(signed, [machine])).toBe(false)
    expect(shown(signed, [team])).toBe(false)
  })
  it.each([
    ['a name that is a subject', { id: 'a.b' }],
    ['a name for every subject', { id: '*' }],
    ['a name with a command for the servers', { id: 'a1\r\nPUB x 0\r\n' }],
    ['no text to show', { subject: 5 as never }],
    ['a deadline that never comes', { deadline: 'later' }],
  ])('is not one with %s', (_, odd) => {
    expect(shown(signAsk({ ...ask, ...odd }, machine, certificate(machine)))).toBe(false)
  })
})
