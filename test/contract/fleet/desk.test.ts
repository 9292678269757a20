/** A fleet without NATS as its operators use it: machines join and report at the desk, a policy goes out in stages and back. */

import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAuditLog } from '../../../src/audit/log.ts'
import { readFleetSettings } from '../../../src/fleet/settings.ts'
import { syncOpenings } from '../../../src/organisation/break-glass.ts'
import { joinByCode, serveDesk } from '../../../src/organisation/connection.ts'
import { earlierBundle, nextBundle, publishedBundle, putBundle, signedBundle } from '../../../src/organisation/draft.ts'
import { reportHealth } from '../../../src/organisation/machine-health.ts'
import { fleetOverview, prometheusText, takeHealth } from '../../../src/organisation/overview.ts'
import { readRollout, signRollout, startRollout, stepRollout, stopRollout } from '../../../src/organisation/rollout.ts'
import { onBus, syncPolicy } from '../../../src/organisation/sync.ts'
import { foundFleet, openTeam, type Team } from '../../../src/organisation/team.ts'
import { organisationManifests } from '../../../src/project/load/organisation.ts'
import { machineFiles } from '../../../src/system/files.ts'
import type { Machine } from '../../../src/system/machine.ts'
import { machineIn } from '../../fleet/nats-fleet.ts'

let base = ''
let desk: Server
let url = ''
let team: Team
let admin: Machine
let canary: Machine
let other: Machine

const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port
}

beforeAll(async () => {
  process.env.CORDON_KEYCHAIN = 'off'
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-desk-')))
  admin = machineIn(base, 'admin')
  const port = await freePort()
  url = `http://127.0.0.1:${port}/`
  mkdirSync(join(base, 'drafts'))
  foundFleet(admin, { fleet: 'acme', policy: join(base, 'policy.bundle'), desk: url }, Date.now())
  team = openTeam(admin)
  const server = serveDesk(team, {
    health: (text) => takeHealth(team, text, team.settings.keys, Date.now()),
    metrics: async () => prometheusText(await overview()),
  })
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  desk = server
  canary = await joined('canary', ['canary'])
  other = await joined('other', ['dev'])
})
afterAll(async () => {
  await new Promise((done) => desk.close(done))
  rmSync(base, { recursive: true, force: true })
})

const overview = (now = Date.now()) => onBus(team.settings, admin, (bus) => fleetOverview(team, admin, bus, now))

async function joined(name: string, groups: readonly string[]): Promise<Machine> {
  const machine = machineIn(base, name)
  const code = team.invite({ role: 'machine', groups, expires: Date.now() + 60_000 })
  await joinByCode(machine, url, code, name)
  return machine
}

const draft = async (manifest: string, more: object = {}) => {
  writeFileSync(join(base, 'drafts/all.toml'), `schema_version = 1\n${manifest}`)
  const file = join(base, 'drafts/draft.json')
  writeFileSync(file, JSON.stringify({ layers: [{ groups: ['*'], file: 'all.toml' }], ...more }))
  const before = await publishedBundle(team, admin)
  return { before, ...(await nextBundle(team, file, before?.bundle ?? null, machineFiles)) }
}

const publish = async (manifest: string) => {
  const { bundle, before } = await draft(manifest)
  await putBundle(team, admin, signedBundle(team, bundle, before).text, null)
}
const roll = async (manifest: string) => {
  const { bundle, before, stages } = await draft(manifest, { rollout: [{ groups: ['canary'], for: '1s' }] })
  const { rollout, missing } = signRollout(team, before, bundle, stages, null)
  expect(missing).toBe(0)
  return startRollout(team, admin, rollout, Date.now())
}

async function sync(machine: Machine, now = Date.now()): Promise<string | null> {
  const settings = readFleetSettings(machine)!
  return onBus(settings, machine, async (bus) => {
    await syncPolicy(settings, machine, now)
    await syncOpenings(settings, machine, bus, now)
    return reportHealth(settings, machine, bus, now)
  })
}

function calls(machine: Machine, count: number, refused: number): void {
  const log = openAuditLog({
    stateDir: machine.stateDir,
    session: 's1',
    now: () => new Date().toISOString(),
    redact: (text) => text,
    sync: 'never',
    shared: true,
  })
  for (let at = 0; at < count; at++) {
    const verdict = at < refused ? 'deny' : 'allow'
    const decision = { verdict, reason: 'host-denied', rules: ['deny_domains *'] } as const
    log.record({ type: at < refused ? 'denied' : 'begin', call: `c${at}`, tool: 'bash', args_hash: 'x', decision })
  }
  log.close()
}

const pipes = (machine: Machine) =>
  organisationManifests(machine, Date.now()).some(({ text }) => text.includes('pipes'))
const later = (seconds: number) => Date.now() + seconds * 1000
const step = async (now = later(5)) => stepRollout(team, admin, await overview(now), now)

