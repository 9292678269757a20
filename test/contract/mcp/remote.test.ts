/** Servers elsewhere: the official server with OAuth behind the gateway's connection, and hostile ones. */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auth } from '@modelcontextprotocol/sdk/client/auth.js'
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectRemote, type RemoteParts, remoteFetch } from '../../../src/agents/mcp/remote.ts'
import { RemoteLogin } from '../../../src/agents/mcp/remote-login.ts'
import { createUpstream } from '../../../src/egress/route/upstream.ts'
import type { Json } from '../../../src/surfaces/mcp/json-rpc.ts'
import { hosts } from '../egress/world.ts'

const express = createRequire(import.meta.url)('express')

let directory: string
const servers: Server[] = []
const stops: (() => Promise<void>)[] = []
let seen: { readonly path: string; readonly authorization: string | undefined }[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cordon-remote-'))
  seen = []
})
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()))
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  rmSync(directory, { recursive: true, force: true })
})

/** The origin of a server that answers like this. */
async function serve(listener: (origin: string) => RequestListener): Promise<string> {
  let answer: RequestListener = () => {}
  const server = createServer((message, response) => {
    seen.push({ path: `${message.headers.host}${message.url}`, authorization: message.headers.authorization })
    answer(message, response)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  answer = listener(origin)
  return origin
}

/** The official server with its own OAuth example. `issuer`: whom it names as its authorization server. */
function official(origin: string, issuer: string = origin): RequestListener {
  const provider = new DemoInMemoryAuthProvider()
  const app = express()
  app.use(express.json())
  const resourceServerUrl = new URL(`${origin}/mcp`)
  if (issuer === origin) app.use(mcpAuthRouter({ provider, issuerUrl: new URL(origin), resourceServerUrl }))
  else
    app.get('/.well-known/oauth-protected-resource/mcp', (_: unknown, response: { json: (value: object) => void }) =>
      response.json({ resource: resourceServerUrl.href, authorization_servers: [issuer] }),
    )
  const resourceMetadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`
  app.use('/mcp', requireBearerAuth({ verifier: provider, resourceMetadataUrl }))
  app.post('/mcp', async (message: Json & { body: unknown }, response: never) => {
    const server = new McpServer({ name: 'notes', version: '1' })
    server.registerTool('add', { description: 'Adds a note.' }, () => ({ content: [{ type: 'text', text: 'added' }] }))
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
    await server.connect(transport)
    await transport.handleRequest(message as never, response, message.body)
  })
  return app
}

function partsOf(url: string, more: { domains?: readonly string[]; login?: RemoteLogin } = {}): RemoteParts {
  const policy = { http: { denied: [], allowPrivate: false }, commands: { deniedDomains: [] } }
  return {
    server: { name: 'notes', url, domains: hosts(...(more.domains ?? [])), headers: {} },
    loaded: { policy, sandbox: {} } as never,
    machine: { ownAddresses: () => [] } as never,
    login: more.login ?? new RemoteLogin(directory, 'notes', url),
    resolver: { resolve: async () => ['127.0.0.1'] },
    upstream: createUpstream({ trust: [] }),
  }
}

interface Client {
  readonly request: (method: string, params?: Json) => Promise<Json>
}

function open(parts: RemoteParts): Client {
  const waiting = new Map<number, (message: Json) => void>()
  const connection = connectRemote(parts, (text) => {
    const message = JSON.parse(text) as Json
    waiting.get(message.id as number)?.(message)
  })
  stops.push(() => connection.stop())
  let id = 0
  return {
    request: (method, params = {}) =>
      new Promise((resolve) => {
        waiting.set(++id, resolve)
        connection.send({ jsonrpc: '2.0', id, method, params })
      }),
  }
}

const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }

/** Logs in as a person would whose browser says yes at once. */
async function logIn(url: string, domains: readonly string[] = []): Promise<void> {
  let answer: Promise<string> | null = null
  const code = async (address: URL) => {
    const { headers } = await fetch(address, { redirect: 'manual' })
    const { searchParams } = new URL(headers.get('location')!)
    expect(searchParams.get('state')).toBe(login.state())
    return searchParams.get('code')!
  }
  const login = new RemoteLogin(directory, 'notes', url, {
    url: 'http://127.0.0.1:9/callback',
    open: (address) => {
      expect(address.searchParams.get('code_challenge_method')).toBe('S256')
      expect(address.searchParams.get('resource')).toBe(url)
      answer = code(address)
    },
  })
  const fetchFn = remoteFetch(partsOf(url, { domains }), new AbortController().signal)
  expect(await auth(login, { serverUrl: url, fetchFn })).toBe('REDIRECT')
  expect(await auth(login, { serverUrl: url, fetchFn, authorizationCode: await answer! })).toBe('AUTHORIZED')
}

describe('the official server with OAuth', () => {
  it('is called after a login, and the login is there for the next gateway', async () => {
    const url = `${await serve(official)}/mcp`
    await logIn(url)
    for (let time = 0; time < 2; time++) {
      const client = open(partsOf(url))
      expect((await client.request('initialize', HELLO)).result).toMatchObject({ serverInfo: { name: 'notes' } })
      expect((await client.request('tools/call', { name: 'add', arguments: {} })).result).toMatchObject({
        content: [{ text: 'added' }],
      })
    }
  })

  it('without a login says how to log in, and opens nothing', async () => {
    const url = `${await serve(official)}/mcp`
    const { error } = await open(partsOf(url)).request('initialize', HELLO)
    expect(error).toMatchObject({ message: expect.stringMatching(/who you are.*cordon mcp login notes/) })
    expect(seen.filter(({ path }) => /register|authorize/.test(path))).toEqual([])
  })
})

describe('attack', () => {
  it('a token goes to the server that it is for, and to no other', async () => {
    const url = `${await serve(official)}/mcp`
    await logIn(url)
    const other = `${await serve(() => (_, response) => void response.writeHead(401).end())}/mcp`
    await open(partsOf(other)).request('initialize', HELLO)
    const theirs = seen.filter(({ path }) => path === other.slice('http://'.length))
    expect(theirs.map(({ authorization }) => authorization)).toEqual([undefined])
    // Control: its own server is given it.
    await open(partsOf(url)).request('initialize', HELLO)
    expect(seen.at(-1)!.authorization).toMatch(/^Bearer /)
  })

  it('an authorization server on a host that is not granted is not reached', async () => {
    const theirs = await serve(official)
    const url = `${await serve((origin) => official(origin, theirs))}/mcp`
    await expect(logIn(url)).rejects.toThrow(/host-unlisted|port-unlisted|host-private/)
    expect(seen.filter(({ path }) => path.startsWith(theirs.slice('http://'.length)))).toEqual([])
    // Control: the person granted it.
    await logIn(url, [theirs.slice('http://'.length)])
  })

  it('metadata that claims another resource ends the login', async () => {
    const url = `${await serve((origin) => (message, response) => {
      const metadata = { resource: 'https://bank.example/mcp', authorization_servers: [origin] }
      const isMetadata = message.url!.includes('oauth-protected-resource')
      response.writeHead(isMetadata ? 200 : 404, { 'content-type': 'application/json' })
      response.end(isMetadata ? JSON.stringify(metadata) : '{}')
    })}/mcp`
    await expect(logIn(url)).rejects.toThrow(/resource/i)
  })

  it('a redirect to another address of this machine is not followed', async () => {
    const inside = await serve(() => (_, response) => void response.end('{}'))
    const moved: RequestListener = (message, response) => {
      message.resume()
      response.writeHead(307, { location: `${inside}/mcp` }).end()
    }
    const url = `${await serve(() => moved)}/mcp`
    expect((await open(partsOf(url)).request('initialize', HELLO)).error).toBeDefined()
    expect(seen.filter(({ path }) => path.startsWith(inside.slice('http://'.length)))).toEqual([])
    // Control: a client without the rules follows it.
    await fetch(url, { method: 'POST', body: '{}' })
    expect(seen.filter(({ path }) => path.startsWith(inside.slice('http://'.length)))).toHaveLength(1)
  })

  it('a private address behind a name is refused', async () => {
    const { error } = await open(partsOf('https://notes.example.org/mcp')).request('initialize', HELLO)
    expect(error).toMatchObject({ message: expect.stringContaining('host-private') })
  })

  it.each([
    ['an event that never ends', 'text/event-stream'],
    ['an answer that never ends', 'application/json'],
  ])('%s is cut off', async (_, type) => {
    const url = `${await serve(() => (message, response) => {
      message.resume()
      response.writeHead(200, { 'content-type': type })
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      }
      response.on('drain', more)
      response.write('data: ')
      more()
    })}/mcp`
    const connection = fetchAll(partsOf(url))
    await expect(connection).rejects.toThrow(/message of more than/)
  })
})

async function fetchAll(parts: RemoteParts): Promise<string> {
  const response = await remoteFetch(parts, new AbortController().signal)(parts.server.url, {
    method: 'POST',
    body: '{}',
  })
  return response.text()
}
