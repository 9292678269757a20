/** Servers elsewhere: the official server with OAuth behind the gateway's connection, and hostile ones. */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auth } from '@modelcontextprotocol/sdk/client/auth.js'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectRemote, foreignLogin, type RemoteParts, remoteFetch } from '../../../src/agents/mcp/remote.ts'
import { RemoteLogin } from '../../../src/agents/mcp/remote-login.ts'
import { createUpstream } from '../../../src/egress/route/upstream.ts'
import type { Json } from '../../../src/system/json-rpc.ts'
import { notesServer } from '../../agents/remote-notes.ts'
import { until } from '../../until.ts'
import { hosts } from '../egress/world.ts'

let directory: string
const directories: string[] = []
const servers: Server[] = []
const stops: (() => Promise<void>)[] = []
let seen: { readonly path: string; readonly authorization: string | undefined; readonly key: unknown }[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cordon-remote-'))
  directories.push(directory)
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
// A login that was under way at the end of its test may open its store once more.
afterAll(() => {
  for (const one of directories) rmSync(one, { recursive: true, force: true })
})

/** The origin of a server that answers like this. */
async function serve(listener: (origin: string) => RequestListener): Promise<string> {
  let answer: RequestListener = () => {}
  const server = createServer((message, response) => {
    seen.push({
      path: `${message.headers.host}${message.url}`,
      authorization: message.headers.authorization,
      key: message.headers['x-key'],
    })
    answer(message, response)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  answer = listener(origin)
  return origin
}

const official = (origin: string, issuer: string = origin): RequestListener => notesServer(origin, { issuer })

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
  readonly ended: Promise<string>
  readonly stop: () => Promise<void>
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
    ended: connection.ended,
    stop: () => connection.stop(),
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
    expect(error).toMatchObject({
      message: 'it wants a login. Run this yourself in a terminal: cordon mcp login notes',
    })
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

  it.each([
    ['another server', 'https://bank.example/mcp', /resource/i],
    ['control: its own', null, /register|404/i],
  ])('metadata that claims the tokens of %s', async (_, resource, ends) => {
    const url = `${await serve((origin) => (message, response) => {
      const metadata = { resource: resource ?? `${origin}/mcp`, authorization_servers: [origin] }
      const isMetadata = message.url!.includes('oauth-protected-resource')
      response.writeHead(isMetadata ? 200 : 404, { 'content-type': 'application/json' })
      response.end(isMetadata ? JSON.stringify(metadata) : '{}')
    })}/mcp`
    await expect(logIn(url)).rejects.toThrow(ends)
    expect(seen.some(({ path }) => path.endsWith('/register'))).toBe(resource === null)
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
    // Control: where private addresses are allowed it is dialled.
    const parts = partsOf('https://notes.example.org:1/mcp')
    const policy = { ...parts.loaded.policy, http: { ...parts.loaded.policy.http, allowPrivate: true } }
    const allowed = open({ ...parts, loaded: { ...parts.loaded, policy } })
    expect((await allowed.request('initialize', HELLO)).error).toMatchObject({
      message: expect.not.stringContaining('host-private'),
    })
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
    // Control: one that ends arrives whole.
    const finite = await serve(() => (message, response) => {
      message.resume()
      response.writeHead(200, { 'content-type': type }).end(`data: ${'x'.repeat(1024 * 1024)}\n\n`)
    })
    expect((await fetchAll(partsOf(`${finite}/mcp`))).length).toBeGreaterThan(1024 * 1024)
  })
})

/** A server that answers each request by its method; `null`: the test answers itself. */
function scripted(answer: (message: Json, response: ServerResponse) => Json | null): RequestListener {
  return (message, response) => {
    if (message.method !== 'POST') return void response.writeHead(405).end()
    let body = ''
    message.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    message.on('end', () => {
      const sent = JSON.parse(body) as Json
      if (sent.id === undefined) return void response.writeHead(202).end()
      const result = answer(sent, response)
      if (result === null) return
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: sent.id, result }))
    })
  }
}

const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'n', version: '1' },
}
const sse = (response: ServerResponse, ...events: string[]): void => {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) response.write(event)
}

