import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AuditLog, openAuditLog } from '../../../src/audit/log.ts'
import { AuditQueue } from '../../../src/audit/queue.ts'
import { fleetDirectory } from '../../../src/fleet/bundle-store.ts'
import { machineKey, signEnrolment, writeCertificate } from '../../../src/fleet/identity.ts'
import { piecesOf } from '../../../src/fleet/ship/record.ts'
import { userPublicKey, userSigningKey } from '../../../src/manifest/sign/sign.ts'
import { countCalls } from '../../../src/organisation/machine-health.ts'
import { readReceived, verifyReceived } from '../../../src/organisation/received.ts'
import { recordQueue, shipRecords } from '../../../src/organisation/ship.ts'
import { openKeyStore } from '../../../src/system/keys/keychain.ts'
import { makeSigningKey } from '../../../src/system/keys/signing-key.ts'
import { openOwnDirectory } from '../../../src/system/state.ts'
import { type FaultyReceiver, openFaultyReceiver } from '../../fleet/faulty-receiver.ts'
import { FLEET, type FleetWorld, openFleetWorld } from '../../fleet/fleet-world.ts'

let world: FleetWorld
let receiver: FaultyReceiver
const { key } = makeSigningKey()
beforeEach(async () => {
  world = openFleetWorld()
  receiver = await openFaultyReceiver(7)
})
afterEach(async () => {
  await receiver.close()
  world.close()
})

function openLog(session: string, more = {}): AuditLog {
  return openAuditLog({
    stateDir: world.machine.stateDir,
    session,
    now: () => '2026-06-01T00:00:00.000Z',
    redact: (text) => text,
    signer: () => key,
    sync: 'never',
    ...more,
  })
}

function write(log: AuditLog, count: number, from = 0): void {
  for (let index = from; index < from + count; index++)
    log.record(
      index % 2 === 0
        ? {
            type: 'begin',
            call: `c${index}`,
            tool: 'bash',
            args_hash: 'x',
            decision: { verdict: 'allow', reason: 'grant' },
          }
        : { type: 'end', call: `c${index - 1}`, duration_ms: 5, outcome: 'ok' },
    )
}

const quick = { firstPauseMs: 1, maxPauseMs: 4, attempts: 40 }
const shipAll = () => {
  const settings = world.settings({ records: { otlp: receiver.url, headers: {}, nats: false } })
  return shipRecords(settings, world.machine, new AbortController().signal, quick)
}
const verified = () => verifyReceived(readReceived(receiver.taken.join('\n')), [key.publicKey])

it('arrives whole through every fault, over rotations and restarts, each line once', async () => {
  const one = openLog('s1', { maxBytes: 20_000 })
  write(one, 1000)
  expect(await shipAll()).toMatchObject([{ problem: null, rejected: [] }])
  // Its own cursor each time: what was confirmed is not read again.
  write(one, 1000, 1000)
  one.close()
  const two = openLog('s2')
  write(two, 500)
  const [second] = await shipAll()
  expect(second!.problem).toBe(null)
  expect((await shipAll())[0]!.sent).toBe(0)
  const result = verified()
  expect(result.ok).toBe(true)
  const lines = (session: string) => result.sessions.find((found) => found.session === session)!
  const written = readFileSync(join(world.machine.stateDir, 'audit/s2.0.jsonl'), 'utf8').trim().split('\n').length
  expect(lines('s2').lines).toBe(written)
  expect(lines('s1').lines).toBeGreaterThan(2000)
  expect(lines('s1').checkpoints).toBeGreaterThan(3)
  expect(result.repeated).toBeGreaterThan(0)
  expect(Object.keys(receiver.faults).length).toBeGreaterThan(8)
  two.close()
})

