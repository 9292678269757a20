import { jetstream } from '@nats-io/jetstream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAuditLog } from '../../src/audit/log.ts'
import { signAnswer } from '../../src/fleet/ask.ts'
import { storedBundle } from '../../src/fleet/bundle-store.ts'
import { machineKey } from '../../src/fleet/identity.ts'
import { publishAnswer } from '../../src/fleet/nats/admin.ts'
import { connectBus } from '../../src/fleet/nats/bus.ts'
import { recordId } from '../../src/fleet/ship/record.ts'
import { answerAsk, waitingAsks } from '../../src/organisation/answer.ts'
import { askFleet, type FleetQuestion } from '../../src/organisation/ask-fleet.ts'
import { joinByCode, pushRevocations } from '../../src/organisation/connection.ts'
import { fleetRecords, verifyReceived } from '../../src/organisation/received.ts'
import { shipRecords } from '../../src/organisation/ship.ts'
import { syncPolicy } from '../../src/organisation/sync.ts'
import { organisationManifests } from '../../src/project/load/organisation.ts'
import { openKeyStore } from '../../src/system/keys/keychain.ts'
import { keyId, makeSigningKey } from '../../src/system/keys/signing-key.ts'
import type { Machine } from '../../src/system/machine.ts'
import { bundle, layer, signedBy } from './fleet-world.ts'
import { machineIn, type NatsFleet, openNatsFleet } from './nats-fleet.ts'

let fleet: NatsFleet
let machine: Machine
let ann: Machine
let bob: Machine
const keyOf = (of: Machine) => machineKey(openKeyStore(of.stateDir)).key

const RULES = [{ groups: ['*'], tools: ['write'], people: 2 }]

beforeAll(async () => {
  fleet = await openNatsFleet(1)
  machine = await fleet.machine('m1', 'machine', ['dev'])
  ann = await fleet.machine('ann', 'approver')
  bob = await fleet.machine('bob', 'approver')
  await fleet.publish({
    version: 1,
    layers: [layer('[security]\npipes = false\n'), layer('[security]\ncompound = false\n', ['ops'])],
    approvers: [
      { key: keyOf(ann).publicKey, name: 'Ann', groups: ['*'] },
      { key: keyOf(bob).publicKey, name: 'Bob', groups: ['*'] },
    ],
    rules: RULES,
  })
  for (const one of [machine, ann, bob]) expect(await syncPolicy(fleet.settings, one)).toMatchObject({ outcome: 'new' })
})
afterAll(() => fleet?.close())

describe('identity', () => {
  it('a code is used once, and only by one machine', async () => {
    const code = fleet.team.invite({ role: 'machine', groups: [], expires: Date.now() + 60_000 })
    const guessed = `${code.slice(0, 9)}${'0'.repeat(32)}`
    await expect(joinByCode(machineIn(fleet.base, 'thief'), fleet.deskUrl, guessed, 'thief')).rejects.toThrow('403')
    await joinByCode(machineIn(fleet.base, 'once'), fleet.deskUrl, code, 'once')
    await expect(joinByCode(machineIn(fleet.base, 'twice'), fleet.deskUrl, code, 'twice')).rejects.toThrow('403')
  })

  it('an expired code does not count', async () => {
    const code = fleet.team.invite({ role: 'machine', groups: [], expires: Date.now() - 1 })
    await expect(joinByCode(machineIn(fleet.base, 'late'), fleet.deskUrl, code, 'late')).rejects.toThrow('403')
  })

  it('the key alone is a login, and no other key is', async () => {
    const enrolled = JSON.parse(
      (await import('node:fs')).readFileSync(`${machine.stateDir}/fleet/certificate.json`, 'utf8'),
    ) as { payload: string }
    const { nats } = JSON.parse(enrolled.payload) as { nats: string }
    const stranger = makeSigningKey()
    const options = {
      fleet: 'acme',
      servers: fleet.servers.urls,
      tls: {},
      machine: stranger.key.publicKey,
      name: 'x',
      token: nats,
      secret: stranger.secret,
    }
    await expect(connectBus(options)).rejects.toThrow('refuse this machine')
  })
})

it('a machine has the layers of its groups and no others', () => {
  // The first one keeps the fleet's own files closed.
  expect(organisationManifests(machine, Date.now()).slice(1)).toMatchObject([
    { text: 'schema_version = 1\n[security]\npipes = false\n' },
  ])
})

const openLog = (session: string) =>
  openAuditLog({
    stateDir: machine.stateDir,
    session,
    now: () => new Date().toISOString(),
    redact: (text) => text,
    sync: 'never',
  })

