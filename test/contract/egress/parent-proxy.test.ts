/** A parent proxy: what goes through it, by name or by address, with which credentials, and what never does. */

import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createBroker } from '../../../src/egress/credentials/broker.ts'
import { fetchGuarded } from '../../../src/egress/fetch.ts'
import { type ParentSettings, readParentProxy } from '../../../src/egress/route/parent-proxy.ts'
import { createUpstream, type Upstream } from '../../../src/egress/route/upstream.ts'
import { createWorld, hosts, listen, PUBLIC_ADDRESS, RawClient, type World } from './world.ts'

const HOST = 'api.example.org'
const AUTHORIZATION = `Basic ${Buffer.from('ada:p@ss').toString('base64')}`

let world: World
let parent: Server
let heads: string[]
let unresolvable: Set<string>
let unknown: Set<string>
let sockets: Set<Socket>
let answer: string | null
const ports = new Map<string, number>()

/** As much of a proxy as CONNECT needs: it knows every host of the test internet, and takes one login. */
function serveParent(socket: Socket): void {
  sockets.add(socket)
  socket.on('error', () => socket.destroy())
  let head = ''
  const read = (chunk: Buffer) => {
    head += chunk.toString('latin1')
    if (!head.includes('\r\n\r\n')) return
    socket.off('data', read)
    heads.push(head)
    if (answer !== null) return void socket.end(answer)
    const port = /^CONNECT \S+:(\d+) /.exec(head)![1]!
    if (!head.includes(`Proxy-Authorization: ${AUTHORIZATION}`)) {
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    }
    const far = connect(ports.get(port) ?? 1, '127.0.0.1', () => {
      // In pieces, as a slow proxy sends it.
      socket.write('HTTP/1.1 200 Conn')
      setImmediate(() => {
        socket.write('ection established\r\nVia: test\r\n\r\n')
        socket.pipe(far).pipe(socket)
      })
    })
    far.on('error', () => socket.destroy())
    socket.on('close', () => far.destroy())
  }
  socket.on('data', read)
}

beforeEach(async () => {
  heads = []
  answer = null
  sockets = new Set()
  unresolvable = new Set()
  unknown = new Set()
  world = createWorld({
    resolver: {
      resolve: async (name) => {
        if (unresolvable.has(name)) throw new Error('queryA ENOTFOUND')
        if (unknown.has(name)) return []
        return [name === 'inside.example.org' ? '10.0.0.8' : PUBLIC_ADDRESS]
      },
    },
  })
  const reply = (message: { url?: string; headers: object }, response: { end(text: string): void }) =>
    response.end(`${message.url === '/large' ? 'x'.repeat(3_000_000) : 'reached'} ${JSON.stringify(message.headers)}`)
  ports.set('443', ((await world.serveHttps(reply)).address() as { port: number }).port)
  ports.set('80', ((await world.serveHttp(reply)).address() as { port: number }).port)
  ports.set(
    '5432',
    await world.serve(
      5432,
      createServer((socket) => socket.pipe(socket)),
    ),
  )
  parent = createServer(serveParent)
  await listen(parent)
})

afterEach(async () => {
  await world.close()
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => parent.close(resolve))
})

const place = () => `127.0.0.1:${(parent.address() as { port: number }).port}`

function upstream(settings: Partial<ParentSettings> = {}): Upstream {
  const env = { HTTPS_PROXY: `http://ada:p%40ss@${place()}` }
  return createUpstream({
    trust: [world.authority.pem],
    dialer: world.upstream.dialer,
    parent: readParentProxy({ proxy: 'environment', bypass: null, credentials: null, env, ...settings }),
  })
}

