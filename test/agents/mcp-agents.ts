/** Real agents and a remote MCP server with OAuth, through the gateway and without it: what the server was asked counts. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startModelServer } from '../../src/surfaces/hook/host/scripted-model.ts'
import { type Agent, agents } from './agents.ts'
import { cordon, endLeftovers, findable, install, programOf } from './program.ts'
import { notesServer } from './remote-notes.ts'

interface Ran {
  /** The tools that the server ran. */
  readonly called: readonly string[]
  /** What the model was sent. */
  readonly heard: string
}

/** How each is given a server, and how it is started. */
const DRIVEN: Readonly<Record<string, { readonly add: readonly string[]; readonly args: readonly string[] }>> = {
  'claude-code': {
    add: ['--client', 'claude-code'],
    args: [
      '-p',
      'go',
      '--permission-mode',
      'bypassPermissions',
      '--model',
      'claude-sonnet-4-5',
      '--mcp-config',
      '.mcp.json',
    ],
  },
  codex: {
    add: ['--client', 'codex', '--user'],
    args: ['exec', '--skip-git-repo-check', '-s', 'danger-full-access', '-m', 'gpt-5.1', 'go'],
  },
}

/** A line for each agent; how many failed. */
export async function runMcpAgents(say: (line: string) => void): Promise<number> {
  let failed = 0
  for (const agent of agents.filter(({ name }) => Object.hasOwn(DRIVEN, name))) {
    const missing = install(agent)
    const problems = missing ? [missing] : await drive(agent)
    if (problems.length > 0) failed++
    say(`a remote MCP server, ${agent.name}: ${problems.length === 0 ? 'as it should be' : problems.join('; ')}`)
  }
  return failed
}

async function drive(agent: Agent): Promise<string[]> {
  const bare = await session(agent, false)
  const guarded = await session(agent, true)
  const problems: string[] = []
  if (bare.called.join() !== 'read,add')
    problems.push(`control: without Cordon it called ${bare.called.join() || 'nothing'}`)
  if (guarded.called.join() !== 'read')
    problems.push(`through the gateway it called ${guarded.called.join() || 'nothing'}`)
  if (!guarded.heard.includes('two notes')) problems.push('the model was not given the result')
  if (!/no one could be asked|the client said no/.test(guarded.heard) || guarded.heard.includes('the user said no'))
    problems.push('the model was not given the refusal')
  if (/Bearer [\w-]{8}|access_token/.test(guarded.heard)) problems.push('the model was given a token')
  return problems
}

async function session(agent: Agent, guarded: boolean): Promise<Ran> {
  const base = mkdtempSync(join(tmpdir(), 'cordon-mcp-agent-'))
  const [home, project] = [join(base, 'home'), join(base, 'project')]
  for (const folder of [home, project]) mkdirSync(folder)
  const called: string[] = []
  let answer: RequestListener = () => {}
  const server = createServer((message, response) => answer(message, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  answer = notesServer(origin, { isOpen: !guarded, called: (tool) => void called.push(tool) })
  const wanted = ['read', 'add']
  const model = await startModelServer(
    wanted.map((name) => (_: readonly string[], body: string) => ({ tool: offered(body, name), input: {} })),
  )
  try {
    agent.prepare({ home, project, port: model.port })
    const browser = join(base, 'browser')
    // A browser whose person says yes at once.
    writeFileSync(browser, '#!/bin/sh\nexec curl -sL "$1"\n', { mode: 0o755 })
    const env = {
      PATH: findable,
      HOME: home,
      TERM: 'dumb',
      CI: '1',
      CORDON_KEYCHAIN: 'off',
      BROWSER: browser,
      ...agent.env({ home, project, port: model.port }),
      [agent.key.name]: 'scripted',
    }
    const { add, args } = DRIVEN[agent.name]!
    if (guarded) {
      await run([...cordon, 'mcp', 'add', 'notes', ...add, '--reads', '--yes', '--url', `${origin}/mcp`], project, env)
      await run([...cordon, 'mcp', 'login', 'notes'], project, env)
    } else giveBare(agent, { home, project }, `${origin}/mcp`)
    await run([programOf(agent), ...args], project, env)
    return { called, heard: model.bodies.join('\n') }
  } finally {
    endLeftovers(home)
    await model.close()
    server.closeAllConnections()
    server.close()
    rmSync(base, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The name of the server's tool as this agent offers it: of one that groups tools, `GROUP.NAME`. */
function offered(body: string, name: string): string {
  const tools = (JSON.parse(body).tools ?? []) as { type?: string; name?: string }[]
  const group = tools.find((tool) => tool.type === 'namespace' && tool.name?.includes('notes'))
  return group ? `${group.name}.${name}` : `mcp__notes__${name}`
}

function giveBare({ name }: Agent, { home, project }: { home: string; project: string }, url: string): void {
  if (name === 'codex')
    writeFileSync(join(home, '.codex/config.toml'), `\n[mcp_servers.notes]\nurl = "${url}"\n`, { flag: 'a' })
  else writeFileSync(join(project, '.mcp.json'), JSON.stringify({ mcpServers: { notes: { type: 'http', url } } }))
}

async function run(words: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(words[0]!, words.slice(1), { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      said += String(text)
    })
  const timer = setTimeout(() => child.kill('SIGKILL'), 120_000)
  await once(child, 'close')
  clearTimeout(timer)
  if (process.env.CORDON_AGENTS_KEEP) process.stderr.write(`${words.slice(-6).join(' ')}\n${said.slice(-2000)}\n`)
}