it('records arrive once and whole, however often they are sent', async () => {
  const log = openLog('s1')
  for (let index = 0; index < 1200; index++) log.record({ type: 'warning', index })
  log.close()
  const signal = new AbortController().signal
  expect(await shipRecords(fleet.settings, machine, signal)).toMatchObject([{ sent: 1201, problem: null }])
  const { rmSync } = await import('node:fs')
  rmSync(`${machine.stateDir}/fleet/cursor-nats.json`)
  // The cursor is lost, and everything goes again: the servers know it by its name.
  expect(await shipRecords(fleet.settings, machine, signal)).toMatchObject([{ sent: 1201, problem: null }])
  const received = (await fleetRecords(fleet.admin)).filter(
    (record) => record.machine === keyId(keyOf(machine).publicKey),
  )
  expect(received).toHaveLength(1201)
  expect(verifyReceived(received, [])).toMatchObject({ ok: true, repeated: 0 })
})

const question = (tool: string): FleetQuestion => ({
  project: '/p',
  request: {
    tool,
    subject: 'git push',
    input: { command: 'git push' },
    call: `${tool} git push`,
    once: '',
    facts: null,
    worst: { bound: 'unbounded', hosts: [], labels: [], text: 'anything' },
    decision: { reason: { code: 'x', message: 'it reaches out' }, rules: [] } as never,
    asks: [{ decision: 'ask', text: 'git push', rules: [], reason: { code: 'x', message: 'it reaches out' } }] as never,
    suggestions: [],
  },
  signal: new AbortController().signal,
})

