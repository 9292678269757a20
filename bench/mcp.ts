/** What a call over MCP costs beyond the library's own, over stdio and HTTP, in both eras; `node bench/mcp.ts`. */

import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { envelope } from '../test/contract/mcp/mcp-world.ts'
import { openSessionWorld } from '../test/contract/session/session-world.ts'
import { median, printTable } from './measure.ts'

const CALLS = 1000
const CLI = join(import.meta.dirname, '../dist/cordon.cjs')

type Call = () => Promise<unknown>

/** Medians of calls that take turns, so that a busy machine is busy for all of them. */
export async function benchMcp(): Promise<void> {
  const world = openSessionWorld()
  const closers: (() => unknown)[] = [() => world.close()]
  try {
    world.file('src/file.ts', 'const answer = 42\n'.repeat(50))
    const path = join(world.root, 'src/file.ts')
    const cordon = await world.open()
    closers.push(() => cordon.close())
    const session = cordon.openSession()
    const env = { PATH: process.env.PATH, HOME: world.machine.home }
    const stdio = spawn(process.execPath, [CLI, 'mcp', '--root', world.root], {
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    closers.push(() => stdio.stdin.end())
    const waiting = new Map<number, (answer: unknown) => void>()
    createInterface({ input: stdio.stdout }).on('line', (line) => {
      const message = JSON.parse(line)
      waiting.get(message.id)?.(message)
    })
    let count = 0
    const ask = (method: string, params: object): Promise<unknown> =>
      new Promise((resolve) => {
        const id = ++count
        waiting.set(id, resolve)
        stdio.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
      })
    const clientInfo = { name: 'bench', version: '0' }
    await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    const read = { name: 'read', arguments: { path } }
    const http = await openHttp(world.root, env)
    closers.push(http.close)
    const rows: readonly (readonly [string, Call])[] = [
      ['the library', () => session.call('read', { path })],
      ['MCP over stdio, with a handshake', () => ask('tools/call', read)],
      ['MCP over stdio, stateless', () => ask('tools/call', { ...read, _meta: envelope() })],
      ['MCP over HTTP, stateless', () => http.call({ ...read, _meta: envelope() })],
    ]
    const times: number[][] = rows.map(() => [])
    for (let round = 0; round < CALLS + 50; round++) {
      for (const [index, [, call]] of rows.entries()) {
        const start = performance.now()
        await call()
        if (round >= 50) times[index]!.push(performance.now() - start)
      }
    }
    const library = median(times[0]!)
    printTable(`${CALLS} reads each, in turns`, [
      ['way', 'median ms', 'over the library ms'],
      ...rows.map(([name], index) => {
        const own = median(times[index]!)
        return [name, own.toFixed(3), (own - library).toFixed(3)]
      }),
    ])
  } finally {
    for (const close of closers.reverse()) await close()
  }
}

async function openHttp(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly call: (params: object) => Promise<unknown>; readonly close: () => void }> {
  const child = spawn(process.execPath, [CLI, 'mcp', '--http', '--root', root], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  await new Promise<void>((resolve) =>
    child.stderr.on('data', (data) => {
      said += data
      if (said.includes('Bearer ') && said.endsWith('\n')) resolve()
    }),
  )
  const port = /127\.0\.0\.1:(\d+)/.exec(said)![1]
  const token = /Bearer (\S+)/.exec(said)![1]
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'read',
  }
  const call = (params: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }
      const sent = request(options, (response) => response.resume().on('end', () => resolve(response.statusCode)))
      sent.on('error', reject)
      sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
    })
  return { call, close: () => void child.kill() }
}
