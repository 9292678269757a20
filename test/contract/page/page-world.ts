/** A space for the page: a project with its state, the server on loopback, what the terminal showed, and a browser where one is wanted. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { terminalConsent } from '../../../src/surfaces/page/consent.ts'
import type { NoticeSettings } from '../../../src/surfaces/page/notifier.ts'
import { type PageOptions, type PageServer, servePage } from '../../../src/surfaces/page/page-server.ts'
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

/** Starts Debian's chromium; a machine without one is told so in the test's failure. */
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

/** Writes a session of so many calls into the record, as no more than its lines. */
export function writeRecord(
  world: PageWorld,
  session: string,
  calls: number,
  fields: (at: number) => object = (at) => ({ subject: `echo ${at}` }),
): void {
  const folder = join(world.sessions.machine.stateDir, 'audit')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lines: string[] = []
  for (let at = 0; at < calls; at++) {
    const time = new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString()
    const verdict = at % 100 === 0 ? 'deny' : 'allow'
    const line = { v: 1, seq: at + 1, time, session, type: verdict === 'deny' ? 'denied' : 'begin', call: `c${at}` }
    const about = { agent: 'build', project: world.sessions.root, tool: at % 3 === 0 ? 'read' : 'bash' }
    const decision = { verdict, reason: 'granted' }
    lines.push(JSON.stringify({ ...line, ...about, decision, ...fields(at), prev: 'x' }))
  }
  writeFileSync(join(folder, `${session}.0.jsonl`), `${lines.join('\n')}\n`, { mode: 0o600 })
}