async function waiting(by: Machine) {
  const bus = await fleet.bus(by)
  for (let tries = 0; tries < 100; tries++) {
    const [found] = await waitingAsks(fleet.settings, by, bus)
    if (found) return { found, bus }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('no ask came')
}

describe('asks', () => {
  it('are answered by those who may, and a second answer of the same key is refused', async () => {
    const asked = askFleet(fleet.settings, machine, question('bash'))
    const { found, bus } = await waiting(ann)
    expect(found.ask).toMatchObject({
      tool: 'bash',
      subject: 'git push',
      why: expect.stringContaining('it reaches out'),
    })
    await answerAsk(fleet.settings, ann, bus, found, 'yes')
    await expect(answerAsk(fleet.settings, ann, bus, found, 'no')).rejects.toThrow()
    expect(await asked).toMatchObject({ kind: 'once' })
    await bus.close()
  })

  it('a no carries its words', async () => {
    const asked = askFleet(fleet.settings, machine, question('bash'))
    const { found, bus } = await waiting(bob)
    await answerAsk(fleet.settings, bob, bus, found, 'no', 'not on a Friday')
    expect(await asked).toEqual({ by: 'fleet (Bob)', kind: 'deny-message', message: 'not on a Friday' })
    await bus.close()
  })

  it('two people where the policy says so', async () => {
    const asked = askFleet(fleet.settings, machine, question('write'))
    const first = await waiting(ann)
    await answerAsk(fleet.settings, ann, first.bus, first.found, 'yes')
    const second = await waiting(bob)
    expect(second.found).toMatchObject({ people: 2, missing: 1 })
    await answerAsk(fleet.settings, bob, second.bus, second.found, 'yes')
    expect(await asked).toMatchObject({ kind: 'once' })
    await Promise.all([first.bus.close(), second.bus.close()])
  })

  it('nobody in time is a no', async () => {
    await expect(askFleet({ ...fleet.settings, asks: 1 }, machine, question('bash'))).rejects.toThrow('in time')
  })

  it('an answer may come through the desk, which cannot change it', async () => {
    const asked = askFleet(fleet.settings, machine, question('bash'))
    const { found, bus } = await waiting(ann)
    await bus.close()
    const time = new Date().toISOString()
    const answer = signAnswer(found.signed, 'acme', { verdict: 'yes', message: null, time }, keyOf(ann))
    const body = JSON.stringify({ ask: found.ask.id, answer })
    const response = await fetch(new URL('/answers', fleet.deskUrl), { method: 'POST', body })
    expect(response.status).toBe(202)
    expect(await asked).toMatchObject({ kind: 'once' })
  })
})

describe('a hostile machine of the fleet', () => {
  it('cannot publish a policy, write another’s records, answer, ask for another, or listen to others', async () => {
    const hostile = await fleet.machine('hostile')
    const bus = await fleet.bus(hostile)
    const js = jetstream(bus.connection, { timeout: 500 })
    const other = keyId(keyOf(machine).publicKey)
    const own = keyId(keyOf(hostile).publicKey)
    const refused = async (subject: string) => await expect(js.publish(subject, 'x')).rejects.toThrow()
    await refused(bus.names.policy)
    await refused(bus.names.records(other, 's1'))
    await refused(bus.names.ask(other, 'a1'))
    await refused(bus.names.answer(other, 'a1', own))
    await refused(bus.names.answer(own, 'a1', own))
    await refused(`$JS.API.STREAM.DELETE.${bus.names.recordStream}`)
    await refused(`$JS.API.STREAM.PURGE.${bus.names.recordStream}`)
    const heard: string[] = []
    for (const subject of ['>', bus.names.records('*', '*'), bus.names.ask('*', '*'), '_INBOX.>']) {
      const subscription = bus.connection.subscribe(subject, {
        callback: (error) => void (error && heard.push(error.message)),
      })
      void subscription.closed.catch(() => {})
    }
    await bus.connection.flush()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(heard).toHaveLength(4)
    // The control: its own. By the name of a record of another, which would then be left out.
    const name = recordId(other, { session: 's2', part: 0, offset: 0, text: '' })
    for (const taken of [name, `${name}.`]) await js.publish(bus.names.records(own, 's1'), '{}', { msgID: taken })
    const log = openLog('s2')
    // Larger than the servers take in one message.
    log.record({ type: 'warning', text: 'x'.repeat(1_000_000) })
    log.close()
    const [shipped] = await shipRecords(fleet.settings, machine, new AbortController().signal)
    expect(shipped).toMatchObject({ problem: null })
    const mine = (await fleetRecords(fleet.admin)).filter((one) => one.machine === other && one.session === 's2')
    expect(verifyReceived(mine, [])).toMatchObject({ ok: true, records: 2 })
    await bus.close()
  })
})

describe('hostile servers', () => {
  it('cannot put an older or another policy instead of the one in force', async () => {
    const bus = await fleet.bus(fleet.admin)
    const js = jetstream(bus.connection)
    const stranger = makeSigningKey().key
    for (const [text, code] of [
      [signedBy(bundle({ version: 9 }), stranger), 'unsigned'],
      [signedBy(bundle({ version: 1, closes: 'everything' }), fleet.team.key), 'forked'],
      ['', 'unreadable'],
    ] as const) {
      await js.publish(bus.names.policy, text)
      expect(await syncPolicy(fleet.settings, machine)).toMatchObject({ outcome: 'refused', code })
    }
    expect(storedBundle(machine.stateDir, fleet.settings)!.bundle.version).toBe(1)
    await bus.close()
  })

  it('cannot answer: what they make up counts for nothing', async () => {
    const asked = askFleet({ ...fleet.settings, asks: 3 }, machine, question('bash'))
    const { found, bus } = await waiting(ann)
    const stranger = makeSigningKey().key
    const time = new Date().toISOString()
    const forged = signAnswer(found.signed, 'acme', { verdict: 'yes', message: null, time }, stranger)
    const annsId = keyId(keyOf(ann).publicKey)
    await publishAnswer(bus, keyId(found.ask.machine), found.ask.id, annsId, JSON.stringify(forged))
    await expect(asked).rejects.toThrow('in time')
    await bus.close()
  })
})

it('a machine that the servers refuse closes after the grace time, although it never saw a policy that revokes it', async () => {
  const gone = await fleet.machine('cut-off')
  await fleet.publish({ version: 2, rules: RULES })
  await syncPolicy(fleet.settings, gone)
  const minutes = (count: number) => Date.now() + count * 60_000
  expect(organisationManifests(gone, minutes(20))).toBeDefined()
  fleet.team.revoke(keyOf(gone).publicKey, Date.now())
  await pushRevocations(fleet.team, fleet.admin)
  await expect.poll(() => syncPolicy(fleet.settings, gone)).toMatchObject({ outcome: 'refused', code: 'fleet-refused' })
  expect(organisationManifests(gone, minutes(5))).toBeDefined()
  expect(() => organisationManifests(gone, minutes(20))).toThrow('has refused this machine since')
})

it('a revoked machine is out: by the policy, and on the servers', async () => {
  const gone = await fleet.machine('gone')
  await syncPolicy(fleet.settings, gone)
  fleet.team.revoke(keyOf(gone).publicKey, Date.now())
  await fleet.publish({ version: 3, rules: RULES })
  expect(await syncPolicy(fleet.settings, gone)).toMatchObject({ outcome: 'new' })
  expect(() => organisationManifests(gone, Date.now())).toThrow('taken out of the fleet')
  const live = await fleet.bus(gone)
  await pushRevocations(fleet.team, fleet.admin)
  // Who is connected is cut off, and who comes anew is not let in.
  await live.connection.closed()
  await expect(fleet.bus(gone)).rejects.toThrow('refuse this machine')
  const still = await fleet.bus(machine)
  await still.close()
})
