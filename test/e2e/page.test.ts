/** The page as people start it: `cordon ui`, `mcp --ui`, `chat --ui`; every surface's questions are answered there, and it ends with what started it. */

import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PageClient } from '../contract/page/page-client.ts'
import { until } from '../until.ts'
import { asUser, eachUser } from '../users.ts'
import { ChatWorld } from './chat/chat-world.ts'
import { CLI, Project } from './cordon.ts'
import { Person } from './terminal/person.ts'

const LINK = /http:\/\/127\.0\.0\.1:\d+\/#t=[\w-]{43}/

/** `cordon` as its own process, spoken to by its streams. */
class Started {
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
  #said = ''

  constructor(argv: readonly string[], cwd: string, home: string) {
    const env = { PATH: process.env.PATH!, HOME: home, CORDON_KEYCHAIN: 'off' }
    this.child = spawn(argv[0]!, argv.slice(1), { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#said += text
      })
    this.ended = new Promise((resolve) => this.child.once('close', (code) => resolve(code)))
  }

  async says(what: RegExp): Promise<string> {
    try {
      return (await until(`it says ${what}`, () => what.exec(this.#said)))[0]
    } catch (error) {
      throw new Error(`${error} in:\n${this.#said}`)
    }
  }

  async page(): Promise<PageClient> {
    return new PageClient(await this.says(LINK))
  }

  /** One message of MCP; the answer with this id. */
  async mcp(id: number, method: string, params: object): Promise<string> {
    this.child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return this.says(new RegExp(`\\{"jsonrpc":"2\\.0","id":${id},.*`))
  }

  async initialize(): Promise<void> {
    await this.mcp(0, 'initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    })
    this.child.stdin!.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  }
}

const cordon = (project: Project, ...args: readonly string[]) =>
  new Started([process.execPath, CLI, ...args], project.directory, project.home)
const gone = (page: PageClient) => expect(page.send()).rejects.toThrow('ECONNREFUSED')

const ASKS = `schema_version = 1
[permission]
mode = "default"
[permission.tools]
mcp__srv__look = "ask"
[audit]
arguments = true
[capabilities.allow]
additional_directories = [${JSON.stringify(dirname(process.execPath))}]
`

const SERVER = `import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line)
  const say = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
  if (method === 'initialize') say({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } })
  if (method === 'tools/list') say({ tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }] })
  if (method === 'tools/call') say({ content: [{ type: 'text', text: 'seen by the server' }] })
}
`

eachUser(describe)('cordon ui as $name', (user) => {
  it('serves what it was built with, knows this machine, and ends by a signal', async () => {
    const project = new Project({ 'a.txt': 'a' })
    try {
      const base = dirname(project.directory)
      chmodSync(base, 0o755)
      for (const path of readdirSync(base, { recursive: true, encoding: 'utf8' }))
        chownSync(join(base, path), user.uid, user.gid)
      const ui = new Started(asUser(user, [process.execPath, CLI, 'ui']), project.directory, project.home)
      const page = await ui.page()
      const bare = { authorization: undefined, 'sec-fetch-site': undefined }
      for (const path of ['/', '/page.js', '/page.css', '/icon.svg'])
        expect([path, (await page.send({ path, headers: bare })).status]).toEqual([path, 200])
      expect(JSON.parse((await page.send()).text)).toMatchObject({ root: project.directory })
      for (const path of ['/api/policy', '/api/timeline', '/api/health'])
        expect([path, (await page.send({ path })).status]).toEqual([path, 200])
      expect((await page.send({ headers: { authorization: undefined } })).status).toBe(401)
      ui.child.kill('SIGTERM')
      expect(await ui.ended).toBe(0)
      await gone(page)
    } finally {
      project.remove()
    }
  })
})

describe('questions of every surface, on one page', () => {
  let project: Project
  let ui: Started
  let page: PageClient
  beforeAll(async () => {
    project = new Project({ 'a.txt': 'a', 'server.mjs': SERVER, 'cordon.toml': ASKS })
    mkdirSync(join(project.home, 'lib'))
    writeFileSync(join(project.home, 'lib/a.txt'), 'from outside\n')
    expect(project.cordon(['sign', '--yes']).code).toBe(0)
    ui = cordon(project, 'ui')
    page = await ui.page()
  })
  afterAll(async () => {
    ui.child.kill('SIGTERM')
    await ui.ended
    project.remove()
  })

  it('mcp wrap: a tool of another server runs by a yes of the page, and not by its no', async () => {
    const gateway = cordon(project, 'mcp', 'wrap', '--name', 'srv', '--', process.execPath, 'server.mjs')
    await gateway.initialize()
    await gateway.mcp(1, 'tools/list', {})
    const call = (id: number) => gateway.mcp(id, 'tools/call', { name: 'srv__look', arguments: { at: `call ${id}` } })
    const yes = call(2)
    const asked = await page.ask('call 2')
    expect([asked.from, asked.tool, asked.answers.map(({ kind }) => kind)]).toEqual([
      'mcp wrap',
      'mcp__srv__look',
      ['once', 'session', 'time', 'always', 'deny', 'deny-always', 'deny-message'],
    ])
    expect((await page.answer({ ask: asked.id, kind: 'once' })).status).toBe(200)
    expect(await yes).toContain('seen by the server')
    const no = call(3)
    await page.answer({ ask: (await page.ask('call 3')).id, kind: 'deny-message', message: 'not on a Monday' })
    expect(await no).toContain('not on a Monday')
    gateway.child.stdin!.end()
    expect(await gateway.ended).toBe(0)
  })

  it('run: what a typed command asks at the terminal is answered on the page, and shown there', async () => {
    const person = new Person(project)
    try {
      await person.atPrompt()
      person.line('cordon run -- cat ~/lib/a.txt')
      const { id, from } = await page.ask('cat ')
      expect(from).toBe('run')
      await page.answer({ ask: id, kind: 'once' })
      await person.sees('from outside')
    } finally {
      await person.leaves()
    }
  })

  it('hook: a call that no one could be asked about passes when it is tried again', async () => {
    const call = { tool_name: 'Bash', tool_input: { command: 'touch new.txt' }, cwd: project.directory }
    const input = JSON.stringify({ ...call, hook_event_name: 'PreToolUse', session_id: 's' })
    const hook = () => project.cordon(['hook', 'codex', '--root', project.directory], { input })
    expect(hook().out + hook().err).toContain('cordon approvals allow')
    const { id, waits } = await page.ask('touch new.txt')
    expect(waits).toBe(false)
    expect((await page.answer({ ask: id, kind: 'once' })).status).toBe(200)
    expect(hook().out).not.toContain('cordon approvals allow')
  })
})

it('mcp --ui: the page is the session’s own, answers it, and ends with it', async () => {
  const project = new Project({ 'cordon.toml': ASKS })
  try {
    project.cordon(['sign', '--yes'])
    const mcp = cordon(project, 'mcp', '--ui')
    const page = await mcp.page()
    await mcp.initialize()
    const ran = mcp.mcp(1, 'tools/call', { name: 'bash', arguments: { command: 'touch new.txt' } })
    const { id, from } = await page.ask('new.txt')
    expect(from).toBe('mcp')
    // No one sees a code where a client started it: what outlives the question is refused.
    expect((await page.answer({ ask: id, kind: 'session', choice: 0 })).status).toBe(403)
    await page.answer({ ask: id, kind: 'once' })
    await ran
    expect(existsSync(join(project.directory, 'new.txt'))).toBe(true)
    mcp.child.stdin!.end()
    expect(await mcp.ended).toBe(0)
    await gone(page)
  } finally {
    project.remove()
  }
})

it('chat --ui: an answer on the page ends the question at the terminal', async () => {
  const world = await ChatWorld.open((_, index) =>
    index === 0 ? { calls: [{ name: 'bash', input: { command: 'touch by-page.txt' } }] } : { text: 'so it is.' },
  )
  try {
    const chat = world.chat(['--ui'])
    await chat.ready()
    const page = new PageClient(LINK.exec(chat.screen.text)![0])
    await chat.send('go')
    await page.answer({ ask: (await page.ask('by-page')).id, kind: 'once' })
    await chat.until(/so it is\./)
    expect(world.has('by-page.txt')).toBe(true)
    await chat.ready()
    chat.type('\u0004')
    expect(await chat.ended()).toBe(0)
    await gone(page)
  } finally {
    await world.close()
  }
})
