/** Connections to hosts: dialled ahead of a request, resumed for their own host alone, and none once a proxy is closed. */

import { createServer as createHttps, type Server } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { createUpstream } from '../../../src/egress/route/upstream.ts'
import { until } from '../../until.ts'
import { mappedResolver } from './mapped-resolver.ts'
import { createWorld, hosts, RawClient, TestAuthority, type World } from './world.ts'

let world: World
afterEach(() => world.close())

const HOST = 'api.example.org'

interface Watched {
  readonly server: Server
  /** Whether each TLS connection resumed a session, in order. */
  readonly resumed: boolean[]
  readonly open: Set<TLSSocket>
}

/** Serves port 443 with a certificate for one host only, whatever name is asked for. */
async function serveWatched(answer: (url: string) => string | null = () => 'ok'): Promise<Watched> {
  world = createWorld()
  const server = createHttps(world.authority.issue(HOST), (message, response) => {
    const body = answer(message.url!)
    if (body !== null) response.end(body)
  })
  const resumed: boolean[] = []
  const open = new Set<TLSSocket>()
  server.on('secureConnection', (socket: TLSSocket) => {
    resumed.push(socket.isSessionReused())
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  await world.serve(443, server)
  return { server, resumed, open }
}

async function inside(port: number, host = HOST): Promise<RawClient> {
  const client = await RawClient.connect(port)
  expect(await client.tunnel(`${host}:443`)).toContain(' 200 ')
  return client.encrypt({ ca: world.ca.pem, servername: host })
}

async function get(client: RawClient, path = '/', host = HOST): Promise<string> {
  client.send(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  return client.receive((text) => text.endsWith('ok') || text.includes('Cordon'))
}

describe('sessions', () => {
  it('are resumed for the host they came from, by every proxy of the session', async () => {
    const { resumed, open } = await serveWatched()
    for (let round = 0; round < 3; round++) {
      const { proxy, port } = await world.open({ allowed: hosts(HOST) })
      const client = await inside(port)
      expect(await get(client)).toContain(' 200 ')
      client.close()
      await proxy.close()
      await until('it settles', () => open.size === 0)
    }
    expect(resumed[0]).toBe(false)
    expect(resumed.slice(1)).toContain(true)
  })

  it('never stand in for the certificate of another host', async () => {
    const { resumed } = await serveWatched()
    const other = 'other.example.org'
    const { port } = await world.open({ allowed: hosts(HOST, other) })
    expect(await get(await inside(port))).toContain(' 200 ')
    for (let round = 0; round < 3; round++) {
      expect(await get(await inside(port, other), '/', other)).toContain('upstream-certificate')
    }
    expect(resumed).not.toContain(true)
  })
})

describe('roots', () => {
  const others = Array.from({ length: 44 }, () => new TestAuthority().pem)
  const rows: { name: string; at: number | null; pieces: number }[] = [
    { name: 'the first', at: 0, pieces: 0 },
    { name: 'the last of a piece, some read ahead', at: 19, pieces: 2 },
    { name: 'the first of the next', at: 20, pieces: 0 },
    { name: 'the last, all read ahead', at: 44, pieces: 99 },
    { name: 'none', at: null, pieces: 99 },
  ]
  it.each(rows)('hold whichever of many signed, and no other: $name', async ({ at, pieces }) => {
    world = createWorld()
    await world.serveHttps((_, response) => response.end('reached'))
    const roots = at === null ? others : others.toSpliced(at, 0, `# a comment\n${world.authority.pem}`)
    const upstream = createUpstream({ roots: roots.join('\n'), dialer: world.upstream.dialer })
    for (let piece = 0; piece < pieces && upstream.prepare(); piece++);
    const { port } = await world.open({ allowed: hosts('api.example.org') }, { upstream })
    const client = await RawClient.connect(port)
    await client.tunnel('api.example.org:443')
    const inside = await client.encrypt({ ca: world.ca.pem, servername: 'api.example.org' })
    inside.send('GET / HTTP/1.1\r\nHost: api.example.org\r\nConnection: close\r\n\r\n')
    expect(await inside.receive()).toContain(at === null ? 'upstream-certificate' : 'reached')
  })
})

describe('dialling ahead', () => {
  it('opens the one connection that the first request then takes', async () => {
    const { resumed } = await serveWatched()
    const { proxy, port } = await world.open({ allowed: hosts(HOST) })
    const client = await inside(port)
    await until('it settles', () => resumed.length === 1)
    for (let round = 0; round < 3; round++) expect(await get(client)).toContain(' 200 ')
    expect(resumed).toHaveLength(1)
    expect(proxy.stats().upstream).toBe(1)
  })

  it('leaves nothing when the client goes without a request, or stays and asks for nothing', async () => {
    const { resumed, open } = await serveWatched()
    const { proxy, port } = await world.open({ allowed: hosts(HOST) })
    const going = await inside(port)
    await until('it settles', () => resumed.length === 1)
    going.close()
    await until('it settles', () => open.size === 0 && proxy.stats().upstream === 0)
    const staying = await inside(port)
    await until('it settles', () => resumed.length === 2)
    await until('it settles', () => open.size === 0 && proxy.stats().upstream === 0)
    expect(proxy.stats().open).toBe(1)
    expect(await get(staying)).toContain(' 200 ')
  })

  it('is not done for a name that is not the one of the tunnel', async () => {
    const { resumed } = await serveWatched()
    const { proxy, port } = await world.open({ allowed: hosts(HOST, 'other.example.org') })
    const client = await RawClient.connect(port)
    await client.tunnel(`${HOST}:443`)
    await expect(client.encrypt({ ca: world.ca.pem, servername: 'other.example.org' })).rejects.toThrow()
    await until('it settles', () => world.events.some((event) => event.code === 'name-mismatch'))
    expect(proxy.stats().upstream).toBe(0)
    expect(resumed).toEqual([])
  })
})

describe('the real dialler', () => {
  it('goes on to the next judged address, with TLS and with bodies past the parser', async () => {
    const body = 'x'.repeat(5_000_000)
    world = createWorld()
    const server = createHttps({ SNICallback: world.authority.contexts() }, (message, response) => {
      if (message.url === '/large') response.setHeader('content-length', body.length).end(body)
      else response.end('ok')
    })
    const own = await world.serve(1, server)
    const upstream = createUpstream({ trust: [world.authority.pem] })
    // Nothing listens at the first two.
    const resolver = mappedResolver({ localhost: ['::1', '127.0.0.9', '127.0.0.1'] })
    const rules = { allowed: hosts(`localhost:${own}`), allowPrivate: true }
    const { proxy, port } = await world.open(rules, { upstream, resolver })
    for (let round = 0; round < 2; round++) {
      const client = await RawClient.connect(port)
      await client.tunnel(`localhost:${own}`)
      const tls = await client.encrypt({ ca: world.ca.pem, servername: 'localhost' })
      tls.send(`GET / HTTP/1.1\r\nHost: localhost:${own}\r\n\r\n`)
      expect(await tls.receive((text) => text.endsWith('ok'))).toContain(' 200 ')
      tls.send(`GET /large HTTP/1.1\r\nHost: localhost:${own}\r\n\r\n`)
      const answer = await tls.receive((text) => text.length > body.length && text.endsWith('x'))
      expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toBe(body)
      tls.close()
    }
    await until('it settles', () => world.events.length === 4)
    for (const event of world.events) expect(event).toMatchObject({ verdict: 'allow', address: '127.0.0.1' })
    await until('it settles', () => proxy.stats().open === 0)
  })

  it('refuses a certificate that is not for the host, at whichever address', async () => {
    world = createWorld()
    const own = await world.serve(
      1,
      createHttps(world.authority.issue('other.example.org'), (_, response) => response.end('ok')),
    )
    const upstream = createUpstream({ trust: [world.authority.pem] })
    const resolver = mappedResolver({ localhost: ['127.0.0.9', '127.0.0.1'] })
    const { port } = await world.open(
      { allowed: hosts(`localhost:${own}`), allowPrivate: true },
      { upstream, resolver },
    )
    const client = await RawClient.connect(port)
    await client.tunnel(`localhost:${own}`)
    const tls = await client.encrypt({ ca: world.ca.pem, servername: 'localhost' })
    tls.send(`GET / HTTP/1.1\r\nHost: localhost:${own}\r\n\r\n`)
    expect(await tls.receive((text) => text.includes('\r\n\r\n'))).toContain('upstream-certificate')
  })
})

describe('a proxy that closes', () => {
  it('does not dial again for a request that was under way on a kept connection', async () => {
    let isUnderWay = false
    const { resumed, open } = await serveWatched((url) => {
      isUnderWay = url === '/never'
      return isUnderWay ? null : 'ok'
    })
    const { proxy, port } = await world.open({ allowed: hosts(HOST) })
    const client = await inside(port)
    expect(await get(client)).toContain(' 200 ')
    client.send(`GET /never HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
    await until('the request is under way', () => isUnderWay)
    await proxy.close()
    await client.receive()
    await until('it settles', () => open.size === 0)
    expect(proxy.stats().upstream).toBe(0)
    expect(resumed).toHaveLength(1)
  })
})
