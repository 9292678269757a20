/** A server that was started inside, as the person who started it meets it: by `cordon run`, and in the background of a session. */

import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { resultText } from '../../src/call/tool-result.ts'
import { listen } from '../contract/egress/world.ts'
import { openSessionWorld } from '../contract/session/session-world.ts'
import { until } from '../until.ts'
import { Project } from './cordon.ts'

const CLI = join(import.meta.dirname, '../../dist/cordon.cjs')

async function freePort(): Promise<number> {
  const server = createServer()
  await listen(server)
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** The page's text, or null when no one answers. */
async function page(port: number): Promise<string | null> {
  try {
    return await (await fetch(`http://127.0.0.1:${port}/page.txt`)).text()
  } catch {
    return null
  }
}

describe('cordon run', () => {
  let project: Project
  let port: number
  const manifest = () => `schema_version = 1\n[sandbox.os]\ndev_server_ports = [${port}]\n`

  beforeAll(async () => {
    port = await freePort()
    project = new Project({ 'page.txt': 'hello from inside' })
    project.write('cordon-dev.toml', manifest())
  })
  afterAll(() => project.remove())

  function start(): { said: () => string; until: (text: string) => Promise<void>; end: () => Promise<void> } {
    const server = ['python3', '-m', 'http.server', '--bind', '127.0.0.1', String(port)]
    const child = spawn(process.execPath, [CLI, 'run', '--manifest', 'cordon-dev.toml', '--', ...server], {
      cwd: project.directory,
      env: { PATH: process.env.PATH, HOME: project.home },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let text = ''
    const more = new EventTarget()
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8')
      more.dispatchEvent(new Event('text'))
    })
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
    return {
      said: () => text,
      until: async (wanted) => {
        while (!text.includes(wanted))
          await new Promise((resolve) => more.addEventListener('text', resolve, { once: true }))
      },
      end: async () => {
        child.kill('SIGINT')
        await closed
      },
    }
  }

  it('shows in its plan which ports can be reached', () => {
    const ran = project.cordon(['run', '--plan', '--manifest', 'cordon-dev.toml', '--', 'true'])
    expect(ran.out).toContain(`reachable from this machine, on 127.0.0.1: ${port}`)
    const json = project.cordon(['run', '--plan', '--json', '--manifest', 'cordon-dev.toml', '--', 'true'])
    expect(JSON.parse(json.out)).toMatchObject({ servers: [port], network: 'none' })
  })

  it('opens the port while the server runs, and says where', async () => {
    const run = start()
    await run.until('serving')
    expect(run.said()).toContain(`http://127.0.0.1:${port}`)
    expect(await page(port)).toBe('hello from inside')
    await run.end()
    expect(await page(port)).toBeNull()
  })

  it('says at once that a port is taken, and lets the command run', async () => {
    const other = createServer((socket) => socket.end())
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve))
    const run = start()
    await run.until('not served')
    expect(run.said()).toMatch(new RegExp(`port ${port} .*another program`))
    await run.end()
    await new Promise((resolve) => other.close(resolve))
  })

  it('refuses to plan a port of the proxy inside', () => {
    project.write(
      'cordon-taken.toml',
      'schema_version = 1\n[sandbox.os]\ndev_server_ports = [3128]\n[capabilities.allow.commands]\ndefault_domains = ["example.com"]\n',
    )
    const ran = project.cordon(['run', '--manifest', 'cordon-taken.toml', '--', 'true'])
    expect(ran.code).toBe(125)
    expect(ran.err).toContain('dev_server_ports contains 3128')
  })
})

describe('a session', () => {
  const world = openSessionWorld()
  afterEach(() => world.close())

  it('serves from the background, says where in what is read, and writes it down', async () => {
    const port = await freePort()
    world.file('page.txt', 'hello from the background')
    const object = {
      schema_version: 1,
      permission: { mode: 'auto' },
      sandbox: { os: { dev_server_ports: [port] } },
    }
    const session = (await world.open({ manifest: { object } })).openSession()
    const domains = { ...object, capabilities: { allow: { commands: { default_domains: [`127.0.0.1:${port}`] } } } }
    const granted = (await world.open({ manifest: { object: domains } })).openSession()
    await session.call('bash', { command: `python3 -m http.server --bind 127.0.0.1 ${port}`, background: true })
    const text = await until('it serves', async () => {
      const read = resultText(await session.call('bash', { action: 'read', handle: 'bg_1' }))
      return read.includes('serving') && read
    })
    expect(text).toContain(`http://127.0.0.1:${port}`)
    expect(await page(port)).toBe('hello from the background')
    // Another command of the session has its own network.
    const other = await session.call('bash', { command: `exec 3<>/dev/tcp/127.0.0.1/${port} && echo reached` })
    expect(resultText(other)).not.toContain('\nreached')
    const reach = { command: `curl -sS http://localhost:${port}/page.txt` }
    expect(resultText(await session.call('bash', reach))).toContain(`cordon add host 127.0.0.1:${port}`)
    // One that may reach the port as well finds the server there, and serves it itself when it is gone.
    expect(resultText(await granted.call('bash', reach))).toContain('hello from the background')
    await session.call('bash', { action: 'kill', handle: 'bg_1' })
    expect(await page(port)).toBeNull()
    await session.close()
    const serve = `python3 -m http.server --bind 127.0.0.1 ${port} & curl -sS --retry 30 --retry-delay 1 --retry-connrefused http://127.0.0.1:${port}/page.txt`
    expect(resultText(await granted.call('bash', { command: serve }))).toContain('hello from the background')
    await granted.close()
    const lines = world.auditLines()
    const line = lines.find((entry) => entry.type === 'background')
    expect(lines.find((entry) => entry.type === 'begin')).toMatchObject({ tool: 'bash', call: line?.call })
    expect(line).toMatchObject({ served: [{ port, problem: null, connections: 2 }] })
  })
})
