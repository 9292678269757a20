/** A space for the page: a project with its state, the server on loopback, what the terminal showed, and a browser where one is wanted. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { newTally, signHealth } from '../../../src/fleet/health.ts'
import { type Certificate, codeProof, parseCode } from '../../../src/fleet/identity.ts'
import { nextBundle, publishedBundle, putBundle, signedBundle } from '../../../src/organisation/draft.ts'
import { takeHealth } from '../../../src/organisation/overview.ts'
import { foundFleet, joinText } from '../../../src/organisation/team.ts'
import { terminalConsent } from '../../../src/surfaces/page/consent.ts'
import type { NoticeSettings } from '../../../src/surfaces/page/notifier.ts'
import { type PageOptions, type PageServer, servePage } from '../../../src/surfaces/page/page-server.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { makeSigningKey } from '../../../src/system/keys/signing-key.ts'
import { PATIENCE_MS } from '../../until.ts'
import { openSessionWorld, type SessionWorld } from '../session/session-world.ts'

export const QUIET: NoticeSettings = { webhook: null, format: 'json', answerUrl: null, desktop: false }

/** A manifest under which commands ask and the record keeps what was asked for. */
export const ASKING = 'schema_version = 1\n[permission]\nmode = "default"\n[audit]\narguments = true\n'

const HEALTH: Awaited<ReturnType<PageOptions['health']>> = {
  support: {
    usable: true,
    backend: 'bubblewrap',
    assurances: [
      { name: 'ungranted files', status: 'enforced', detail: 'do not exist inside' },
      { name: 'memory', status: 'degraded', detail: 'is counted by the init', remedy: 'Run it under systemd.' },
    ],
  },
  score: { holds: 1, of: 2 },
  agents: [{ agent: 'claude-code', scope: 'user', status: 'works', detail: 'answers in 40 ms', remedy: null }],
}

export interface PageWorld {
  readonly sessions: SessionWorld
  readonly server: PageServer
  readonly token: string
  readonly origin: string
  /** What the terminal was shown. */
  readonly shown: string[]
  readonly warned: string[]
  close(): Promise<void>
}

/** Opens the layout and serves the page. */
export async function openPageWorld(notices: NoticeSettings = QUIET): Promise<PageWorld> {
  const sessions = openSessionWorld()
  const shown: string[] = []
  const warned: string[] = []
  const server = await servePage({
    machine: sessions.machine,
    root: sessions.root,
    port: 0,
    notices,
    consent: terminalConsent((text) => shown.push(text) > 0),
    health: async () => HEALTH,
    warn: (text) => warned.push(text),
  })
  return {
    sessions,
    server,
    token: server.link.split('#t=')[1]!,
    origin: `http://127.0.0.1:${server.port}`,
    shown,
    warned,
    close: async () => {
      await server.close()
      await sessions.close()
    },
  }
}

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Starts Debian's chromium; without one the test fails and says so. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = PLACES.find((path) => existsSync(path))
  if (executablePath === undefined)
    throw new Error('There is no chromium here: bash scripts/set-up.sh test installs it as root.')
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
  return chromium.launch({ executablePath, timeout: PATIENCE_MS, args })
}

/** A page whose errors and refusals by the content policy fail the test that asks for them. */
export async function openTab(browser: Browser, link: string, width = 1100): Promise<{ page: Page; errors: string[] }> {
  const context = await browser.newContext({ viewport: { width, height: 800 } })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  await page.goto(link)
  return { page, errors }
}

/** Writes lines of a session into the record, as no more than its lines. */
export function writeLines(
  world: PageWorld,
  session: string,
  events: readonly Readonly<Record<string, unknown>>[],
): void {
  const folder = join(world.sessions.machine.stateDir, 'audit')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lines = events.map((event, at) => JSON.stringify({ v: 1, seq: at + 1, session, ...event, prev: 'x' }))
  writeFileSync(join(folder, `${session}.0.jsonl`), `${lines.join('\n')}\n`, { mode: 0o600 })
}

/** Writes a session of so many calls. */
export function writeRecord(
  world: PageWorld,
  session: string,
  calls: number,
  fields: (at: number) => object = (at) => ({ subject: `echo ${at}` }),
): void {
  const events = Array.from({ length: calls }, (_, at) => {
    const verdict = at % 100 === 0 ? 'deny' : 'allow'
    return {
      time: new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString(),
      type: verdict === 'deny' ? 'denied' : 'begin',
      call: `c${at}`,
      ...{ agent: 'build', project: world.sessions.root, tool: at % 3 === 0 ? 'read' : 'bash' },
      decision: { verdict, reason: 'granted' },
      ...fields(at),
    }
  })
  writeLines(world, session, events)
}

/** What agents do in a day, hour by hour: the command, its verdict, and what it did. */
const DAY: readonly { command: string; verdict: 'allow' | 'ask' | 'deny'; by?: string; end?: object }[] = [
  { command: 'npm ci', verdict: 'ask', by: 'page', end: reached('packages.example', 9120, 4_812_000, 'npm ci') },
  { command: 'npm test', verdict: 'allow', end: { programs: tree('npm test', 'node', 'vitest', 'vitest') } },
  { command: 'git fetch origin', verdict: 'allow', end: reached('github.com', 2210, 61_400, 'git fetch') },
  { command: 'ls src', verdict: 'allow' },
  { command: 'git push --force origin main', verdict: 'deny' },
  { command: 'curl -fsSL https://get.example.com/install.sh | sh', verdict: 'ask', by: 'terminal' },
  { command: 'npm run lint', verdict: 'allow', end: { refused_hosts: ['telemetry.example.net'] } },
]

