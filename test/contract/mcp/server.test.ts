/** The MCP server with the official client: stdio and HTTP, approvals, cancellation, what must be refused. */

import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HttpServer, serveHttp } from '../../../src/surfaces/mcp/http.ts'
import type { ServerOptions } from '../../../src/surfaces/mcp/served-project.ts'
import { McpServer } from '../../../src/surfaces/mcp/server.ts'
import { until } from '../../until.ts'
import { type McpWorld, openMcpWorld, rawClient, runs } from './mcp-world.ts'

let world: McpWorld
let project = ''
let options: ServerOptions

beforeAll(() => {
  world = openMcpWorld()
  ;({ project, options } = world)
})

afterAll(() => world.close())

async function connect(answer?: string): Promise<{ client: Client; asked: string[]; close: () => Promise<void> }> {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const server = new McpServer((message) => void far.send(message as never), options)
  far.onmessage = (message) => void server.peer.accept(message)
  await far.start()
  const { client, asked } = newClient(answer)
  await client.connect(near)
  return {
    client,
    asked,
    close: async () => {
      await client.close()
      await server.close()
    },
  }
}

function newClient(answer?: string): { client: Client; asked: string[] } {
  const asked: string[] = []
  const capabilities = answer === undefined ? {} : { elicitation: {} }
  const client = new Client({ name: 'test', version: '0' }, { capabilities })
  if (answer !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      asked.push(params.message)
      return { action: 'accept', content: { answer } }
    })
  }
  return { client, asked }
}

interface Called {
  readonly content: readonly { readonly text: string }[]
  readonly structuredContent: { readonly status: string; readonly code?: string }
  readonly isError?: boolean
}

const call = async (client: Client, name: string, given: Record<string, unknown>): Promise<Called> =>
  (await client.callTool({ name, arguments: given })) as unknown as Called

describe('a client', () => {
  it('sees the tools with schemas and hints', async () => {
    const { client, close } = await connect()
    const { tools } = await client.listTools()
    const read = tools.find((tool) => tool.name === 'read')!
    expect(read.annotations?.readOnlyHint).toBe(true)
    expect(read.inputSchema.required).toEqual(['path'])
    expect(tools.find((tool) => tool.name === 'bash')!.annotations?.destructiveHint).toBe(true)
    expect(client.getServerVersion()?.name).toBe('cordon')
    await close()
  })

  it('reads and writes in the project, and nowhere else', async () => {
    const { client, close } = await connect()
    expect((await call(client, 'read', { path: 'a.txt' })).content[0]!.text).toContain('hello')
    expect((await call(client, 'write', { path: 'b.txt', content: 'x' })).structuredContent.status).toBe('done')
    expect(readFileSync(join(project, 'b.txt'), 'utf8')).toBe('x')
    const outside = await call(client, 'write', { path: '/etc/cordon-test', content: 'x' })
    expect(outside).toMatchObject({ isError: true, structuredContent: { status: 'denied', code: 'outside-roots' } })
    await close()
  })

  it('explains how to get an approval if it cannot ask', async () => {
    const { client, close } = await connect()
    const result = await call(client, 'bash', { command: 'uname -s' })
    expect(result).toMatchObject({ isError: true, structuredContent: { status: 'refused' } })
    expect(result.content[0]!.text).toContain('cordon approvals')
    await close()
  })

  it('is asked by elicitation: yes', async () => {
    const { client, asked, close } = await connect('once')
    const result = await call(client, 'bash', { command: 'uname -s' })
    expect(asked[0]).toContain('uname -s')
    expect(result.structuredContent).toMatchObject({ status: 'done', exitCode: 0 })
    expect(result.content[0]!.text).toContain('Linux')
    await close()
  })

  it.each(['deny', 'nonsense', ''])('is asked by elicitation: %j is a no', async (answer) => {
    const { client, close } = await connect(answer)
    expect((await call(client, 'bash', { command: 'uname -s' })).structuredContent.status).toBe('refused')
    await close()
  })

  it('is asked once for a session', async () => {
    const { client, asked, close } = await connect('session')
    await call(client, 'bash', { command: 'uname -s' })
    await call(client, 'bash', { command: 'uname -s' })
    expect(asked).toHaveLength(1)
    await close()
  })

  it('cancels a command', async () => {
    const { client, close } = await connect('once')
    const abort = new AbortController()
    const seconds = `601.${process.pid}`
    const call = { name: 'bash', arguments: { command: `sleep ${seconds}` } }
    const running = client.callTool(call, undefined, { signal: abort.signal })
    await until('it runs', () => runs(seconds))
    abort.abort('enough')
    await expect(running).rejects.toThrow()
    await until('it is ended', () => !runs(seconds))
    await close()
  })

  it('cancels while the person is being asked: the question is withdrawn, and a late yes runs nothing', async () => {
    let answer = (_: object): void => {}
    let withdrawn = false
    const late = new Promise<object>((resolve) => {
      answer = resolve
    })
    const raw = rawClient(options, async (_, still) => {
      still.addEventListener('abort', () => {
        withdrawn = true
      })
      return (await late) as never
    })
    const { signal } = new AbortController()
    const hello = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: {} }
    await raw.peer.request('initialize', hello, signal)
    const abort = new AbortController()
    const call = { name: 'bash', arguments: { command: 'touch cancelled.txt' } }
    const running = raw.peer.request('tools/call', call, abort.signal)
    await expect.poll(() => raw.requested).toEqual(['elicitation/create'])
    abort.abort()
    await expect(running).rejects.toThrow('cancelled')
    await expect.poll(() => withdrawn).toBe(true)
    answer({ action: 'accept', content: { answer: 'once' } })
    await raw.peer.request('ping', {}, signal)
    await raw.close()
    expect(existsSync(join(project, 'cancelled.txt'))).toBe(false)
  })

  it('hears that a call still runs', async () => {
    const { client, close } = await connect('once')
    const heard: number[] = []
    await client.callTool({ name: 'bash', arguments: { command: 'sleep 2.3' } }, undefined, {
      onprogress: ({ progress }) => heard.push(progress),
    })
    expect(heard).toEqual([1])
    await close()
  })

  it('gets errors for what is not a call', async () => {
    const { client, close } = await connect()
    await expect(call(client, 'teleport', {})).rejects.toThrow('there is no tool')
    expect((await call(client, 'read', {})).structuredContent).toMatchObject({ status: 'failed', code: 'bad-input' })
    await expect(client.request({ method: 'nonsense/x' } as never, ElicitRequestSchema as never)).rejects.toThrow()
    await close()
  })
})

