/** The metrics of `cordon fleet serve` in a real Prometheus: it scrapes them, and answers each query of the dashboard. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openAuditLog } from '../../src/audit/log.ts'
import { reportHealth } from '../../src/organisation/machine-health.ts'
import { onBus, syncPolicy } from '../../src/organisation/sync.ts'
import type { Machine } from '../../src/system/machine.ts'
import { until } from '../until.ts'
import { layer } from './fleet-world.ts'
import { type NatsFleet, openNatsFleet } from './nats-fleet.ts'
import { freePorts } from './nats-servers.ts'

const CLI = process.env.CORDON_CLI ?? join(import.meta.dirname, '../../dist/cordon.cjs')
const DASHBOARD = join(import.meta.dirname, '../../examples/grafana/cordon-fleet.json')
const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as {
  panels: readonly { title: string; targets: readonly { expr: string }[] }[]
}

let fleet: NatsFleet
let machine: Machine
let desk: string
let prometheus: string
const children: ChildProcess[] = []

beforeAll(async () => {
  fleet = await openNatsFleet(1)
  machine = await fleet.machine('m1', 'machine', ['prod'])
  await fleet.publish({ version: 1, layers: [layer('[security]\npipes = false\n')] })
  for (const one of [fleet.admin, machine]) await syncPolicy(fleet.settings, one)
  const [port, own] = (await freePorts(2)) as [number, number]
  desk = `http://127.0.0.1:${port}`
  const { home } = fleet.admin
  const folder = (name: string) => join(home, name)
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    XDG_CONFIG_HOME: folder('config'),
    XDG_STATE_HOME: folder('state'),
    XDG_CACHE_HOME: folder('cache'),
    CORDON_KEYCHAIN: 'off',
  }
  const serve = [CLI, 'fleet', 'serve', '--port', String(port)]
  children.push(spawn(realpathSync(process.execPath), serve, { env, cwd: home, stdio: 'ignore' }))
  prometheus = `http://127.0.0.1:${own}`
  const store = folder('prometheus')
  mkdirSync(store)
  writeFileSync(
    join(store, 'prometheus.yml'),
    `global: { scrape_interval: 1s }
scrape_configs: [{ job_name: cordon, static_configs: [{ targets: ['127.0.0.1:${port}'] }] }]
`,
  )
  const options = [
    `--config.file=${store}/prometheus.yml`,
    `--storage.tsdb.path=${store}/data`,
    `--web.listen-address=127.0.0.1:${own}`,
  ]
  children.push(spawn('prometheus', options, { cwd: store, stdio: 'ignore' }))
})
afterAll(async () => {
  for (const child of children) {
    const ended = new Promise((done) => child.once('exit', done))
    if (child.kill()) await ended
  }
  await fleet?.close()
})

/** Records calls of which some were refused, and reports them. */
async function work(session: string, calls: number, refused: number): Promise<void> {
  const log = openAuditLog({
    stateDir: machine.stateDir,
    session,
    now: () => new Date().toISOString(),
    redact: (text) => text,
    sync: 'never',
  })
  for (let at = 0; at < calls; at++) {
    const denied = at < refused
    const decision = { verdict: denied ? 'deny' : 'allow', reason: 'x', rules: ['deny "curl" \\ {job}'] } as const
    log.record({ type: denied ? 'denied' : 'begin', call: `c${at}`, tool: 'bash', args_hash: 'x', decision })
  }
  log.close()
  await onBus(fleet.settings, machine, (bus) => reportHealth(fleet.settings, machine, bus, Date.now()))
}

type Sample = { readonly metric: Readonly<Record<string, string>>; readonly value: readonly [number, string] }

async function query(expr: string): Promise<readonly Sample[]> {
  const response = await fetch(`${prometheus}/api/v1/query?${new URLSearchParams({ query: expr })}`).catch(() => null)
  if (response === null) return []
  const { status, error, data } = (await response.json()) as {
    status: string
    error?: string
    data?: { result: readonly Sample[] }
  }
  if (status !== 'success') throw new Error(`${expr}: ${error}`)
  return data!.result
}

it('is scraped, and its text is as promtool wants it', async () => {
  await until('Prometheus has scraped the desk', async () => (await query('up == 1')).length === 1)
  const text = await (await fetch(`${desk}/metrics`)).text()
  const checked = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
  expect([checked.status, checked.stdout + checked.stderr]).toEqual([0, ''])
})

it('answers every query of the dashboard with what the machines reported', async () => {
  await work('s1', 10, 4)
  const refusals = 'cordon_fleet_refusals_total'
  await until('the first report is stored', async () => (await query(`${refusals} == 4`)).length === 1)
  await work('s2', 10, 2)
  await until('the second report is stored', async () => (await query(`${refusals} == 6`)).length === 1)
  const [counted] = await query(refusals)
  expect(counted!.metric.rule).toBe('deny "curl" \\ {job}')
  const empty: string[] = []
  for (const { title, targets } of panels)
    for (const { expr } of targets) {
      // A rate needs two samples that Prometheus has stored.
      const found = title.startsWith('Stage')
        ? await query(expr)
        : await until(title, async () => {
            const samples = await query(expr)
            return samples.length > 0 && samples
          })
      if (found.length === 0) empty.push(title)
    }
  // There is no roll-out.
  expect(empty).toEqual(['Stage of the roll-out'])
  const [share] = await query(panels.find(({ title }) => title.startsWith('Share'))!.targets[0]!.expr)
  expect(Number(share!.value[1])).toBeCloseTo(0.3, 5)
})