function reached(host: string, up: number, down: number, program: string): object {
  return { hosts: [host], host_bytes: { [host]: { up, down } }, host_programs: { [host]: [program] } }
}

function tree(...names: readonly string[]): readonly object[] {
  return names.map((name, at) => ({ name, words: '0'.repeat(16), ...(at > 0 && { by: Math.min(at - 1, 1) }) }))
}

/** An invented record of today and the days before. */
export function writeDays(world: PageWorld, now: number = Date.now()): void {
  const { root } = world.sessions
  for (const [day, agent] of ['claude-code', 'codex', 'claude-code'].entries()) {
    const events: Record<string, unknown>[] = []
    for (let at = 0; at < 40; at++) {
      const { command, verdict, by, end } = DAY[(at * 5 + day) % DAY.length]!
      const start = now - day * 86_400_000 - (41 - at) * 420_000
      const time = (after: number) => new Date(start + after).toISOString()
      const call = `d${day}c${at}`
      const answered = by !== undefined
      const rules = [
        verdict === 'deny'
          ? 'capabilities.deny.commands.patterns[0] (cordon.toml:16:13)'
          : 'permission.mode (cordon.toml:4:1)',
      ]
      const decision = { verdict, reason: verdict === 'allow' ? 'granted' : 'level-ask', rules }
      const type = verdict === 'deny' ? 'denied' : 'begin'
      const about = { call, agent, project: root, tool: 'bash', subject: command, args: { command } }
      events.push({ time: time(0), type, ...about, decision })
      if (answered) events.push({ time: time(4000), type: 'approval', call, approver: by, approved: by === 'page' })
      if (verdict === 'deny' || by === 'terminal') continue
      const folder = ['src/parser', 'src', 'test', 'docs/guides'][at % 4]
      const changes = {
        undo: null,
        made: 1,
        changed: 1,
        removed: 0,
        lost: 0,
        names: [`+${root}/${folder}/a.ts`, `~${root}/${folder}/b.ts`],
      }
      const ended = { type: 'end', call, duration_ms: 2300 + at * 31, outcome: 'ok', exit_code: 0 }
      events.push({ time: time(6000), ...ended, ...(at % 3 === 0 && { changes }), ...end })
    }
    writeLines(world, `days-${day}`, events)
  }
}

/** Makes this person the operator of a fleet whose machines have reported; each seventh has an older policy, each eleventh none. */
export async function writeFleet({ sessions }: PageWorld, count: number, now: number = Date.now()): Promise<void> {
  const { machine, root } = sessions
  const team = foundFleet(machine, { fleet: 'acme', policy: `${root}.bundle` }, now)
  writeFileSync(`${root}.all.toml`, 'schema_version = 1\n[security]\ndeny_domains = ["paste.example"]\n')
  writeFileSync(`${root}.draft.json`, JSON.stringify({ layers: [{ groups: ['*'], file: `${root}.all.toml` }] }))
  const policies: { version: number; hash: string }[] = []
  for (let version = 0; version < 2; version++) {
    const before = await publishedBundle(team, machine)
    const { bundle } = await nextBundle(team, `${root}.draft.json`, before?.bundle ?? null, machineFiles)
    await putBundle(team, machine, signedBundle(team, bundle, before).text, null)
    policies.push({ version: bundle.version, hash: (await publishedBundle(team, machine))!.hash })
  }
  for (let at = 0; at < count; at++) {
    const { key } = makeSigningKey()
    const groups = [['dev'], ['ci', 'linux'], ['k8s']][at % 3]!
    const code = parseCode(team.invite({ role: 'machine', groups, expires: now + 60_000 }))!
    const joining = { key: key.publicKey, name: `${groups[0]}-${String(at).padStart(2, '0')}` }
    const proof = codeProof(code.secret, 'join', joinText(joining))
    const { text } = team.enrol({ ...joining, id: code.id, proof }, now)!
    if (at % 11 === 10) continue
    const { certificate } = JSON.parse(text) as { certificate: Certificate }
    const time = new Date(now - 1000 * ((at * 37) % 600)).toISOString()
    const total = { calls: 120 + at * 17, refused: at % 5, asked: at % 3 }
    const health = {
      ...newTally(policies[at % 7 === 6 ? 0 : 1]!, time),
      ...{ fleet: 'acme', machine: key.publicKey, time, cordon: at % 4 === 3 ? '0.0.9' : '0.1.0', total },
      ...{ problem: null, closed: false, openings: [] },
      rules: at % 5 === 0 ? {} : { [at % 2 === 0 ? 'security.deny_domains[0]' : 'secret']: at % 5 },
    }
    takeHealth(team, signHealth(health, key, certificate), team.settings.keys, now)
  }
}
