import { describe, expect, it } from 'vitest'
import { settleAsk, signAnswer, signAsk } from '../../../src/fleet/ask.ts'
import { fleetSubjects, natsLogin, permissionsOf, subjectPart } from '../../../src/fleet/nats/subjects.ts'
import { makeSigningKey } from '../../../src/system/keys/signing-key.ts'
import { bundle, FLEET } from '../../fleet/fleet-world.ts'

const machine = makeSigningKey().key
const ann = makeSigningKey().key

describe('a NATS server that chooses what to have signed', () => {
  const ask = {
    fleet: FLEET,
    id: 'a1a1a1a1a1a1a1a1',
    machine: machine.publicKey,
    tool: 'bash',
    subject: 'git push',
    why: '',
    view: {},
    call: 'c1',
    project: '/p',
    asked: '2026-06-01T10:00:00Z',
    deadline: '2026-06-01T10:01:00Z',
  }
  const signed = signAsk(ask, machine, null as never)
  const answer = { verdict: 'yes', message: null, time: '2026-06-01T10:00:10Z' } as const
  const wanted = signAnswer(signed, FLEET, answer, ann)
  const settled = (signature: string) =>
    settleAsk(
      {
        payload: signed.payload,
        ask,
        groups: [],
        people: [],
        bundle: bundle({ approvers: [{ key: ann.publicKey, name: 'Ann', groups: ['*'] }] }),
        now: Date.parse(answer.time),
      },
      [JSON.stringify({ payload: wanted.payload, signature })],
    ).settled

  it('gets none for an answer instead of a challenge', () => {
    const challenge = `cordon-fleet-answer-v1\0${wanted.payload}`
    // The control: the very signature that the server is after would be a yes.
    expect(settled(ann.sign(challenge))).toBe('yes')
    expect(() => natsLogin(ann, 'token', challenge)).toThrow('challenge')
  })

  it.each([
    ['nothing', ''],
    ['a header of a token', `${Buffer.from('{"typ":"JWT"}').toString('base64url')}.e30`],
    ['an ask', 'cordon-fleet-ask-v1\0{}'],
    ['too much', 'a'.repeat(65)],
  ])('nor for %s', (_, challenge) => expect(() => natsLogin(ann, 'token', challenge)).toThrow('challenge'))

  it('gets one for a challenge', () => {
    expect(natsLogin(ann, 'token', 'ZCbSrsHFx8s1Jkw').sig).toMatch(/^[\w-]{86}$/)
  })
})

describe('subjects', () => {
  it.each(['a.b', '*', '>', 'a b', 'a\r\nPUB x 0', '', 'ä'])(
    '%j stays one part of its machine’s subject',
    (session) => {
      const part = subjectPart(session)
      expect(part).toMatch(/^[0-9a-f]{32}$/)
      expect(fleetSubjects(FLEET).records('m', part).split('.')).toHaveLength(5)
    },
  )

  it('a machine may write below its own name alone, and an approver answer under their own', () => {
    const { pub } = permissionsOf(FLEET, machine.publicKey, 'machine')
    expect(pub.allow.some((subject) => /(?:records|asks)\.\*/.test(subject) || subject.includes('>'))).toBe(false)
    expect(pub.allow.filter((subject) => subject.startsWith(`cordon.${FLEET}.answers`))).toEqual([])
    const answers = permissionsOf(FLEET, ann.publicKey, 'approver').pub.allow.filter((subject) =>
      subject.startsWith(`cordon.${FLEET}.answers`),
    )
    expect(answers).toHaveLength(1)
    expect(answers[0]).not.toMatch(/\*$/)
  })
})