it('brings what was counted beside logs and spans, as sums from one start', async () => {
  const log = openLog('s1')
  write(log, 4)
  const decision = { verdict: 'deny', reason: 'host-denied', rules: ['deny x'] } as const
  log.record({ type: 'denied', call: 'd', tool: 'bash', args_hash: 'x', decision })
  const now = Date.parse('2026-06-01T00:00:00Z')
  expect(countCalls(world.machine, now).total).toEqual({ calls: 3, refused: 1, asked: 0 })
  // Counted once, whatever is counted again.
  expect(countCalls(world.machine, now + 1000).total.calls).toBe(3)
  // A batch whose metrics are lost brings them with the next one.
  for (let round = 0; receiver.metrics.length === 0 && round < 50; round++) {
    write(log, 1)
    await shipAll()
  }
  log.close()
  const [{ scopeMetrics }] = JSON.parse(receiver.metrics.at(-1)!).resourceMetrics
  const { metrics } = scopeMetrics[0]
  expect(metrics.map((one: { name: string }) => one.name)).toEqual(['cordon.calls', 'cordon.asks', 'cordon.refusals'])
  expect(metrics[0].sum).toMatchObject({
    aggregationTemporality: 2,
    isMonotonic: true,
    dataPoints: [
      { asInt: '2', startTimeUnixNano: `${now}000000`, attributes: [{ value: { stringValue: 'started' } }] },
      { asInt: '1', attributes: [{ value: { stringValue: 'refused' } }] },
    ],
  })
  expect(metrics[2].sum.dataPoints).toMatchObject([{ asInt: '1', attributes: [{ value: { stringValue: 'deny x' } }] }])
})

it('a receiver that is down costs nothing: the cursor stays', async () => {
  const log = openLog('s1')
  write(log, 10)
  await receiver.close()
  const settings = world.settings({ records: { otlp: receiver.url, headers: {}, nats: false } })
  const signal = new AbortController().signal
  const [down] = await shipRecords(settings, world.machine, signal, { ...quick, attempts: 2 })
  expect(down).toMatchObject({ sent: 0, problem: expect.stringContaining('ECONNREFUSED') })
  receiver = await openFaultyReceiver(8)
  expect((await shipAll())[0]).toMatchObject({ sent: 10, problem: null })
  log.close()
})

it('a line not yet announced stays, and a torn one is dropped', () => {
  const log = openLog('s1', { shared: true })
  write(log, 2)
  const cursor = join(world.machine.stateDir, 'cursor.json')
  const file = join(world.machine.stateDir, 'audit/s1.0.jsonl')
  appendFileSync(file, '{"half a line')
  const queue = new AuditQueue({ stateDir: world.machine.stateDir, cursor })
  const first = queue.next()!
  expect(first.lines).toHaveLength(2)
  first.confirm()
  expect(queue.next()).toBe(null)
  // The next writer closes the tail.
  const again = openLog('s1', { shared: true })
  write(again, 1, 2)
  const rest = queue.next()!.lines.map(({ text }) => text)
  expect(rest[0]).toBe('{"half a line')
  expect(rest).toHaveLength(3)
  for (const one of [log, again]) one.close()
})

describe('what leaves', () => {
  it('has no secret known by now, and its chain is valid all the same', () => {
    const token = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40)
    const log = openLog('s1')
    log.record({ type: 'warning', message: `a token ${token} that an older Cordon did not know` })
    write(log, 3)
    log.close()
    const { records } = recordQueue(world.machine, join(world.machine.stateDir, 'cursor.json')).next()!
    expect(records.map(({ text }) => text).join('\n')).not.toContain(token)
    expect(records[0]!.hash).toMatch(/^[0-9a-f]{64}$/)
    const received = records.map((record) => ({ machine: 'm', ...record }))
    expect(verifyReceived(received, [key.publicKey])).toMatchObject({ ok: true, sessions: [{ checkpoints: 1 }] })
  })
})

describe('at the other end', () => {
  const damage: readonly [string, (lines: string[]) => string[], string][] = [
    ['as it came', (lines) => lines, ''],
    ['in another order', (lines) => lines.toReversed(), ''],
    ['twice', (lines) => [...lines, ...lines], ''],
    ['one missing', (lines) => lines.toSpliced(3, 1), 'deleted'],
    ['one changed', (lines) => lines.map((line, at) => (at === 3 ? line.replace('c2', 'c9') : line)), 'edited'],
    ['another text for one place', (lines) => [...lines, lines[2]!.replace('c2', 'c9')], 'inserted'],
    [
      'a checkpoint of another key',
      (lines) => lines.map((line) => line.replaceAll(key.publicKey, makeSigningKey().key.publicKey)),
      'unknown-key',
    ],
  ]
  it.each(damage)('%s', (_, change, kind) => {
    const log = openLog('s1')
    write(log, 8)
    log.close()
    const { records } = recordQueue(world.machine, join(world.machine.stateDir, 'cursor.json')).next()!
    const lines = records.map((record) => JSON.stringify({ machine: 'm', ...record }))
    const result = verifyReceived(readReceived(change(lines).join('\n')), [key.publicKey])
    const kinds = result.sessions.flatMap((session) => session.damage.map((one) => one.kind))
    if (kind === '') expect(kinds).toEqual([])
    else expect(kinds).toContain(kind)
  })
})