describe('the overview', () => {
  it('is empty until machines report, and shows who drifts', async () => {
    await publish('[security]\nbackground = false\n')
    const { machines, policies } = await overview()
    expect(machines.map(({ name, drift }) => [name, drift])).toEqual([
      ['canary', 'it has never reported'],
      ['other', 'it has never reported'],
    ])
    expect(policies).toEqual({ none: 2 })
  })

  it('counts calls and refusals by rule from the records of machines', async () => {
    for (const one of [canary, other]) expect(await sync(one)).toBe(null)
    calls(canary, 20, 1)
    calls(other, 30, 3)
    for (const one of [canary, other]) await sync(one)
    expect(await overview()).toMatchObject({
      policy: 1,
      policies: { 1: 2 },
      total: { calls: 50, refused: 4 },
      refusals: { 'deny_domains *': 4 },
      machines: [
        { name: 'canary', drift: null },
        { name: 'other', drift: null },
      ],
    })
    expect((await overview(later(4000))).machines[0]!.drift).toBe('it has not reported for an hour')
  })

  it('is scraped as Prometheus reads it', async () => {
    const response = await fetch(new URL('/metrics', url))
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const text = await response.text()
    for (const line of text.trim().split('\n'))
      expect(line).toMatch(
        /^(?:# (?:HELP|TYPE) cordon_fleet_\w+ .+|cordon_fleet_\w+(?:\{(?:\w+="(?:[^"\\]|\\.)*",?)+\})? \d+)$/,
      )
    expect(text).toContain('cordon_fleet_refusals_total{rule="deny_domains *"} 4\n')
    expect(text).toContain('cordon_fleet_calls_total{outcome="refused"} 4\n')
    expect(text).toContain('cordon_fleet_policy_version 1\n')
  })

  it.each([
    ['a page by its own name', ['host', 'desk.evil.example:80']],
    ['somebody behind a TLS server', ['host', '127.0.0.1:80', 'x-forwarded-for', '203.0.113.1']],
    ['somebody behind another', ['host', 'localhost:80', 'forwarded', 'for=203.0.113.1']],
  ])('is not scraped by %s', async (_, headers) => {
    const sent = request(new URL('/metrics', url), { headers: [...headers, 'connection', 'close'] }).end()
    const [{ statusCode }] = (await once(sent, 'response')) as [IncomingMessage]
    expect(statusCode).toBe(404)
  })

  it('has every metric that the dashboard for Grafana draws', async () => {
    const file = join(import.meta.dirname, '../../../examples/grafana/cordon-fleet.json')
    const { panels } = JSON.parse(readFileSync(file, 'utf8')) as { panels: { targets: { expr: string }[] }[] }
    const drawn = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => expr.match(/cordon_fleet_\w+/g) ?? []))
    const rollout = { at: 0, stages: 2, since: '', outcome: 'running', reason: '' } as const
    const text = prometheusText({ ...(await overview()), asks: 0, rollout })
    const served = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name))
    expect([...served].filter((name) => !drawn.includes(name!))).toEqual([
      'cordon_fleet_silent_seconds_max',
      'cordon_fleet_calls_asked_total',
    ])
    expect(drawn.filter((name) => !served.has(name))).toEqual([])
  })

  it('takes nobody’s health but an enrolled machine’s, and no older one', async () => {
    const post = (body: string) => fetch(new URL('/health', url), { method: 'POST', body }).then(({ status }) => status)
    expect(await post('{}')).toBe(403)
    expect(await sync(canary, Date.now() - 60_000)).toBe('the desk answered 403')
    expect(await sync(canary)).toBe(null)
  })
})

describe('a roll-out', () => {
  it('reaches the canary first, waits for its proof, and then everybody', async () => {
    await roll('[security]\npipes = false\n')
    for (const one of [canary, other]) await sync(one)
    expect([pipes(canary), pipes(other)]).toEqual([true, false])
    expect(await step()).toMatchObject({ at: 0, outcome: 'running', reason: 'no machine has run a call under it' })
    calls(canary, 20, 1)
    await sync(canary)
    expect(await step()).toMatchObject({ at: 1, outcome: 'done' })
    expect(await sync(other, later(5))).toBe(null)
    expect(pipes(other)).toBe(true)
  })

  it('stops by itself where refusals rise, and every machine goes back', async () => {
    await roll('[security]\npipes = false\ncompound = false\n')
    await sync(canary)
    calls(canary, 20, 12)
    await sync(canary)
    expect(await step(Date.now())).toMatchObject({
      outcome: 'stopped',
      reason: expect.stringContaining('refusals rose by 5'),
    })
    for (const one of [canary, other]) await sync(one)
    for (const one of [canary, other])
      expect(
        organisationManifests(one, Date.now())
          .map(({ text }) => text)
          .join(),
      ).not.toContain('compound')
    expect(await step()).toMatchObject({ outcome: 'stopped' })
  })

  it('is rolled back by a person, and superseded by another policy', async () => {
    await roll('[security]\ncompound = false\n')
    expect(await stopRollout(team, admin, 'by hand')).toMatchObject({ outcome: 'stopped' })
    expect(await stopRollout(team, admin, 'by hand')).toBe(null)
    await roll('[security]\ncompound = false\n')
    const last = readRollout(team)!.texts.length
    await publish('[security]\nbackground = false\n')
    expect((await publishedBundle(team, admin))!.bundle.version).toBeGreaterThan(last)
    expect(await step()).toMatchObject({ outcome: 'stopped', reason: expect.stringContaining('was published instead') })
  })
})

it('an earlier policy comes back as the next version, without what was revoked since', async () => {
  const before = (await publishedBundle(team, admin))!
  const gone = await joined('gone', [])
  const key = team.members().find(({ name }) => name === 'gone')!.machine
  await sync(gone)
  team.revoke(key, Date.now())
  const earlier = team.archived(1, true)!
  const bundle = earlierBundle(team, earlier, before.bundle, Date.now())
  await putBundle(team, admin, signedBundle(team, bundle, before).text, null)
  expect(bundle).toMatchObject({ version: before.bundle.version + 1, layers: earlier.layers, revoked: [key] })
  await sync(gone)
  expect(() => organisationManifests(gone, Date.now())).toThrow('taken out of the fleet')
  expect(await sync(gone)).toBe('the desk answered 403')
  expect((await overview()).machines.map(({ name }) => name)).toEqual(['canary', 'other'])
})
