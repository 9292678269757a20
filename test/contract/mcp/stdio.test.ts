/** `cordon mcp` as a process: the official client over stdio, an unsigned manifest, garbage, and what a call costs. */

import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, expect, it } from 'vitest'

const CLI = process.env.CORDON_CLI ?? join(import.meta.dirname, '../../../dist/cordon.cjs')

let base = ''
let project = ''

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-mcp-stdio-'))
  project = join(base, 'project')
  mkdirSync(project)
  mkdirSync(join(base, 'home'))
  writeFileSync(join(project, 'a.txt'), 'hello\n')
})

afterAll(() => rmSync(base, { recursive: true, force: true }))

const environment = (): Record<string, string> => ({ PATH: process.env.PATH ?? '', HOME: join(base, 'home') })

async function connected(): Promise<Client> {
  const client = new Client({ name: 'test', version: '0' })
  const args = [CLI, 'mcp', '--root', project]
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: environment(), stderr: 'ignore' }),
  )
  return client
}

it('serves the official client', async () => {
  const client = await connected()
  expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('apply_patch')
  const result = await client.callTool({ name: 'read', arguments: { path: 'a.txt' } })
  expect(result).toMatchObject({ structuredContent: { status: 'done' } })
  await client.close()
})

it('leaves a whole record behind, also where nothing was called', async () => {
  const client = await connected()
  await client.listTools()
  await client.close()
  const verified = spawnSync(process.execPath, [CLI, 'audit', 'verify'], { env: environment(), encoding: 'utf8' })
  expect(verified.status, verified.stdout).toBe(0)
})

it('takes a thousand calls, one after the other and all at once', async () => {
  const client = await connected()
  const statuses = new Set<unknown>()
  const call = async (): Promise<void> => {
    const result = await client.callTool({ name: 'read', arguments: { path: 'a.txt' } })
    statuses.add((result.structuredContent as { status: string }).status)
  }
  for (let index = 0; index < 900; index++) await call()
  await Promise.all(Array.from({ length: 100 }, call))
  expect([...statuses]).toEqual(['done'])
  await client.close()
})

it('serves nothing on an unsigned manifest, and says how to sign', async () => {
  writeFileSync(join(project, 'cordon.toml'), 'schema_version = 1\n[permission]\nmode = "auto"\n')
  try {
    await expect(connected()).rejects.toThrow('Connection closed')
    const run = spawnSync(process.execPath, [CLI, 'mcp', '--root', project], { env: environment(), encoding: 'utf8' })
    expect([run.status, run.stdout]).toEqual([125, ''])
    expect(run.stderr).toContain('cordon sign')
  } finally {
    rmSync(join(project, 'cordon.toml'))
  }
})

it('answers garbage and goes on', () => {
  const lines = [
    'garbage',
    '[]',
    '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":2,"method":"ping"}',
  ]
  const run = spawnSync(process.execPath, [CLI, 'mcp', '--root', project], {
    env: environment(),
    input: `${lines.join('\n')}\n`,
    encoding: 'utf8',
  })
  const answers = run.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(answers).toHaveLength(4)
  expect(answers.slice(0, 3).every((answer) => 'error' in answer)).toBe(true)
  expect(answers[3]).toEqual({ jsonrpc: '2.0', id: 2, result: {} })
  expect(run.status).toBe(0)
})

it('answers what a client sends before its handshake is answered', () => {
  const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '0' } }
  const requests = [
    { method: 'initialize', params: client },
    { method: 'tools/list' },
    { method: 'initialize', params: client },
  ]
  const run = spawnSync(process.execPath, [CLI, 'mcp', '--root', project], {
    env: environment(),
    input: requests.map((request, id) => `${JSON.stringify({ jsonrpc: '2.0', id, ...request })}\n`).join(''),
    encoding: 'utf8',
  })
  const answers = new Map(
    run.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map((answer) => [answer.id, answer]),
  )
  expect(answers.get(1).result.tools.length).toBeGreaterThan(5)
  expect(answers.get(2).error.message).toContain('initialized already')
})

it('ends with its client', async () => {
  const child = spawn(process.execPath, [CLI, 'mcp', '--root', project], {
    env: environment(),
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.stdin.end()
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
})
