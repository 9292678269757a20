/** Several servers as processes: each sees its own files, variables, hosts and secrets, and a bad one harms no one else. */

import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../until.ts'

const CLI = process.env.CORDON_CLI ?? join(import.meta.dirname, '../../../dist/cordon.cjs')
const node = realpathSync(process.execPath)

/** Looks around, reaches out, floods and crashes as it is asked to. */
const SERVER = `
import { createInterface } from 'node:readline'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const text = (value) => ({ content: [{ type: 'text', text: value }] })
const attempt = (what) => { try { return what() } catch (error) { return error.code } }
const fetched = (port) => new Promise((resolve) => {
  const headers = { authorization: 'Bearer ' + process.env.API_TOKEN }
  request({ host: '127.0.0.1', port, headers }, (response) => { response.resume(); resolve(response.statusCode) })
    .on('error', (error) => resolve(error.code)).end()
})
const calls = {
  look: async ({ port }) => text(JSON.stringify({
    docs: attempt(() => readFileSync('docs/a.md', 'utf8')), src: attempt(() => readFileSync('src/a.ts', 'utf8')),
    env: attempt(() => readFileSync('.env', 'utf8')),
    wroteDocs: attempt(() => writeFileSync('docs/new.md', 'x')) ?? 'yes', wroteSrc: attempt(() => writeFileSync('src/new.ts', 'x')) ?? 'yes',
    a: process.env.VISIBLE_A ?? null, b: process.env.VISIBLE_B ?? null, token: process.env.API_TOKEN ?? null, given: process.env.GIVEN ?? null,
    net: await fetched(port),
  })),
  crash: () => process.exit(1),
  endless: async () => { for (;;) if (!process.stdout.write('x'.repeat(1024 * 1024))) await new Promise((done) => process.stdout.once('drain', done)) },
  chatter: async () => {
    for (let i = 0; i < 50000; i++) {
      send({ method: 'notifications/tools/list_changed' })
      send({ method: 'notifications/message', params: { level: 'error', data: 'x'.repeat(200) } })
      if (i % 500 === 0) await new Promise(setImmediate)
    }
    for (let i = 0; i < 1000; i++) send({ id: 'mine-' + i, method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } })
    return text('said a lot')
  },
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  const result = (value) => send({ id, result: value })
  if (method === 'initialize') result({ protocolVersion: params.protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo: { name: 's', version: '0' } })
  else if (method === 'tools/list') result({ tools: Object.keys(calls).map((name) => ({ name, description: 'Does it.', inputSchema: { type: 'object' } })) })
  else if (method === 'tools/call') Promise.resolve(calls[params.name](params.arguments)).then(result)
  else if (id !== undefined && method) result({})
}
`

let base = ''
let project = ''
let upstream: Server
let port = 0
const seenTokens: (string | undefined)[] = []

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'cordon-gateway-grants-'))
  project = join(base, 'project')
  for (const directory of ['docs', 'src', '../home', '../bin']) mkdirSync(join(project, directory), { recursive: true })
  writeFileSync(join(project, 'docs/a.md'), 'the docs')
  writeFileSync(join(project, 'src/a.ts'), 'the source')
  writeFileSync(join(project, '.env'), 'TOKEN=hunter2\n')
  const program = join(base, 'bin/server.mjs')
  writeFileSync(program, SERVER)
  upstream = createServer((request, response) => {
    seenTokens.push(request.headers.authorization)
    response.end('ok')
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  port = (upstream.address() as AddressInfo).port
  const tools = ['look', 'crash', 'endless', 'chatter'].flatMap((name) =>
    ['one', 'two', 'three'].map((server) => `mcp__${server}__${name} = "allow"`),
  )
  const command = JSON.stringify(`${node} ${program}`)
  const program_ = JSON.stringify([dirname(node), dirname(program)]).slice(1, -1)
  writeFileSync(
    join(project, 'cordon.toml'),
    `schema_version = 1
[[secrets]]
name = "API_TOKEN"
source = "env:REAL_TOKEN"
hosts = ["127.0.0.1:${port}"]
[permission]
mode = "contained"
[permission.tools]
${tools.join('\n')}
[http]
allow_private_hosts = true
[capabilities.allow]
additional_directories = [${JSON.stringify(dirname(node))}]
[mcp_servers.one]
command = ${command}
read = ["docs/**", ${program_}]
env_vars = ["VISIBLE_A"]
[mcp_servers.two]
command = ${command}
read = [${program_}]
write = ["src/**"]
env_vars = ["VISIBLE_B"]
domains = ["127.0.0.1:${port}"]
secrets = ["API_TOKEN"]
`,
  )
  cordon('sign', '--yes')
})