describe('with the keys of the team alone', () => {
  const team = () => ({ fleet: FLEET, keys: world.team.map((one) => one.publicKey) })
  const other = makeSigningKey().key
  const vouched: readonly [string, (text: string) => string, () => Parameters<typeof verifyReceived>[2], string][] = [
    ['a machine that the team enrolled vouches for its record', (text) => text, team, ''],
    ['a key of the team that a person names is enough', (text) => text, () => ({ ...team(), fleet: null }), ''],
    ['nothing does where the team is not known', (text) => text, () => null, 'unknown-key'],
    ['the team of another fleet does not', (text) => text, () => ({ ...team(), fleet: 'other' }), 'unknown-key'],
    ['nor do others’ keys', (text) => text, () => ({ fleet: FLEET, keys: [other.publicKey] }), 'unknown-key'],
    [
      'a machine does not vouch for another one',
      (text) => text.replaceAll(/("cordon.machine","value":\{"stringValue":")\w+/g, '$1another'),
      team,
      'unknown-key',
    ],
    [
      'nor a voucher for another key',
      (text) => text.replaceAll(userPublicKey(world.machine.stateDir)!, other.publicKey),
      team,
      'unknown-key',
    ],
  ]
  it.each(vouched)('%s', async (_, change, trusted, kind) => {
    const keys = openKeyStore(openOwnDirectory(world.machine.stateDir))
    const { key: machine } = machineKey(keys)
    const facts = { name: 'one', role: 'machine', groups: [], issued: '2026-01-01T00:00:00.000Z', nats: null } as const
    const certificate = signEnrolment({ fleet: FLEET, machine: machine.publicKey, ...facts }, world.team[0]!)
    writeCertificate(fleetDirectory(world.machine.stateDir), certificate)
    const { key: own } = userSigningKey({ stateDir: world.machine.stateDir, keys })
    const log = openLog('s1', { signer: () => own })
    write(log, 8)
    log.close()
    expect((await shipAll())[0]).toMatchObject({ problem: null })
    const result = verifyReceived(readReceived(change(receiver.taken.join('\n'))), [], trusted())
    const kinds = result.sessions.flatMap((session) => session.damage.map((one) => one.kind))
    if (kind === '') expect(result).toMatchObject({ ok: true, sessions: [{ checkpoints: 1 }] })
    else expect(kinds).toContain(kind)
  })
})

it('a cursor that was moved on shows at the other end', () => {
  const log = openLog('s1')
  write(log, 8)
  const cursor = join(world.machine.stateDir, 'cursor.json')
  const next = () => new AuditQueue({ stateDir: world.machine.stateDir, cursor }).next()
  const first = next()!
  const after = (at: number) => {
    writeFileSync(cursor, JSON.stringify({ version: 1, places: { s1: [0, first.lines[at]!.offset] } }), { mode: 0o600 })
    return verifyReceived(
      [...first.lines.slice(0, 2), ...next()!.lines].map((line) => ({ machine: 'm', ...line })),
      [],
    )
  }
  expect(after(2).ok).toBe(true)
  expect(after(4).sessions[0]!.damage.map(({ kind }) => kind)).toContain('deleted')
  log.close()
})

it('a line that is larger than a message goes in pieces', () => {
  const record = { machine: 'm', session: 's', part: 0, offset: 0, text: '\u{1f600}"\0'.repeat(100_000) }
  const pieces = piecesOf(record).map((piece) => JSON.stringify(piece))
  expect(pieces.length).toBeGreaterThan(2)
  expect(Math.max(...pieces.map((text) => Buffer.byteLength(text)))).toBeLessThan(1024 * 1024)
  expect(readReceived([...pieces.toReversed(), pieces[0]!].join('\n'))).toEqual([record])
  expect(readReceived(pieces.slice(1).join('\n'))).toEqual([])
})

it('a cursor that is damaged is said, not guessed', () => {
  const cursor = join(world.machine.stateDir, 'cursor.json')
  openLog('s1').close()
  writeFileSync(cursor, '{"version":1,"places":{"s1":["x"]}}', { mode: 0o600 })
  expect(() => new AuditQueue({ stateDir: world.machine.stateDir, cursor })).toThrow('damaged')
})