/** The answer to a GET over TLS through a proxy. */
async function get(path: string, through: Upstream, host = HOST, more: object = {}): Promise<string> {
  const { port } = await world.open({ allowed: hosts(HOST, 'inside.example.org') }, { upstream: through, ...more })
  const client = await RawClient.connect(port)
  const status = await client.tunnel(`${host}:443`)
  if (!status.includes(' 200 ')) return `${status}${await client.receive()}`
  const inside = await client.encrypt({ ca: world.ca.pem, servername: host })
  inside.send(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  return inside.receive()
}

describe('a parent proxy', () => {
  it('carries a granted host by name, with the login of the URL, which the host does not see', async () => {
    const text = await get('/', upstream())
    expect(text).toContain('reached')
    expect(text).not.toContain(AUTHORIZATION)
    expect(heads).toHaveLength(1)
    expect(heads[0]).toMatch(/^CONNECT api\.example\.org:443 HTTP\/1\.1\r\nHost: api\.example\.org:443\r\n/)
    expect(heads[0]).toContain(`Proxy-Authorization: ${AUTHORIZATION}\r\n`)
  })

  it('carries large answers whole', async () => {
    expect((await get('/large', upstream())).replaceAll(/\r\n[0-9a-f]+\r\n/g, '').length).toBeGreaterThan(3_000_000)
  })

  it('carries plain streams to a granted port', async () => {
    const { port } = await world.open({ allowed: hosts(`${HOST}:5432`) }, { upstream: upstream() })
    const client = await RawClient.connect(port)
    await client.tunnel(`${HOST}:5432`)
    client.send('both ways')
    expect(await client.receive((text) => text.includes('ways'))).toBe('both ways')
    expect(heads[0]).toContain(`CONNECT ${HOST}:5432 `)
  })

  it.each<[string, Partial<ParentSettings>]>([
    ['NO_PROXY names the host', { bypass: ['api.example.org'] }],
    ['NO_PROXY names its domain', { bypass: ['.example.org'] }],
    ['NO_PROXY is a star', { bypass: ['*'] }],
    ['it is switched off', { proxy: 'none' }],
    ['the variable names a proxy of another kind', { env: { ALL_PROXY: 'socks5://127.0.0.1:1' } }],
    ['no variable is set', { env: {} }],
  ])('is not asked where %s', async (_, settings) => {
    expect(await get('/', upstream(settings))).toContain('reached')
    expect(heads).toEqual([])
  })

  it('uses its own login instead of the URL’s', async () => {
    const through = upstream({ proxy: `http://${place()}`, credentials: 'ada:p@ss' })
    expect(await get('/', through)).toContain('reached')
  })

  it('that wants another login, refuses, or is something else is reported', async () => {
    expect(await get('/', upstream({ credentials: 'ada:wrong' }))).toMatch(
      /502[\s\S]*refused \(407\): it wants other cred/,
    )
    answer = 'HTTP/1.1 403 Forbidden\r\n\r\n'
    expect(await get('/', upstream())).toMatch(/refused \(403\)/)
    answer = 'SSH-2.0-x\r\n\r\n'
    expect(await get('/', upstream())).toMatch(/refused \(no HTTP\)/)
  })

  it.each(['fails', 'knows no such name'])(
    'looks up a listed name for which the resolver here %s, and no other',
    async (how) => {
      const names = how === 'fails' ? unresolvable : unknown
      names.add(HOST).add('open.example.com')
      expect(await get('/', upstream())).toContain('reached')
      const { ca: _ca, resolver } = world
      const rules = { command: 'webfetch', allowed: null, denied: [], allowPrivate: false }
      const open = await fetchGuarded('https://open.example.com/', { rules, resolver, upstream: upstream() })
      expect(open).toMatchObject({ refusal: { code: 'host-unresolved' } })
      expect(heads).toHaveLength(1)
    },
  )

  it('is asked for the judged address where no rule lists the host: a different answer of the proxy’s resolver has no effect', async () => {
    const rules = { command: 'webfetch', allowed: null, denied: [], allowPrivate: false }
    const { resolver } = world
    const open = await fetchGuarded('https://open.example.com/', { rules, resolver, upstream: upstream() })
    expect(open).toMatchObject({ response: { status: 200 } })
    expect(heads[0]).toContain(`CONNECT ${PUBLIC_ADDRESS}:443 `)
  })

  it('is not asked for what is refused: private answers, unlisted hosts, denied addresses that nobody can look for', async () => {
    expect(await get('/', upstream(), 'inside.example.org')).toContain('host-private')
    expect(await get('/', upstream(), 'evil.example.com')).toContain('host-unlisted')
    unresolvable.add(HOST)
    const { port } = await world.open({ allowed: hosts(HOST), denied: hosts('1.2.3.4') }, { upstream: upstream() })
    expect(await (await RawClient.connect(port)).tunnel(`${HOST}:443`)).toContain(' 502 ')
    expect(heads).toEqual([])
  })

  it('does not get a secret over plain HTTP, resolved here or not', async () => {
    const broker = createBroker([
      { name: 'T', value: 'the_real_value', hosts: hosts(HOST).map((rule) => rule.pattern) },
    ])
    for (const resolves of [true, false]) {
      if (!resolves) unresolvable.add(HOST)
      const { port } = await world.open({ allowed: hosts(HOST) }, { upstream: upstream(), broker })
      const client = await RawClient.connect(port)
      client.send(`GET http://${HOST}/ HTTP/1.1\r\nHost: ${HOST}\r\nAuthorization: ${broker.environment.T}\r\n\r\n`)
      expect(await client.receive((text) => text.includes('secret'))).toContain('secret-insecure')
    }
    expect(heads).toEqual([])
  })
})

it.each([
  ['intra.example.com', 'a.intra.example.com', true],
  ['intra.example.com', 'notintra.example.com', false],
  ['*.example.com', 'a.example.com', true],
  ['example.com:8443', 'example.com', false],
  ['10.0.0.0/8', '10.1.2.3', true],
  ['10.0.0.0/8', '11.1.2.3', false],
  ['10.0.0.0/99', '10.1.2.3', false],
  ['', 'example.com', false],
])('NO_PROXY %s and %s', (entry, host, bypassed) => {
  const proxy = readParentProxy({ proxy: 'http://p.example:3128', bypass: [entry], credentials: null, env: {} })!
  const kind = /^[\d.]+$/.test(host) ? 'ipv4' : 'name'
  expect(proxy.carries({ host, port: 443, kind })).toBe(!bypassed)
  expect(proxy.carries({ host: '127.0.0.1', port: 443, kind: 'ipv4' })).toBe(false)
})