afterAll(() => {
  upstream.close()
  rmSync(base, { recursive: true, force: true })
})

function environment(): Record<string, string> {
  const variables = { VISIBLE_A: 'a', VISIBLE_B: 'b', REAL_TOKEN: 'the-real-token-0123456789' }
  return { PATH: process.env.PATH ?? '', HOME: join(base, 'home'), ...variables }
}

function cordon(...args: readonly string[]): void {
  const run = spawnSync(process.execPath, [CLI, ...args], { cwd: project, env: environment(), encoding: 'utf8' })
  expect(run.status, run.stderr).toBe(0)
}

interface Gateway {
  readonly client: Client
  readonly stderr: () => string
}

async function gateway(...args: readonly string[]): Promise<Gateway> {
  const client = new Client({ name: 'test', version: '0' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, 'mcp', 'wrap', '--root', project, ...args],
    env: environment(),
    cwd: project,
    stderr: 'pipe',
  })
  let said = ''
  transport.stderr?.on('data', (data) => {
    said += data
  })
  await client.connect(transport)
  return { client, stderr: () => said }
}

const call = async ({ client }: Gateway, name: string): Promise<string> => {
  const result = (await client.callTool({ name, arguments: { port } })) as { content: { text: string }[] }
  return result.content.map((part) => part.text).join('\n')
}
const look = async (at: Gateway, server: string): Promise<Record<string, unknown>> =>
  JSON.parse(await call(at, `${server}__look`))
/** A server that takes its time to start is offered when it is there. */
const started = (at: Gateway) =>
  expect.poll(() => names(at)).toEqual(expect.arrayContaining(['one__look', 'two__look']))
const names = async ({ client }: Gateway): Promise<string[]> =>
  (await client.listTools()).tools.map((tool) => tool.name)

describe('the servers of the manifest', () => {
  it('have each their own files, variables, hosts and secrets', async () => {
    const at = await gateway()
    await expect.poll(() => names(at)).toEqual(expect.arrayContaining(['one__look', 'two__look']))
    expect(await look(at, 'one')).toEqual({
      docs: 'the docs',
      src: 'ENOENT',
      env: 'ENOENT',
      wroteDocs: 'EROFS',
      wroteSrc: 'ENOENT',
      a: 'a',
      b: null,
      token: null,
      given: null,
      net: 'ECONNREFUSED',
    })
    const two = await look(at, 'two')
    expect(two).toMatchObject({
      docs: 'ENOENT',
      src: 'the source',
      env: 'ENOENT',
      wroteSrc: 'yes',
      a: null,
      b: 'b',
      net: 200,
    })
    expect(two.token).not.toBe(null)
    expect(two.token).not.toContain('the-real-token')
    expect(seenTokens).toEqual(['Bearer the-real-token-0123456789'])
    expect(existsSync(join(project, 'docs/new.md'))).toBe(false)
    expect(readFileSync(join(project, 'src/new.ts'), 'utf8')).toBe('x')
    await at.client.close()
  })

  it('can be run one by one', async () => {
    const at = await gateway('--name', 'two')
    await expect.poll(() => names(at)).toEqual(['two__look', 'two__crash', 'two__endless', 'two__chatter'])
    await at.client.close()
  })

  it('are audited by their names', () => {
    const logs = join(base, 'home/.local/state/cordon/audit')
    const lines = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'))
    expect(lines.join()).toContain('"tool":"mcp__one__look"')
    expect(lines.join()).toContain('"tool":"mcp__two__look"')
    expect(lines.join()).toContain('"tool":"mcp_server__two"')
    expect(lines.join()).toContain('"hosts":["127.0.0.1"]')
  })
})

