/** Other people's credentials on their way to a brokered host, and the brokered one inbound: each attack with its control. */

import type { createServer } from 'node:net'
import { createServer as createTls } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { createBroker } from '../../../src/egress/credentials/broker.ts'
import { createWorld, hosts, RawClient, type World } from '../../contract/egress/world.ts'

const HOST = 'api.example.org'
const VALUE = 'sk_realValueOfTheKey0123456789'
let world: World
afterEach(() => world.close())

const get = (path: string, ...headers: string[]) =>
  `GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`

async function ask(port: number, request: string): Promise<string> {
  const client = await RawClient.connect(port)
  await client.tunnel(`${HOST}:443`)
  const inside = await client.encrypt({ ca: world.ca.pem, servername: HOST })
  inside.send(request)
  return inside.receive()
}

async function open(more: { exclusive?: boolean; openPaths?: readonly string[] } = {}) {
  world = createWorld()
  const seen: string[] = []
  await world.serveHttps((message, response) => {
    seen.push(message.url!)
    message.resume()
    response.end('reached the host')
  })
  const patterns = hosts(HOST).map((rule) => rule.pattern)
  const broker = createBroker([
    { name: 'KEY', value: VALUE, hosts: patterns, passHeaders: ['x-app'], passParameters: ['beta'], ...more },
  ])
  const { port } = await world.open({ allowed: hosts(HOST, 'other.example.org') }, { broker })
  return { port, seen, key: `Authorization: Bearer ${broker.environment.KEY}`, placeholder: broker.environment.KEY! }
}

const ATTACKS: readonly [note: string, request: (key: string) => string][] = [
  ['a key as a subprotocol', (key) => get('/ws', key, 'Sec-WebSocket-Protocol: realtime, api-key.sk-theirs')],
  ['?oauth_token=', (key) => get('/?oauth_token=theirs', key)],
  ['?bearer_token=', (key) => get('/?bearer_token=theirs', key)],
  [';key= in the query', (key) => get('/?a=1;key=theirs', key)],
  [';key= in the path', (key) => get('/a;key=theirs/b', key)],
  ['a batch with its own heads', (key) => get('/batch', key, 'Content-Type: multipart/mixed; boundary=x')],
  ['another path in a header', (key) => get('/', key, 'X-Envoy-Original-Path: /?key=theirs')],
  ['a second login beside ours', (key) => get('/', key, 'Cookie: session=theirs')],
]

describe.each([{ exclusive: false }, { exclusive: true }])('a brokered host, $exclusive', ({ exclusive }) => {
  it.each(ATTACKS)('does not receive %s', async (_, request) => {
    const { port, seen, key } = await open({ exclusive })
    const answer = await ask(port, request(key))
    expect(answer).toMatch(/^HTTP\/1\.1 403 Blocked by Cordon \(secret-foreign\)/)
    expect(seen).toEqual([])
  })

  it('is reached with the brokered credential and what is listed', async () => {
    const { port, seen, key } = await open({ exclusive })
    expect(await ask(port, get('/?beta=true', key, 'X-App: cli'))).toContain('reached the host')
    expect(seen).toEqual(['/?beta=true'])
  })
})

it('an exclusive host is not reached without the credential; another brokered one may begin with a challenge', async () => {
  const strict = await open({ exclusive: true })
  expect(await ask(strict.port, get('/'))).toContain('secret-absent')
  expect(strict.seen).toEqual([])
  await world.close()
  const loose = await open()
  expect(await ask(loose.port, get('/'))).toContain('reached the host')
})

it('what a program asks for without its key at its start is open for exactly that', async () => {
  const { port, seen } = await open({ exclusive: true, openPaths: ['/api/hello'] })
  expect(await ask(port, get('/api/hello'))).toContain('reached the host')
  expect(await ask(port, get('/api/hello?beta=carried'))).toContain('secret-absent')
  expect(await ask(port, get('/api/hello/more'))).toContain('secret-absent')
  expect(await ask(port, get('/api/hello').replace('GET', 'POST'))).toContain('secret-absent')
  expect(await ask(port, get('/api/hello', 'X-Api-Key: sk-of-somebody-else'))).toContain('secret-foreign')
  expect(seen).toEqual(['/api/hello'])
})