describe('transports', () => {
  it('goes on with a stream that broke off, by the id of its last event', async () => {
    const ids: unknown[] = []
    const url = `${await serve(() => (message, response) => {
      if (message.method === 'GET') {
        ids.push(message.headers['last-event-id'])
        sse(response, `id: 2\ndata: {"jsonrpc":"2.0","id":1,"result":{"late":true}}\n\n`)
        return void response.end()
      }
      message.resume()
      sse(response, 'id: 1\nretry: 10\ndata:\n\n')
      response.end()
    })}/mcp`
    expect((await open(partsOf(url)).request('tools/list')).result).toEqual({ late: true })
    expect(ids).toEqual(['1'])
  })

  it('sends its session id with each request, and starts again when the server forgot it', async () => {
    const sessions: unknown[] = []
    const url = `${await serve(() => {
      const answer = scripted(({ method }, response) => {
        if (method === 'initialize') response.setHeader('mcp-session-id', `s${sessions.length}`)
        return method === 'initialize' ? INITIALIZED : {}
      })
      return (message, response) => {
        sessions.push(message.headers['mcp-session-id'])
        if (sessions.length === 4) return void response.writeHead(404).end()
        answer(message, response)
      }
    })}/mcp`
    const one = open(partsOf(url))
    await one.request('initialize', HELLO)
    await one.request('tools/list')
    const two = open(partsOf(url))
    await two.request('initialize', HELLO)
    expect((await two.request('tools/list')).error).toBeDefined()
    expect(await two.ended).toBe('its session is over')
    expect(sessions).toEqual([undefined, 's1', undefined, 's3'])
  })

  it('falls back to the older transport where the newer one is not known', async () => {
    const url = `${await serve(() => {
      let stream: ServerResponse | null = null
      return (message, response) => {
        if (message.url === '/sse' && message.method === 'POST') return void response.writeHead(405).end()
        if (message.url === '/sse') {
          stream = response
          return sse(response, 'event: endpoint\ndata: /messages?session=1\n\n')
        }
        let body = ''
        message.on('data', (chunk) => {
          body += String(chunk)
        })
        message.on('end', () => {
          response.writeHead(202).end()
          const { id, method } = JSON.parse(body) as Json
          const result = method === 'initialize' ? INITIALIZED : { tools: [] }
          if (id !== undefined)
            sse(stream!, `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
        })
      }
    })}/sse`
    const client = open(partsOf(url))
    expect((await client.request('initialize', HELLO)).result).toMatchObject({ serverInfo: { name: 'n' } })
    expect((await client.request('tools/list')).result).toEqual({ tools: [] })
  })

  it('attack: an endpoint of the older transport on another origin is not called', async () => {
    const theirs = await serve(() => (_, response) => void response.writeHead(202).end())
    const url = `${await serve(() => (message, response) => {
      if (message.method === 'POST') return void response.writeHead(405).end()
      sse(response, `event: endpoint\ndata: ${theirs}/messages\n\n`)
    })}/sse`
    expect((await open(partsOf(url)).request('initialize', HELLO)).error).toMatchObject({
      message: expect.stringContaining('origin'),
    })
    expect(seen.filter(({ path }) => path.startsWith(theirs.slice('http://'.length)))).toEqual([])
  })

  it('attack: a stream that ends without the answer fails its request', async () => {
    const url = `${await serve(() =>
      scripted((_, response) => {
        sse(response, ': nothing\n\n')
        response.end()
        return null
      }),
    )}/mcp`
    expect((await open(partsOf(url)).request('tools/list')).error).toMatchObject({
      message: expect.stringContaining('without an answer'),
    })
  })

  it('attack: a stream that never ends delays no other request, and a cancelled one is dropped', async () => {
    const url = `${await serve(() =>
      scripted(({ method }, response) => {
        if (method !== 'tools/call') return method === 'initialize' ? INITIALIZED : { tools: [] }
        sse(response, ': still here\n\n')
        return null
      }),
    )}/mcp`
    const client = open(partsOf(url))
    await client.request('initialize', HELLO)
    const endless = client.request('tools/call', { name: 'wait' })
    expect((await client.request('tools/list')).result).toEqual({ tools: [] })
    await client.stop()
    expect(await Promise.race([endless, Promise.resolve('open')])).toBe('open')
  })

  it('attack: a server that says "come back at once" is called once a second at most', async () => {
    const url = `${await serve(() => (message, response) => {
      message.resume()
      sse(response, 'id: 1\nretry: 0\ndata:\n\n')
      response.end()
    })}/mcp`
    let time = 0
    const wait = async (ms: number): Promise<void> => {
      time += ms
    }
    const clock = { now: () => time, wait }
    void open({ ...partsOf(url), clock }).request('tools/list')
    // Control: what waits for no clock is called as fast as it answers.
    await until('it was called twenty times', () => seen.length >= 20)
    expect(time).toBeGreaterThanOrEqual((seen.length - 2) * 1_000)
  })

  it('attack: an answer to the request of another session is not taken', async () => {
    const url = `${await serve(() =>
      scripted(({ method, id }, response) => {
        if (method === 'initialize') return INITIALIZED
        sse(response, `data: {"jsonrpc":"2.0","id":999,"result":{"stolen":true}}\n\n`)
        sse(response, `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { own: true } })}\n\n`)
        response.end()
        return null
      }),
    )}/mcp`
    const client = open(partsOf(url))
    await client.request('initialize', HELLO)
    expect((await client.request('tools/list')).result).toEqual({ own: true })
  })
})

describe('attack: an authorization server that is not what it says', () => {
  it('configured headers go to the server, and not to the authorization server', async () => {
    const theirs = await serve(official)
    const url = `${await serve((origin) => official(origin, theirs))}/mcp`
    const parts = partsOf(url, { domains: [theirs.slice('http://'.length)] })
    const fetchFn = remoteFetch(
      { ...parts, server: { ...parts.server, headers: { 'x-key': 'k' } } },
      new AbortController().signal,
    )
    await fetchFn(`${theirs}/token`, { method: 'POST', body: 'a=b' })
    await fetchFn(url, { method: 'POST', body: '{}' })
    expect(seen.map(({ key }) => key)).toEqual([undefined, 'k'])
  })

  it.each([
    ['the server itself, after the login', true, 0],
    ['control: the one of the login', false, 1],
  ])('a refresh token goes to no other authorization server: %s', async (_, isMoved, count) => {
    const sent: string[] = []
    const refreshes = (origin: string): RequestListener => {
      const metadata = hostile(origin, {})
      return (message, response) => {
        if (!message.url!.endsWith('/token')) return metadata(message, response)
        message.setEncoding('utf8').on('data', (text: string) => sent.push(text))
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
      }
    }
    const theirs = await serve(refreshes)
    const url = `${await serve((origin) => {
      const own = refreshes(origin)
      return (message, response) => {
        if (!message.url!.includes('oauth-protected-resource')) return own(message, response)
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ resource: `${origin}/mcp`, authorization_servers: [isMoved ? origin : theirs] }))
      }
    })}/mcp`
    const login = new RemoteLogin(directory, 'notes', url)
    const issuer = theirs
    login.saveClientInformation({ client_id: 'c', issuer } as never)
    login.saveTokens({ access_token: 'old', token_type: 'Bearer', refresh_token: 'refresh-1', issuer } as never)
    const fetchFn = remoteFetch(
      partsOf(url, { domains: [theirs.slice('http://'.length)] }),
      new AbortController().signal,
    )
    await expect(auth(login, { serverUrl: url, fetchFn })).rejects.toThrow()
    expect(sent.filter((body) => body.includes('refresh-1'))).toHaveLength(count)
  })

  it.each([
    [
      'a page of somebody else, with the token of it for the attacker (mix-up)',
      'https://accounts.example.org/authorize',
    ],
    ['an address that is not a page', 'file:///etc/passwd'],
  ])('the browser is not sent to %s', async (_, authorize) => {
    const url = `${await serve((origin) => hostile(origin, { authorization_endpoint: authorize }))}/mcp`
    const parts = partsOf(url)
    expect(foreignLogin(parts, new URL(authorize))).toMatch(/neither the server's host nor in its domains/)
    // Control: a page of the server's own, and of a host that the person granted.
    expect(foreignLogin(parts, new URL(`${new URL(url).origin}/authorize`))).toBeNull()
    expect(
      foreignLogin(partsOf(url, { domains: ['accounts.example.org'] }), new URL('https://accounts.example.org/x')),
    ).toBeNull()
  })

  it.each([
    ['metadata that names another issuer', { issuer: 'https://bank.example' }],
    ['a server without S256', { code_challenge_methods_supported: ['plain'] }],
    [
      'tokens of another host',
      { token_endpoint: 'https://evil.example/token', registration_endpoint: 'https://evil.example/r' },
    ],
    ['a private token endpoint', { registration_endpoint: 'http://169.254.169.254/latest' }],
    ['metadata without end', { padding: 'x'.repeat(9 * 1024 * 1024) }],
  ])('%s ends the login', async (_, more) => {
    const url = `${await serve((origin) => hostile(origin, more))}/mcp`
    await expect(logIn(url)).rejects.toThrow()
    expect(seen.filter(({ path }) => /token|authorize/.test(path))).toEqual([])
  })

  it('control: the same without the lie gets as far as the page', async () => {
    const url = `${await serve((origin) => hostile(origin, {}))}/mcp`
    await expect(logIn(url)).rejects.toThrow()
    expect(seen.filter(({ path }) => /authorize/.test(path))).toHaveLength(1)
  })
})

/** An authorization server whose metadata says `more`. */
function hostile(origin: string, more: Json): RequestListener {
  return (message, response) => {
    message.resume()
    const json = (value: object): void =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (message.url!.includes('oauth-protected-resource'))
      return json({ resource: `${origin}/mcp`, authorization_servers: [origin] })
    if (message.url!.includes('.well-known'))
      return json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        ...more,
      })
    if (message.url!.includes('register'))
      return json({ client_id: 'c', redirect_uris: ['http://127.0.0.1:9/callback'] })
    response.writeHead(404).end()
  }
}

async function fetchAll(parts: RemoteParts): Promise<string> {
  const response = await remoteFetch(parts, new AbortController().signal)(parts.server.url, {
    method: 'POST',
    body: '{}',
  })
  return response.text()
}