describe('a bad server', () => {
  it.each([
    ['crashes', 'one__crash', 'one failed'],
    ['writes a line without an end', 'one__endless', 'one failed'],
    ['floods with notices and requests', 'one__chatter', 'said a lot'],
  ])('that %s leaves the others alone', async (_, tool, said) => {
    const at = await gateway()
    await started(at)
    const [bad, good] = await Promise.all([call(at, tool), look(at, 'two')])
    expect(bad).toContain(said)
    expect(good.src).toBe('the source')
    expect((await look(at, 'two')).src).toBe('the source')
    await at.client.close()
  })

  it('that ended is started again', async () => {
    const at = await gateway()
    await started(at)
    expect(await call(at, 'one__crash')).toContain('one failed')
    const again = await until('it runs again', () =>
      look(at, 'one').catch((error) => {
        expect(String(error)).toContain('not running')
        return null
      }),
    )
    expect(again.docs).toBe('the docs')
    await at.client.close()
  })
})

describe('the end of the gateway', () => {
  const running = (marker: string): number =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8').endsWith(`${marker}\0`)
        } catch {
          return false
        }
      }).length

  it.each(['end of input', 'SIGTERM', 'SIGKILL'] as const)('by %s is the end of its servers', async (how) => {
    writeFileSync(join(project, 'server.mjs'), SERVER)
    const marker = `marker-${how.replaceAll(' ', '-')}`
    const child = spawn(
      process.execPath,
      [
        CLI,
        'mcp',
        'wrap',
        '--root',
        project,
        '--name',
        'lasting',
        '--',
        'sh',
        '-c',
        `trap '' TERM; ${node} server.mjs ${marker}; sleep 60 # ${marker}`,
      ],
      { cwd: project, env: environment(), stdio: ['pipe', 'pipe', 'ignore'] },
    )
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '0' } }
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })}\n`)
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} })}\n`)
    await expect.poll(() => running(marker)).toBeGreaterThan(0)
    const ended = new Promise((resolve) => child.once('close', resolve))
    if (how === 'end of input') child.stdin.end()
    else child.kill(how)
    await ended
    await expect.poll(() => running(marker)).toBe(0)
  })
})

describe('a config file', () => {
  const file = (): string => join(base, 'servers.json')
  const write = (args: readonly string[]): void => {
    const server = { command: node, args: ['server.mjs', ...args], env: { GIVEN: 'by the file' } }
    writeFileSync(file(), JSON.stringify({ mcpServers: { three: server } }))
  }

  it('runs its servers with what a typed command gets, and the variables it gives', async () => {
    writeFileSync(join(project, 'server.mjs'), SERVER)
    write([])
    const at = await gateway('--config', file())
    await expect.poll(() => names(at)).toContain('three__look')
    const { given, ...seen } = await look(at, 'three')
    expect(seen).toMatchObject({ docs: 'the docs', a: null, token: null })
    // It has the variable, and what comes back from it does not hold its value.
    expect(given).not.toBeNull()
    expect(given).not.toContain('by the file')
    await at.client.close()
  })

  it('that names another command under a known name is not followed until it is accepted', async () => {
    write(['--other'])
    const refused = await gateway('--config', file()).catch((error: Error) => error)
    expect(refused).toBeInstanceOf(Error)
    const run = spawnSync(process.execPath, [CLI, 'mcp', 'wrap', '--config', file()], {
      cwd: project,
      env: environment(),
      encoding: 'utf8',
      input: '',
    })
    expect(run.stderr).toContain('is started by another command than before')
    expect(run.stderr).toContain('+     "--other"')
    const accepted = await gateway('--config', file(), '--accept')
    await expect.poll(() => names(accepted)).toContain('three__look')
    await accepted.client.close()
  })

  it.each([
    ['no JSON', '{'],
    ['no servers', '{"mcpServers":{}}'],
    ['a name that could be read as another', '{"mcpServers":{"a__b":{"command":"x"}}}'],
    ['a server elsewhere without TLS', '{"mcpServers":{"a":{"url":"http://example.com"}}}'],
    ['a transport that is not known', '{"mcpServers":{"a":{"type":"ws","url":"https://example.com"}}}'],
    ['a header with a line break', '{"mcpServers":{"a":{"url":"https://example.com","headers":{"a":"b\\r\\nc: d"}}}}'],
    ['arguments that are no texts', '{"mcpServers":{"a":{"command":"x","args":[7]}}}'],
  ])('with %s runs nothing', (_, text) => {
    writeFileSync(file(), text)
    const options = { cwd: project, env: environment(), encoding: 'utf8', input: '' } as const
    const run = spawnSync(process.execPath, [CLI, 'mcp', 'wrap', '--config', file()], options)
    expect(run.status).toBe(2)
    expect(run.stderr).toContain('servers.json')
    expect(run.stdout).toBe('')
  })
})
