/** Approvers sign in at a real OpenID provider, in the browser and by a code, and their keys answer. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Identity } from '../../src/fleet/bundle.ts'
import { fleetHttp } from '../../src/fleet/http.ts'
import { machineKey } from '../../src/fleet/identity.ts'
import { deskKey, type Person, signInNonce, verifySignIn, vouchForSignIn } from '../../src/fleet/people.ts'
import { answerAsk, waitingAsks } from '../../src/organisation/answer.ts'
import { askFleet } from '../../src/organisation/ask-fleet.ts'
import { serveDesk } from '../../src/organisation/connection.ts'
import { discoverProvider, handInSignIn, signInWith, takeSignIn } from '../../src/organisation/sign-in.ts'
import { onBus, syncPolicy } from '../../src/organisation/sync.ts'
import { openKeyStore } from '../../src/system/keys/keychain.ts'
import { makeSigningKey } from '../../src/system/keys/signing-key.ts'
import type { Machine } from '../../src/system/machine.ts'
import { FLEET } from './fleet-world.ts'
import { type NatsFleet, openNatsFleet } from './nats-fleet.ts'
import { type OidcProvider, signInAs, startProvider } from './oidc-provider.ts'

let provider: OidcProvider
let identity: Identity
const http = fleetHttp({})
const signal = new AbortController().signal
beforeAll(async () => {
  provider = await startProvider()
  const { keys } = await discoverProvider(provider.issuer, http)
  const groups = { sre: ['*'] }
  identity = { issuer: provider.issuer, client: 'cordon', claim: 'groups', groups, session: 3600, keys }
})
afterAll(() => provider?.close())

const signedIn = (who: string, way: 'browser' | 'device', of = identity): Promise<Person> =>
  signInWith(
    { identity: of, fleet: FLEET, key: makeSigningKey().key, http, signal, show: (url) => void signInAs(who, url) },
    way,
  )

describe.each(['browser', 'device'] as const)('in the %s', (way) => {
  it('the provider’s word for a key counts everywhere', async () => {
    const given = await signedIn('ann', way)
    const desk = makeSigningKey().key
    const vouching = { ...identity, keys: [...identity.keys, deskKey(desk.publicKey)] }
    // The token of a device names no key, so it counts for nobody without the desk's word.
    expect('approver' in verifySignIn(given, identity, FLEET, Date.now())).toBe(way === 'browser')
    const person = way === 'browser' ? given : vouchForSignIn(given, vouching, FLEET, desk)!
    expect(vouchForSignIn(given, identity, FLEET, desk)).toBe(null)
    expect(verifySignIn(person, vouching, FLEET, Date.now())).toMatchObject({
      approver: { name: 'ann@example.com', groups: ['*'], subject: 'ann', key: person.key },
    })
    expect(verifySignIn(person, { ...identity, client: 'wiki' }, FLEET, Date.now())).toHaveProperty('problem')
  })
  it('who is in no group that may answer does not', async () => {
    await expect(signedIn('sue', way)).rejects.toThrow('names no group that may answer')
  })
})

it('a token of the same provider for another program does not count', async () => {
  const key = makeSigningKey().key
  const wiki = { ...identity, client: 'wiki' }
  const person = await signInWith(
    { identity: wiki, fleet: FLEET, key, http, signal, show: (url) => void signInAs('ann', url) },
    'browser',
  )
  expect(signInNonce(FLEET, key.publicKey)).toHaveLength(43)
  expect(verifySignIn(person, identity, FLEET, Date.now())).toEqual({ problem: 'it is for another program' })
})

describe('in a fleet', () => {
  let fleet: NatsFleet
  let machine: Machine
  let ann: Machine
  beforeAll(async () => {
    fleet = await openNatsFleet(1)
    machine = await fleet.machine('m1')
    ann = await fleet.machine('ann', 'approver')
    const keys = [...identity.keys, deskKey(fleet.team.key.publicKey)]
    await fleet.publish({ version: 1, identity: { ...identity, keys } })
    for (const one of [fleet.admin, machine, ann]) await syncPolicy(fleet.settings, one)
  })
  afterAll(() => fleet?.close())

  it('who signed in answers; before that nobody does', async () => {
    const question = {
      project: '/p',
      request: {
        tool: 'bash',
        subject: 'git push',
        once: 'x',
        input: { command: 'git push' },
        call: 'bash git push',
        facts: null,
        worst: { bound: 'unbounded', hosts: [], labels: [], text: 'anything' },
        decision: { reason: { code: 'x', message: 'it reaches out' }, rules: [] } as never,
        asks: [] as never,
        suggestions: [],
      },
      signal,
    } as const
    const asked = askFleet(fleet.settings, machine, question)
    const waiting = () => onBus(fleet.settings, ann, async (bus) => waitingAsks(fleet.settings, ann, await bus.open()))
    expect(await waiting()).toEqual([])
    await onBus(fleet.settings, fleet.admin, async (bus) => {
      const desk = serveDesk(fleet.team, {
        signIn: (body) => takeSignIn(fleet.team, fleet.admin, bus, body, Date.now()),
      })
      await new Promise<void>((done) => desk.listen(0, '127.0.0.1', done))
      const url = `http://127.0.0.1:${(desk.address() as { port: number }).port}/`
      const show = (page: string) => void signInAs('ann', page)
      expect(await handInSignIn(fleet.settings, ann, url, 'device', show, signal)).toMatchObject({ groups: ['*'] })
      // Somebody else's sign-in under that key is not taken.
      const stranger = await signedIn('ann', 'browser')
      const { publicKey } = machineKey(openKeyStore(ann.stateDir)).key
      const body = JSON.stringify({ ...stranger, key: publicKey })
      expect((await fetch(`${url}sign-in`, { method: 'POST', body })).status).toBe(403)
      await new Promise((done) => desk.close(done))
    })
    await expect.poll(waiting).toHaveLength(1)
    await onBus(fleet.settings, ann, async (bus) => {
      const servers = await bus.open()
      const [found] = await waitingAsks(fleet.settings, ann, servers)
      await answerAsk(fleet.settings, ann, servers, found!, 'yes')
    })
    expect(await asked).toEqual({ kind: 'once', by: 'fleet (ann@example.com)' })
  })
})