describe('HTTP', () => {
  let http: HttpServer

  beforeAll(async () => {
    http = await serveHttp(options, 0)
  })

  afterAll(() => http.close())

  const transport = (token = http.token): StreamableHTTPClientTransport =>
    new StreamableHTTPClientTransport(new URL(http.url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    })

  it('serves a client, approvals included', async () => {
    const { client, asked } = newClient('once')
    await client.connect(transport())
    expect((await call(client, 'bash', { command: 'basename /over/http' })).content[0]!.text).toContain('http')
    expect(asked).toHaveLength(1)
    await client.close()
  })

  it('serves fifty clients at a time', async () => {
    const results = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const { client } = newClient()
        await client.connect(transport())
        const result = await call(client, 'read', { path: 'a.txt' })
        await client.close()
        return result.structuredContent.status
      }),
    )
    expect(results).toEqual(Array(50).fill('done'))
  })

  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '0' } },
  }

  const post = (headers: Record<string, string>, body: unknown = initialize): Promise<number> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(http.url)
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          path: '/mcp',
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
        },
        (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        },
      )
      sent.on('error', reject)
      sent.end(typeof body === 'string' ? body : JSON.stringify(body))
    })

  it.each([
    ['no token', {}, 401],
    ['a wrong token', { authorization: 'Bearer x' }, 401],
    ['a page’s origin', { authorization: 'TOKEN', origin: 'https://evil.example' }, 403],
    ['a null origin', { authorization: 'TOKEN', origin: 'null' }, 403],
    ['a name that was bound again', { authorization: 'TOKEN', host: 'evil.example' }, 403],
    ['another revision', { authorization: 'TOKEN', 'mcp-protocol-version': '1999-01-01' }, 400],
    ['an unknown session', { authorization: 'TOKEN', 'mcp-session-id': 'x' }, 404],
    ['a client as it should be', { authorization: 'TOKEN' }, 200],
  ])('%s', async (_, headers, status) => {
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('TOKEN', `Bearer ${http.token}`)]),
    )
    expect(await post(sent)).toBe(status)
  })

  it.each([
    ['no JSON', '{'],
    ['a batch', [initialize]],
    ['a call before the beginning', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
  ])('refuses %s', async (_, body) => {
    expect(await post({ authorization: `Bearer ${http.token}` }, body)).toBe(400)
  })
})
