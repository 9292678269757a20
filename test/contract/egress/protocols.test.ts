/** The protocols of a proxy, end to end: HTTP/2 and gRPC, WebSocket, raw ports, certificates, asks and narrowed rules. */

import { createServer as createHttp } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2, createSecureServer } from 'node:http2'
import { createServer as createHttps } from 'node:https'
import { createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { createUpstream } from '../../../src/egress/route/upstream.ts'
import { until } from '../../until.ts'
import { mappedResolver } from './mapped-resolver.ts'
import { createWorld, hosts, PUBLIC_ADDRESS, RawClient, type World } from './world.ts'

let world: World
afterEach(() => world.close())

const DAY = 86_400_000

async function tunnelTo(port: number, authority: string): Promise<Socket> {
  const client = await RawClient.connect(port)
  expect(await client.tunnel(authority)).toContain(' 200 ')
  client.socket.removeAllListeners('data')
  return client.socket
}

async function get(port: number, host: string, path: string, method = 'GET'): Promise<string> {
  const client = await RawClient.connect(port)
  const status = await client.tunnel(`${host}:443`)
  if (!status.includes(' 200 ')) return status
  const inside = await client.encrypt({ ca: world.ca.pem, servername: host })
  inside.send(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  return inside.receive()
}

describe('HTTP/2', () => {
  async function grpcWorld() {
    world = createWorld()
    const server = createSecureServer({ ...world.authority.issue('api.example.org'), allowHTTP1: false })
    server.on('stream', (stream, headers) => {
      if (headers[':path'] === '/reset') return stream.close(8)
      if (headers[':path'] === '/only')
        return stream.respond({ ':status': 200, 'grpc-status': '5' }, { endStream: true })
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': 'done' }))
      stream.pipe(stream)
    })
    await world.serve(443, server)
    const { port } = await world.open({ allowed: hosts('api.example.org') })
    const socket = await tunnelTo(port, 'api.example.org:443')
    const tls = tlsConnect({ socket, ca: world.ca.pem, servername: 'api.example.org', ALPNProtocols: ['h2'] })
    return connectHttp2('https://api.example.org', { createConnection: () => tls })
  }

  async function call(session: ReturnType<typeof connectHttp2>, headers: Record<string, string>, body = '') {
    const stream = session.request({
      ':method': 'POST',
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    })
    const seen: { status?: number; grpc?: string; body: string; reset: number } = { body: '', reset: 0 }
    stream.on('response', (head) => {
      seen.status = head[':status']
      seen.grpc = head['grpc-status'] as string
    })
    stream.on('trailers', (trailers) => {
      seen.grpc = trailers['grpc-status'] as string
    })
    stream.on('data', (chunk) => {
      seen.body += chunk
    })
    stream.on('error', () => {})
    stream.end(body)
    await new Promise((resolve) => stream.once('close', resolve))
    seen.reset = stream.rstCode
    return seen
  }

  it('carries gRPC with its trailers, several streams at once', async () => {
    const session = await grpcWorld()
    const calls = Array.from({ length: 20 }, (_, index) => call(session, { ':path': '/echo' }, `message ${index}`))
    for (const [index, seen] of (await Promise.all(calls)).entries()) {
      expect(seen).toMatchObject({ status: 200, grpc: '0', body: `message ${index}` })
    }
    expect(await call(session, { ':path': '/only' })).toMatchObject({ status: 200, grpc: '5' })
    expect(await call(session, { ':path': '/reset' })).toMatchObject({ grpc: '14' })
    session.destroy()
  })

  it('refuses another :authority in a status that gRPC reads', async () => {
    const session = await grpcWorld()
    const seen = await call(session, { ':path': '/echo', ':authority': 'evil.com' })
    expect(seen).toMatchObject({ status: 200, grpc: '7' })
    expect(world.events.at(-1)).toMatchObject({ verdict: 'deny', code: 'host-mismatch', kind: 'http2' })
    session.destroy()
  })

  it('carries it without TLS on a port that was granted by name', async () => {
    world = createWorld()
    const server = createHttp2()
    server.on('stream', (stream) => {
      stream.respond({ ':status': 200 })
      stream.end('clear')
    })
    await world.serve(50051, server as never)
    const { port } = await world.open({ allowed: hosts('api.example.org:50051') })
    const socket = await tunnelTo(port, 'api.example.org:50051')
    const session = connectHttp2('http://api.example.org:50051', { createConnection: () => socket })
    expect(await call(session, { ':path': '/' })).toMatchObject({ status: 200, body: 'clear' })
    session.destroy()
  })
})

describe('WebSocket', () => {
  it('joins both sides after the switch, and counts the bytes', async () => {
    world = createWorld()
    const server = await world.serveHttps((_, response) => response.writeHead(404).end('no such thing'))
    server.on('upgrade', (_message, socket: Duplex, head: Buffer) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
      socket.write(head)
      socket.pipe(socket)
    })
    const { port } = await world.open({ allowed: hosts('api.example.org') })
    const client = await RawClient.connect(port)
    await client.tunnel('api.example.org:443')
    const inside = await client.encrypt({ ca: world.ca.pem, servername: 'api.example.org' })
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n'
    inside.send(`GET /ws HTTP/1.1\r\nHost: api.example.org\r\n${upgrade}`)
    expect(await inside.receive((text) => text.includes('\r\n\r\n'))).toContain(' 101 ')
    inside.send('one frame')
    expect(await inside.receive((text) => text.length >= 9)).toBe('one frame')
    inside.close()
    await until('it settles', () => world.events.some((event) => event.kind === 'websocket'))
    expect(world.events.at(-1)).toMatchObject({ verdict: 'allow', kind: 'websocket', up: 9, down: 9 })
  })

  it('passes on the answer of a host that does not switch', async () => {
    world = createWorld()
    await world.serveHttps((_, response) => response.writeHead(404).end('no such thing'))
    const { port } = await world.open({ allowed: hosts('api.example.org') })
    const client = await RawClient.connect(port)
    await client.tunnel('api.example.org:443')
    const inside = await client.encrypt({ ca: world.ca.pem, servername: 'api.example.org' })
    inside.send('GET /ws HTTP/1.1\r\nHost: api.example.org\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    const answer = await inside.receive()
    expect(answer).toContain(' 404 ')
    expect(answer).toContain('no such thing')
  })
})

describe('raw ports', () => {
  const echo = () => createServer((socket) => socket.on('error', () => {}).pipe(socket))
  const greeter = () =>
    createServer((socket) => {
      socket.on('error', () => {})
      socket.write('220 ready\r\n')
      socket.pipe(socket)
    })

  it('carries bytes where the port was granted by name', async () => {
    world = createWorld()
    await world.serve(22, echo())
    const { port } = await world.open({ allowed: hosts('github.com:22') })
    const client = await RawClient.connect(port)
    expect(await client.tunnel('github.com:22')).toContain(' 200 ')
    client.send('SSH-2.0-test\r\n')
    expect(await client.receive((text) => text.length >= 14)).toBe('SSH-2.0-test\r\n')
    // Closing one half must not lose what is on its way back.
    client.socket.end('the last words')
    expect(await client.receive()).toBe('the last words')
  })

  it('lets a server speak first', async () => {
    world = createWorld()
    await world.serve(25, greeter())
    const { port } = await world.open(
      { allowed: hosts('mail.example.org:25') },
      { limits: { serverFirstMilliseconds: 20 } },
    )
    const client = await RawClient.connect(port)
    await client.tunnel('mail.example.org:25')
    expect(await client.receive((text) => text.includes('\n'))).toBe('220 ready\r\n')
    client.send('EHLO me\r\n')
    expect(await client.receive((text) => text.includes('\n'))).toBe('EHLO me\r\n')
    client.close()
  })

  const kept: { name: string; bytes: string }[] = [
    { name: 'a request for another host', bytes: 'GET / HTTP/1.1\r\nHost: evil.com\r\n\r\n' },
    { name: 'a TLS hello', bytes: '\x16\x03\x01\x00\x05hello' },
  ]
  it.each(kept)('does not let $name through that waited for the server', async ({ bytes }) => {
    world = createWorld()
    await world.serve(25, greeter())
    const { port } = await world.open(
      { allowed: hosts('mail.example.org:25') },
      { limits: { serverFirstMilliseconds: 20 } },
    )
    const client = await RawClient.connect(port)
    await client.tunnel('mail.example.org:25')
    await client.receive((text) => text.includes('\n'))
    client.send(bytes)
    expect(await client.receive()).toBe('')
    expect(world.events.at(-1)?.code).toBe('not-http')
  })

  it('limits HTTP to its host there too', async () => {
    world = createWorld()
    await world.serve(8080, echo())
    const { port } = await world.open({ allowed: hosts('api.example.org:8080') })
    const client = await RawClient.connect(port)
    await client.tunnel('api.example.org:8080')
    client.send('GET / HTTP/1.1\r\nHost: evil.com\r\n\r\n')
    expect(await client.receive()).toContain('host-mismatch')
  })

  it('carries other protocols inside TLS', async () => {
    world = createWorld()
    const server = createHttps(world.authority.issue('imap.example.org'))
    server.removeAllListeners('secureConnection')
    server.on('secureConnection', (socket: TLSSocket) => socket.pipe(socket))
    await world.serve(993, server)
    const { port } = await world.open({ allowed: hosts('imap.example.org:993') })
    const client = await RawClient.connect(port)
    await client.tunnel('imap.example.org:993')
    const inside = await client.encrypt({ ca: world.ca.pem, servername: 'imap.example.org' })
    inside.send('a1 LOGIN\r\n')
    expect(await inside.receive((text) => text.includes('\n'))).toBe('a1 LOGIN\r\n')
    inside.close()
  })
})

describe('certificates of hosts', () => {
  const rows: { name: string; issue: (world: World) => { key: string; cert: string }; note: string }[] = [
    {
      name: 'for another name',
      issue: (w) => w.authority.issue('evil.com'),
      note: 'a host that took over the address',
    },
    {
      name: 'expired',
      issue: (w) =>
        w.authority.issue('api.example.org', {
          from: new Date(Date.now() - 9 * DAY),
          until: new Date(Date.now() - DAY),
        }),
      note: 'yesterday',
    },
    {
      name: 'of a stranger',
      issue: () => createWorld().authority.issue('api.example.org'),
      note: 'an authority nobody trusts',
    },
  ]
  it.each(rows)('$name: a clean 502 ($note)', async ({ issue }) => {
    world = createWorld()
    await world.serve(
      443,
      createHttps(issue(world), (_, response) => response.end('reached')),
    )
    const { port } = await world.open({ allowed: hosts('api.example.org') })
    const answer = await get(port, 'api.example.org', '/')
    expect(answer).toContain(' 502 ')
    expect(answer).toContain('upstream-certificate')
    expect(answer).not.toContain('reached')
  })
})

describe('names in certificates of hosts', () => {
  const rows: { certified: string; host: string; reached: boolean; note: string }[] = [
    { certified: 'api.example.org', host: 'api.example.org', reached: true, note: 'the name itself' },
    { certified: 'API.Example.org', host: 'api.example.org', reached: true, note: 'in another case' },
    { certified: '*.example.org', host: 'api.example.org', reached: true, note: 'below a wildcard' },
    { certified: '*.example.org', host: 'a.b.example.org', reached: false, note: 'two labels below it' },
    { certified: '*.example.org', host: 'example.org', reached: false, note: 'the domain of a wildcard' },
    { certified: 'a*.example.org', host: 'api.example.org', reached: false, note: 'a wildcard in part of a label' },
    { certified: 'api.*.org', host: 'api.example.org', reached: false, note: 'a wildcard in the middle' },
    { certified: 'example.org', host: 'api.example.org', reached: false, note: 'the domain above' },
    { certified: 'api.example.org.evil.com', host: 'api.example.org', reached: false, note: 'a longer name' },
    { certified: PUBLIC_ADDRESS, host: 'api.example.org', reached: false, note: 'the address for a name' },
  ]
  it.each(rows)('$certified for $host ($note)', async ({ certified, host, reached }) => {
    world = createWorld()
    await world.serve(
      443,
      createHttps(world.authority.issue(certified), (_, response) => response.end('reached')),
    )
    const { port } = await world.open({ allowed: hosts(host) })
    const answer = await get(port, host, '/')
    expect(answer.includes('reached')).toBe(reached)
    if (!reached) expect(answer).toContain('upstream-certificate')
  })
})

describe('addresses', () => {
  it('are reached over TLS with a certificate for the address', async () => {
    world = createWorld()
    const server = createHttps(world.authority.issue('2606:4700::1111'), (_, response) => response.end('reached'))
    await world.serve(443, server)
    const { port } = await world.open({ allowed: hosts('[2606:4700::1111]') })
    const client = await RawClient.connect(port)
    await client.tunnel('[2606:4700::1111]:443')
    const inside = await client.encrypt({ ca: world.ca.pem, host: '2606:4700::1111' })
    inside.send('GET / HTTP/1.1\r\nHost: [2606:4700::1111]\r\nConnection: close\r\n\r\n')
    expect(await inside.receive()).toContain('reached')
  })

  it('of this machine are reached by the real dialler where they are granted, and nowhere else', async () => {
    world = createWorld()
    const server = createHttp((_, response) => response.end('at home'))
    const own = await world.serve(1, server)
    const upstream = createUpstream()
    const resolver = mappedResolver({ localhost: ['::1', '127.0.0.1'], 'public.example.org': ['127.0.0.1'] })
    const allowed = hosts(`127.0.0.1:${own}`, `localhost:${own}`, `public.example.org:${own}`)
    const plain = async (port: number, authority: string) => {
      const client = await RawClient.connect(port)
      client.send(`GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`)
      return client.receive()
    }
    const open = await world.open({ allowed, allowPrivate: true }, { upstream, resolver })
    expect(await plain(open.port, `127.0.0.1:${own}`)).toContain('at home')
    // ::1 does not listen: the next judged address is tried.
    expect(await plain(open.port, `localhost:${own}`)).toContain('at home')
    expect(await plain(open.port, `127.0.0.1:${own + 1}`)).toContain('port-unlisted')
    const closed = await world.open({ allowed }, { upstream, resolver })
    expect(await plain(closed.port, `127.0.0.1:${own}`)).toContain('host-private')
    expect(await plain(closed.port, `public.example.org:${own}`)).toContain('host-private')
  })
})

describe('rules', () => {
  it('asks once about a host that nobody decided, and keeps the answer for the command', async () => {
    world = createWorld()
    await world.serveHttps((_, response) => response.end('reached'))
    const asked: string[] = []
    const ask = async ({ target, command }: { target: { host: string }; command: string }) => {
      asked.push(`${command}: ${target.host}`)
      return target.host === 'yes.example.org'
    }
    const { port } = await world.open({ denied: hosts('denied.example.org') }, { ask })
    const both = await Promise.all([get(port, 'yes.example.org', '/'), get(port, 'yes.example.org', '/')])
    for (const answer of both) expect(answer).toContain('reached')
    expect(await get(port, 'no.example.org', '/')).toContain(' 403 ')
    expect(await get(port, 'denied.example.org', '/')).toContain(' 403 ')
    expect(await get(port, 'localhost', '/')).toContain(' 403 ')
    expect(asked).toEqual(['npm test: yes.example.org', 'npm test: no.example.org'])
  })

  it('takes an asker that fails as a no', async () => {
    world = createWorld()
    const { port } = await world.open({}, { ask: () => Promise.reject(new Error('no terminal')) })
    expect(await get(port, 'yes.example.org', '/')).toContain('403')
    expect(world.events.at(-1)?.code).toBe('ask-refused')
  })

  it('enforces methods and paths', async () => {
    world = createWorld()
    await world.serveHttps((_, response) => response.end('reached'))
    const { port } = await world.open({
      allowed: hosts(
        { host: 'api.example.org', methods: ['GET'] },
        { host: 'api.example.org', methods: ['POST'], paths: ['/v1/**'] },
      ),
    })
    expect(await get(port, 'api.example.org', '/any')).toContain('reached')
    expect(await get(port, 'api.example.org', '/v1/a/b', 'POST')).toContain('reached')
    expect(await get(port, 'api.example.org', '/v2', 'POST')).toContain('path-unlisted')
    expect(await get(port, 'api.example.org', '/v1/../v2', 'POST')).toContain('path-unlisted')
    expect(await get(port, 'api.example.org', '/v1/%2e%2e/v2', 'POST')).toContain('path-unlisted')
    expect(await get(port, 'api.example.org', '/v1', 'DELETE')).toContain('method-unlisted')
  })

  it('keeps the second request of a connection to its host', async () => {
    world = createWorld()
    await world.serveHttps((_, response) => response.end('reached'))
    const { port } = await world.open({ allowed: hosts('api.example.org', 'evil.com') })
    const client = await RawClient.connect(port)
    await client.tunnel('api.example.org:443')
    const inside = await client.encrypt({ ca: world.ca.pem, servername: 'api.example.org' })
    inside.send('GET / HTTP/1.1\r\nHost: api.example.org\r\n\r\n')
    expect(await inside.receive((text) => text.includes('reached'))).toContain(' 200 ')
    inside.send('GET / HTTP/1.1\r\nHost: evil.com\r\n\r\n')
    expect(await inside.receive()).toContain('host-mismatch')
  })
})
