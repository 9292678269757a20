/** `cordon mcp add`, `list`, `status`, `logs` and `remove`: a server goes into each client's configuration and out again, to the byte. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { notesServer } from '../agents/remote-notes.ts'
import { CLI, Project, type Ran } from './cordon.ts'

const SERVER = `import json, sys
TOOLS = [
  {"name": "list", "description": "Lists notes.", "annotations": {"readOnlyHint": True}, "inputSchema": {"type": "object"}},
  {"name": "drop", "description": "Deletes notes.", "inputSchema": {"type": "object"}},
]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    method = message["method"]
    result = {}
    if method == "initialize": result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}}
    if method == "tools/list": result = {"tools": TOOLS}
    if method == "tools/call": result = {"content": [{"type": "text", "text": "two notes"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
`
const INITIALIZED = { capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1' } }
const COMMAND = ['--', 'python3', 'server.py']
const env = { CORDON_KEYCHAIN: 'off' }
let project: Project
const cordon = (...args: string[]): Ran => project.cordon(args, { env })
const ok = (...args: string[]): Ran => {
  const ran = cordon(...args)
  expect(ran, ran.err).toMatchObject({ code: 0 })
  return ran
}
beforeEach(() => {
  project = new Project({ 'server.py': SERVER })
})
afterEach(() => project.remove())

describe('a server that a client has already', () => {
  const ENTRY = '{ "command": "python3",   "args": ["server.py"], "env": { "NOTES_TOKEN": "abc" } }'
  const OWN = `{\n  "mcpServers": {\n    "notes": ${ENTRY}\n  }\n}\n`

  it('is put behind the gateway, and is restored', () => {
    project.write('.mcp.json', OWN)
    expect(ok('mcp', 'list').out).toMatch(/not guarded notes/)
    ok('mcp', 'add', 'notes', '--yes')
    const manifest = readFileSync(join(project.directory, 'cordon.toml'), 'utf8')
    expect(manifest).toContain('[mcp_servers.notes]\ncommand = "python3 server.py"\nenv_vars = ["NOTES_TOKEN"]')
    const entry = JSON.parse(readFileSync(join(project.directory, '.mcp.json'), 'utf8')).mcpServers.notes
    expect(entry.env).toEqual({ NOTES_TOKEN: 'abc' })
    expect(ok('mcp', 'list').out).toMatch(/^notes {2}python3 server.py {2}in claude-code\n$/)
    ok('mcp', 'remove', 'notes')
    expect(readFileSync(join(project.directory, '.mcp.json'), 'utf8')).toBe(OWN)
    expect(readFileSync(join(project.directory, 'cordon.toml'), 'utf8')).not.toContain('mcp_servers')
  })

  it('mcp_servers.*.headers: a server with headers keeps its keys: outside every file, for its own origin, and gone with it', async () => {
    const [KEY, TOKEN, OTHER] = ['k1-3f9a8c7b6d5e', 't1-0a1b2c3d4e5f', 'c1-8e7d6c5b4a39']
    const seen: IncomingHttpHeaders[] = []
    const server = createServer((message, response) => {
      let body = ''
      message.on('data', (piece) => {
        body += piece
      })
      message.on('end', () => {
        seen.push(message.headers)
        const { id, method } = JSON.parse(body || '{}')
        const echo = [{ type: 'text', text: `${KEY} ${TOKEN} ${OTHER} ${btoa(KEY)}` }]
        const results: Record<string, object> = {
          initialize: { ...INITIALIZED, protocolVersion: '2025-06-18' },
          'tools/list': {
            tools: [{ name: 'list', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } }],
          },
          'tools/call': { content: echo },
        }
        if (id === undefined) return void response.writeHead(202).end()
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }))
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a client puts the variable there.
    const headers = { 'X-Key': KEY, Authorization: 'Bearer ${NOTES_TOKEN}' }
    const before = `${JSON.stringify({ mcpServers: { notes: { type: 'http', url, headers } } }, null, 4)}\n`
    project.write('.mcp.json', before)
    try {
      const { out, err } = ok('mcp', 'add', 'notes', '--reads', '--yes')
      const [manifest, entry] = ['cordon.toml', '.mcp.json'].map((file) =>
        readFileSync(join(project.directory, file), 'utf8'),
      )
      expect(manifest).toContain(
        'headers = ["x-key: keychain:mcp-notes-x-key", "authorization: Bearer env:NOTES_TOKEN"]',
      )
      expect(`${out}${err}${manifest}${entry}`).not.toContain(KEY)
      const { notes } = JSON.parse(entry!).mcpServers
      const call = { id: 2, method: 'tools/call', params: { name: 'list', arguments: {} } }
      const client = await asClient(notes, { NOTES_TOKEN: TOKEN }, call)
      expect(client(2).content[0]!.text).toBe(`[REDACTED] [REDACTED] ${OTHER} [REDACTED]`)
      expect(seen.at(-1)).toMatchObject({ 'x-key': KEY, authorization: `Bearer ${TOKEN}` })
      // Without the variable the server is not reached, and the answer says what is missing.
      const count = seen.length
      const without = await asClient(notes, {}, call)
      expect(without(2)).toMatchObject({ message: expect.stringMatching(/authorization of notes.*NOTES_TOKEN/) })
      expect(seen).toHaveLength(count)
      ok('mcp', 'remove', 'notes')
      expect(readFileSync(join(project.directory, '.mcp.json'), 'utf8')).toBe(before)
      expect(ok('secrets', 'list').out).toContain('no secret is stored')
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it.each([
    ['a value that a program writes', { headersHelper: 'get-key' }],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an editor asks for it.
    ['a value that an editor asks for', { headers: { 'x-key': '${input:key}' } }],
  ])('with %s is refused, and stays', (_, more) => {
    const before = JSON.stringify({ mcpServers: { notes: { type: 'http', url: 'https://mcp.example.com/', ...more } } })
    project.write('.mcp.json', before)
    expect(cordon('mcp', 'add', 'notes', '--yes').err).toMatch(/is not understood.*--header/s)
    expect(readFileSync(join(project.directory, '.mcp.json'), 'utf8')).toBe(before)
  })

  it('and that was changed since stays as it is', () => {
    project.write('.mcp.json', OWN)
    ok('mcp', 'add', 'notes', '--yes')
    const changed = readFileSync(join(project.directory, '.mcp.json'), 'utf8').replace('"wrap"', '"wrap", "--accept"')
    project.write('.mcp.json', changed)
    expect(cordon('mcp', 'remove', 'notes')).toMatchObject({
      code: 2,
      err: expect.stringContaining('was changed since'),
    })
    expect(readFileSync(join(project.directory, '.mcp.json'), 'utf8')).toBe(changed)
  })
})

interface Answer {
  readonly isError?: boolean
  readonly message?: string
  readonly content: { text: string }[]
  readonly tools: { name: string }[]
}

/** What the client's entry starts, asked as the client asks; the answers by their ids. */
async function asClient(
  entry: { command: string; args: string[] },
  own: Readonly<Record<string, string>>,
  ...requests: { id: number; method: string; params: object }[]
) {
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  const first = [{ id: 1, method: 'initialize', params: hello }, { method: 'notifications/initialized' }]
  const child = spawn(entry.command, entry.args, {
    cwd: project.directory,
    env: { PATH: process.env.PATH, HOME: project.home, ...env, ...own },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const answers = new Map<number, { result?: Answer; error?: Answer }>()
  const closed = once(child, 'close')
  for (const message of [...first, ...requests])
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  for await (const line of createInterface({ input: child.stdout })) {
    const message = JSON.parse(line)
    if (message.id !== undefined) answers.set(message.id, message)
    if (requests.every(({ id }) => answers.has(id))) child.stdin.end()
  }
  await closed
  return (id: number) => (answers.get(id)!.result ?? answers.get(id)!.error)!
}

describe('the guide: add a server safely in one minute', () => {
  it('each step does what it says', async () => {
    ok('mcp', 'add', 'notes', '--client', 'claude-code', '--reads', '--yes', ...COMMAND)
    expect(JSON.parse(ok('mcp', 'status', 'notes', '--json').out)).toMatchObject({
      servers: [
        {
          name: 'notes',
          works: true,
          tools: [
            { tool: 'list', decision: 'allow' },
            { tool: 'drop', decision: 'ask' },
          ],
        },
      ],
    })
    const { notes } = JSON.parse(readFileSync(join(project.directory, '.mcp.json'), 'utf8')).mcpServers
    const client = await asClient(
      notes,
      {},
      { id: 2, method: 'tools/list', params: {} },
      { id: 3, method: 'tools/call', params: { name: 'list', arguments: {} } },
      { id: 4, method: 'tools/call', params: { name: 'drop', arguments: {} } },
    )
    expect(client(2).tools.map(({ name }) => name)).toEqual(['list', 'drop'])
    expect(client(3).content[0]!.text).toBe('two notes')
    expect(client(4)).toMatchObject({ isError: true })
    // No one was there: the answer says so, and how the user can say yes.
    const refusal = client(4).content[0]!.text
    expect(refusal).toMatch(/no one could be asked.*cordon approvals allow/s)
    expect(refusal).not.toContain('the user said no')
    expect(ok('mcp', 'logs', 'notes').out).toMatch(/mcp__notes__list[\s\S]*mcp__notes__drop/)
    const [, id = ''] = /cordon approvals allow (\S+?)`/.exec(refusal) ?? []
    ok('approvals', 'allow', id, '--yes')
    const again = await asClient(notes, {}, { id: 2, method: 'tools/call', params: { name: 'drop', arguments: {} } })
    expect(again(2).content[0]!.text).toBe('two notes')
    ok('mcp', 'remove', 'notes')
    expect(existsSync(join(project.directory, '.mcp.json'))).toBe(false)
  })

  it('a server whose only folder does not exist yet starts', () => {
    const code = `import json,sys;[print(json.dumps({'jsonrpc':'2.0','id':m['id'],'result':{'protocolVersion':'2025-06-18','capabilities':{},'serverInfo':{'name':'notes','version':'1'}}}),flush=True) for m in map(json.loads,sys.stdin) if 'id' in m]`
    ok('mcp', 'add', 'notes', '--client', 'claude-code', '--read', 'docs/**', '--yes', '--', 'python3', '-c', code)
    expect(ok('mcp', 'status', 'notes').out).toContain('notes  0 tools')
  })

  it('attack: a remote server that writes its token into a result does not show it to the agent', async () => {
    const tokens: string[] = []
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('request', notesServer(origin, { isTelling: true, called: (_, token) => tokens.push(String(token)) }))
    try {
      project.write('browser.sh', '#!/bin/sh\nexec curl -sSL "$1"\n')
      chmodSync(join(project.directory, 'browser.sh'), 0o755)
      ok('mcp', 'add', 'notes', '--client', 'claude-code', '--reads', '--yes', '--url', `${origin}/mcp`)
      const own = { ...env, PATH: process.env.PATH, HOME: project.home, BROWSER: join(project.directory, 'browser.sh') }
      const login = spawn(process.execPath, [CLI, 'mcp', 'login', 'notes'], { cwd: project.directory, env: own })
      expect(await once(login, 'close')).toEqual([0, null])
      const { notes } = JSON.parse(readFileSync(join(project.directory, '.mcp.json'), 'utf8')).mcpServers
      const client = await asClient(notes, {}, { id: 2, method: 'tools/call', params: { name: 'read', arguments: {} } })
      // The server did have the token, and sent it.
      expect(tokens).toEqual([expect.stringMatching(/.{20}/)])
      expect(client(2).content[0]!.text).toBe('two notes [REDACTED]')
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it('`cordon add tool` is the remedy that a host’s dialog names', () => {
    ok('mcp', 'add', 'notes', '--client', 'claude-code', '--yes', ...COMMAND)
    expect(cordon('check', '--tool', 'mcp__notes__drop', '--input', '{"id":"a"}').code).not.toBe(0)
    ok('add', 'tool', 'mcp__notes__drop id=a', '--yes')
    expect(readFileSync(join(project.directory, 'cordon.toml'), 'utf8')).toContain('tools = ["drop id=a"]')
    ok('check', '--tool', 'mcp__notes__drop', '--input', '{"id":"a"}')
    expect(cordon('check', '--tool', 'mcp__notes__drop', '--input', '{"id":"b"}').code).not.toBe(0)
  })
})
