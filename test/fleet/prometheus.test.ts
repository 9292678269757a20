/**
 * The metrics of `cordon fleet serve` in a real Prometheus, and the example dashboard: its queries name metrics and labels that
 * exist, each is answered, and a browser draws the answers with the charts of the page.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openAuditLog } from '../../src/audit/log.ts'
import { reportHealth } from '../../src/organisation/machine-health.ts'
import { onBus, syncPolicy } from '../../src/organisation/sync.ts'
import type { Machine } from '../../src/system/machine.ts'
import { openBrowser, openTab } from '../contract/page/page-world.ts'
import { until } from '../until.ts'
import type { DrawnPanel, Series } from './drawn-panel.ts'
import { layer } from './fleet-world.ts'
import { type NatsFleet, openNatsFleet } from './nats-fleet.ts'
import { freePorts } from './nats-servers.ts'

const CLI = process.env.CORDON_CLI ?? join(import.meta.dirname, '../../dist/cordon.cjs')
const DASHBOARD = join(import.meta.dirname, '../../examples/grafana/cordon-fleet.json')
const PICTURE = join(import.meta.dirname, '../../docs/pictures/dashboard.png')

interface Panel {
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly w: number }
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string; readonly instant?: boolean }[]
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit?: string
      readonly thresholds?: { readonly steps: readonly { value: number }[] }
    }
  }
}
const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { readonly panels: readonly Panel[] }

let fleet: NatsFleet
const machines: Machine[] = []
let desk: string
let prometheus: string
let env: Record<string, string>
const children: ChildProcess[] = []

beforeAll(async () => {
  fleet = await openNatsFleet(1)
  await fleet.publish({ version: 1, layers: [layer('[security]\npipes = false\n')] })
  for (const name of ['m1', 'm2', 'm3']) machines.push(await fleet.machine(name, 'machine', ['prod', name]))
  for (const one of [fleet.admin, ...machines]) await syncPolicy(fleet.settings, one)
  const [port, own] = (await freePorts(2)) as [number, number]
  desk = `http://127.0.0.1:${port}`
  const { home } = fleet.admin
  const folder = (name: string) => join(home, name)
  env = {
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
async function work(machine: Machine, session: string, calls: number, refused: Readonly<Record<string, number>>) {
  const log = openAuditLog({
    stateDir: machine.stateDir,
    session,
    now: () => new Date().toISOString(),
    redact: (text) => text,
    sync: 'never',
  })
  const rules = Object.entries(refused).flatMap(([rule, count]) => Array<string>(count).fill(rule))
  for (let at = 0; at < calls; at++) {
    const verdict = at < rules.length ? 'deny' : 'allow'
    const decision = { verdict, reason: 'x', rules: [rules[at] ?? 'x'] } as const
    const type = verdict === 'deny' ? 'denied' : 'begin'
    log.record({ type, call: `c${at}`, tool: 'bash', args_hash: 'x', decision })
  }
  log.close()
  await report(machine)
}

const report = (machine: Machine) =>
  onBus(fleet.settings, machine, (bus) => reportHealth(fleet.settings, machine, bus, Date.now()))

interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value?: readonly [number, string]
  readonly values?: readonly (readonly [number, string])[]
}

async function query(expr: string, seconds?: number): Promise<readonly Sample[]> {
  const now = Date.now() / 1000
  const range: Record<string, string> =
    seconds === undefined ? {} : { start: `${now - seconds}`, end: `${now}`, step: '1' }
  const words = new URLSearchParams({ ...range, query: expr })
  const response = await fetch(`${prometheus}/api/v1/query${seconds ? '_range' : ''}?${words}`).catch(() => null)
  // It answers 503 until it has started.
  if (response === null || response.status === 503) return []
  const { status, error, data } = (await response.json()) as {
    status: string
    error?: string
    data?: { result: readonly Sample[] }
  }
  if (status !== 'success') throw new Error(`${expr}: ${error}`)
  return data!.result
}

const metrics = async (): Promise<string> => (await fetch(`${desk}/metrics`)).text()

/** Metrics and labels that queries and legends name, and that no line of the text has. */
function missing(text: string, all: readonly Panel[]): string[] {
  const labels = new Map<string, Set<string>>()
  for (const [, metric, set = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = labels.get(metric!) ?? new Set()
    for (const [, label] of set.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label!)
    labels.set(metric!, known)
  }
  return all.flatMap(({ title, targets }) =>
    targets.flatMap(({ expr, legendFormat }) => {
      const named = expr.match(/\bcordon_\w+/g) ?? []
      const known = new Set(named.flatMap((metric) => [...(labels.get(metric) ?? [])]))
      const groups = [...expr.matchAll(/\b(?:ignoring|on|without|by) ?\(([^)]*)\)/g)].flatMap(([, list]) =>
        list!.split(/, */),
      )
      const matched = [...expr.matchAll(/(\w+) *(?:=|!=|=~|!~) *"/g)].map(([, label]) => label!)
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!)
      return [
        ...named.filter((metric) => !labels.has(metric)),
        ...[...groups, ...matched, ...shown].filter((label) => !known.has(label)),
      ].map((name) => `${title}: ${name}`)
    }),
  )
}

it('is scraped, and its text is as promtool wants it', async () => {
  await until('Prometheus has scraped the desk', async () => (await query('up == 1')).length === 1)
  const checked = spawnSync('promtool', ['check', 'metrics'], { input: await metrics(), encoding: 'utf8' })
  expect([checked.status, checked.stdout + checked.stderr]).toEqual([0, ''])
})

it('answers every query of the dashboard with what the machines reported', async () => {
  const [one, two] = machines as [Machine, Machine]
  const quoted = 'deny "curl" \\ {job}'
  await work(one, 's1', 10, { [quoted]: 4 })
  const refusals = 'sum(cordon_fleet_refusals_total)'
  await until('the first report is stored', async () => (await query(`${refusals} == 4`)).length === 1)
  const draft = { layers: [{ groups: ['*'], file: 'all.toml' }], rollout: [{ groups: ['m1'], for: '2h' }] }
  writeFileSync(join(fleet.admin.home, 'all.toml'), 'schema_version = 1\n[security]\nbackground = false\n')
  writeFileSync(join(fleet.admin.home, 'draft.json'), JSON.stringify({ ...draft, days: 30 }))
  const publish = [CLI, 'fleet', 'publish', 'draft.json', '--yes']
  const published = spawnSync(process.execPath, publish, { env, cwd: fleet.admin.home, encoding: 'utf8' })
  expect([published.status, published.stderr]).toEqual([0, expect.any(String)])
  await syncPolicy(fleet.settings, one)
  await work(one, 's2', 10, { [quoted]: 2 })
  await work(two, 's3', 30, { 'host not granted': 3 })
  for (const other of machines) await report(other)
  await until('all reports are stored', async () => (await query(`${refusals} == 9`)).length === 1)
  const [share] = await query(panels.find(({ title }) => title.startsWith('Share'))!.targets[0]!.expr)
  expect(Number(share!.value![1])).toBeCloseTo(9 / 50, 5)
  // A picture wants a longer history.
  for (let round = 0; process.env.CORDON_PICTURES && round < 12; round++) {
    await new Promise((done) => setTimeout(done, 2000))
    if (round === 6) await syncPolicy(fleet.settings, two)
    await work(two, `more${round}`, 20 + 5 * (round % 3), { 'path outside the project': round % 4 })
  }
  const drawn = await Promise.all(
    panels.map(({ type, title, gridPos, targets, fieldConfig }) =>
      until(title, async (): Promise<DrawnPanel | false> => {
        const series = await Promise.all(targets.map(seriesOf))
        const red = fieldConfig?.defaults.thresholds?.steps.at(-1)?.value ?? null
        const unit = fieldConfig?.defaults.unit ?? ''
        // A rate needs two samples that Prometheus has stored.
        return (
          series.every((found) => found.length > 0) && {
            type,
            title,
            unit,
            red,
            width: gridPos.w,
            series: series.flat(),
          }
        )
      }),
    ),
  )
  const text = await metrics()
  expect(missing(text, panels)).toEqual([])
  // Rules are counted from their first refusal on, which a rate does not see.
  const byRule = drawn.find(({ title }) => title.startsWith('Refusals'))!.series
  const counts = Object.fromEntries(byRule.map(({ name, points }) => [name, points[0]![1]]))
  expect(counts).toMatchObject({ [quoted]: 6, 'host not granted': 3 })
  await draw(drawn)
})

it.each([
  [
    (panel: Panel) => ({ ...panel, targets: [{ expr: 'rate(cordon_fleet_call_total[5m])', legendFormat: '' }] }),
    'cordon_fleet_call_total',
  ],
  [
    (panel: Panel) => ({ ...panel, targets: [{ expr: 'cordon_fleet_machines{polcy="1"}', legendFormat: '' }] }),
    'polcy',
  ],
  [
    (panel: Panel) => ({ ...panel, targets: [{ expr: 'cordon_fleet_machines', legendFormat: '{{verison}}' }] }),
    'verison',
  ],
])('control: a name that does not exist is found (%#)', async (change, name) => {
  expect(missing(await metrics(), [change(panels[0]!)])).toEqual([`${panels[0]!.title}: ${name}`])
})

/** What a query gives, by the names in its legend. */
async function seriesOf({ expr, legendFormat, instant }: Panel['targets'][number]): Promise<readonly Series[]> {
  return (await query(expr, instant ? undefined : 60)).map(({ metric, value, values = [value!] }) => ({
    name: legendFormat.replace(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? ''),
    points: values.map(([time, number]) => [time, Number(number)] as const),
  }))
}

/** Draws the panels in a browser; with CORDON_PICTURES the picture of the documents is taken. */
async function draw(drawn: readonly DrawnPanel[]): Promise<void> {
  const bundle = await rolldown({
    input: join(import.meta.dirname, 'dashboard.tsx'),
    platform: 'browser',
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  const css = readFileSync(join(import.meta.dirname, '../../src/surfaces/page/client/page.css'), 'utf8')
  const browser = await openBrowser()
  try {
    const { page, errors } = await openTab(browser, 'about:blank', 1200)
    const data = JSON.stringify(drawn).replaceAll('<', '\\u003c')
    const body = `<!doctype html><meta charset="utf-8"><style>${css}</style><div id="page"></div>
<script type="application/json" id="panels">${data}</script><script type="module">${output[0].code}</script>`
    await page.route('http://dashboard.test/', (route) => route.fulfill({ body, contentType: 'text/html' }))
    await page.goto('http://dashboard.test/')
    await page.locator('.panel').first().waitFor()
    const shown = await page.locator('.panel').allInnerTexts()
    for (const [at, { title, series }] of drawn.entries())
      for (const text of [title, ...series.map(({ name }) => name)])
        expect(shown[at]!.toLowerCase()).toContain(text.toLowerCase())
    expect(errors).toEqual([])
    if (process.env.CORDON_PICTURES) await page.screenshot({ path: PICTURE, fullPage: true })
  } finally {
    await browser.close()
  }
}