it('the host of a key that is not set is closed, and nobody is asked', async () => {
  world = createWorld()
  await world.serveHttps((_, response) => response.end('reached the host'))
  const asked: string[] = []
  const ask = async ({ target }: { target: { host: string } }) => {
    asked.push(target.host)
    return true
  }
  const { port } = await world.open(
    { allowed: hosts('free.example.org'), keyless: [{ host: HOST, names: ['KEY'] }] },
    { ask },
  )
  expect(await (await RawClient.connect(port)).tunnel(`${HOST}:443`)).toContain('403 Blocked by Cordon (key-missing)')
  expect(await (await RawClient.connect(port)).tunnel('free.example.org:443')).toContain(' 200 ')
  expect(asked).toEqual([])
})

it('a declined host is refused and nobody is asked, unless a rule names it', async () => {
  world = createWorld()
  await world.serveHttps((_, response) => response.end('reached the host'))
  const asked: string[] = []
  const ask = async ({ target }: { target: { host: string } }) => {
    asked.push(target.host)
    return false
  }
  const declined = new Map([[HOST, 'codex']])
  const { port } = await world.open({ allowed: hosts('free.example.org'), declined }, { ask })
  expect(await (await RawClient.connect(port)).tunnel(`${HOST}:443`)).toContain('403 Blocked by Cordon (host-declined)')
  expect(asked).toEqual([])
  expect(await (await RawClient.connect(port)).tunnel('other.example.net:443')).toContain('(ask-refused)')
  expect(asked).toEqual(['other.example.net'])
  const named = await world.open({ allowed: hosts(HOST), declined }, { ask })
  expect(await (await RawClient.connect(named.port)).tunnel(`${HOST}:443`)).toContain(' 200 ')
})

describe('one exit for what a host sends back', () => {
  async function answering(bytes: (authorization: string) => Buffer | string) {
    world = createWorld()
    const server = createTls({ ...world.authority.issue(HOST) }, (socket) => {
      socket.on('error', () => {})
      socket.once('data', (head: Buffer) => {
        socket.end(bytes(/authorization: (.*)\r\n/i.exec(head.toString('latin1'))?.[1] ?? 'nothing'))
      })
    })
    await world.serve(443, server as unknown as ReturnType<typeof createServer>)
    const broker = createBroker([{ name: 'KEY', value: VALUE, hosts: hosts(HOST).map((rule) => rule.pattern) }])
    const { port } = await world.open({ allowed: hosts(HOST) }, { broker })
    return { port, key: `Authorization: Bearer ${broker.environment.KEY}`, placeholder: broker.environment.KEY! }
  }
  const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x', 'Sec-WebSocket-Version: 13']
  const chunked = (body: Buffer) =>
    Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])

  it('looks through the status line of a refused upgrade', async () => {
    const { port, key, placeholder } = await answering((sent) => `HTTP/1.1 401 no ${sent}\r\nContent-Length: 0\r\n\r\n`)
    const answer = await ask(port, get('/ws', key, ...UPGRADE).replace('Connection: close\r\n', ''))
    expect(answer).toContain(`401 no Bearer ${placeholder}`)
    expect(answer).not.toContain(VALUE)
  })

  it('takes no body that is packed for the way', async () => {
    const { port, key } = await answering((sent) =>
      Buffer.concat([
        Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n'),
        chunked(gzipSync(`you sent ${sent}`)),
      ]),
    )
    expect(await ask(port, get('/', key))).toContain(' 502 ')
  })

  it('looks through trailers and hints, and passes them on', async () => {
    const { port, key, placeholder } = await answering(
      (sent) =>
        `HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: ${sent}\r\n\r\n`,
    )
    const answer = await ask(port, get('/', key))
    expect(answer).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>; rel=preload/)
    expect(answer).toContain(`X-Sum: Bearer ${placeholder}`)
    expect(answer).not.toContain(VALUE)
  })
})

it.each([
  ['base64', (text: string) => Buffer.from(`{"k":"${text}"}`).toString('base64')],
  ['base64 at another offset', (text: string) => Buffer.from(`x${text}`).toString('base64')],
  ['hex', (text: string) => Buffer.from(text).toString('hex')],
  ['percent signs', (text: string) => Array.from(Buffer.from(text), (byte) => `%${byte.toString(16)}`).join('')],
] as const)('a placeholder in a body in %s does not go to another host', async (_, pack) => {
  const { port, seen, placeholder } = await open()
  const client = await RawClient.connect(port)
  await client.tunnel('other.example.org:443')
  const inside = await client.encrypt({ ca: world.ca.pem, servername: 'other.example.org' })
  const body = pack(placeholder)
  inside.send(
    `POST / HTTP/1.1\r\nHost: other.example.org\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
  expect(await inside.receive()).toContain('secret-elsewhere')
  expect(seen).toEqual([])
})
