/** HTTP/2 through a proxy, brokered and not: whole bodies, trailers, hints, and names of headers that are names of JavaScript. */

import { createHash } from 'node:crypto'
import {
  type ClientHttp2Session,
  connect,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { connect as tlsConnect } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { type Broker, createBroker } from '../../../src/egress/credentials/broker.ts'
import { createWorld, hosts, RawClient, type World } from './world.ts'

const HOST = 'api.example.org'
const VALUE = 'sk_realValueOfTheKey0123456789'
const LARGE = Buffer.alloc(3 * 1024 * 1024, 'the quick brown fox jumps over the lazy dog. ')
const MESSAGE = Buffer.alloc(500 * 1024, 'grpc')
let world: World
afterEach(() => world.close())

function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

function serveStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  stream.on('error', () => {})
  const path = headers[':path']
  if (path === '/large') {
    stream.respond({ ':status': 200 })
    stream.end(LARGE)
  } else if (path === '/gzip') {
    stream.respond({ ':status': 200, 'content-encoding': 'gzip' })
    stream.end(gzipSync(LARGE))
  } else if (path === '/grpc') {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () =>
      stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': `${headers.authorization}` }),
    )
    stream.end(frame(MESSAGE))
  } else if (path === '/hints') {
    stream.additionalHeaders({ ':status': 103, link: '</a.css>' })
    stream.respond({ ':status': 200 })
    stream.end('hinted')
  } else if (path === '/broken') {
    stream.respond({ ':status': 200 })
    stream.write(LARGE.subarray(0, 100_000))
    setTimeout(() => stream.session?.destroy(), 5)
  } else {
    stream.respond({ ':status': 200, 'x-seen': String(headers.constructor) })
    stream.end()
  }
}

async function open(brokered: boolean): Promise<{ session: ClientHttp2Session; broker: Broker | null }> {
  world = createWorld()
  const server = createSecureServer({ ...world.authority.issue(HOST), maxSessionMemory: 100 })
  server.on('stream', serveStream)
  server.on('sessionError', () => {})
  await world.serve(443, server as never)
  const broker = brokered
    ? createBroker([{ name: 'KEY', value: VALUE, hosts: hosts(HOST).map((rule) => rule.pattern) }])
    : null
  const { port } = await world.open({ allowed: hosts(HOST) }, { broker })
  const client = await RawClient.connect(port)
  await client.tunnel(`${HOST}:443`)
  client.socket.removeAllListeners('data')
  const socket = tlsConnect({ socket: client.socket, ca: world.ca.pem, servername: HOST, ALPNProtocols: ['h2'] })
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
  const session = connect(`https://${HOST}`, { createConnection: () => socket })
  session.on('error', () => {})
  return { session, broker }
}

interface Answer {
  readonly body: Buffer
  readonly headers: IncomingHttpHeaders
  readonly trailers: IncomingHttpHeaders
  readonly hints: IncomingHttpHeaders
  readonly code: number
}

function ask(session: ClientHttp2Session, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve) => {
    const request = session.request({ ':path': path, ...headers })
    const parts: Buffer[] = []
    const seen = { headers: {}, trailers: {}, hints: {} }
    request.on('error', () => {})
    request.on('headers', (hints) => Object.assign(seen, { hints }))
    request.on('response', (given) => Object.assign(seen, { headers: given }))
    request.on('trailers', (trailers) => Object.assign(seen, { trailers }))
    request.on('data', (chunk: Buffer) => parts.push(chunk))
    request.on('close', () => resolve({ ...seen, body: Buffer.concat(parts), code: request.rstCode ?? -1 }))
    request.end()
  })
}

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

describe.each([false, true])('brokered: %s', (brokered) => {
  it('bodies come whole, ten times at once', async () => {
    const { session } = await open(brokered)
    const large = await Promise.all(Array.from({ length: 10 }, () => ask(session, '/large')))
    expect(new Set(large.map((answer) => `${answer.code} ${digest(answer.body)}`))).toEqual(
      new Set([`0 ${digest(LARGE)}`]),
    )
    const packed = await Promise.all(Array.from({ length: 10 }, () => ask(session, '/gzip')))
    const whole = brokered ? LARGE : gzipSync(LARGE)
    expect(new Set(packed.map((answer) => digest(answer.body)))).toEqual(new Set([digest(whole)]))
    session.destroy()
  })

  it('gRPC messages of half a megabyte come whole, with their trailers', async () => {
    const { session, broker } = await open(brokered)
    const headers = { 'content-type': 'application/grpc', ...(broker && { authorization: broker.environment.KEY! }) }
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(session, '/grpc', headers)))
    for (const answer of answers) {
      expect(digest(answer.body)).toBe(digest(frame(MESSAGE)))
      expect(answer.trailers['grpc-status']).toBe('0')
      expect(answer.trailers['grpc-message']).toBe(broker ? broker.environment.KEY : 'undefined')
    }
    session.destroy()
  })

  it('hints pass, and headers may be called as they like', async () => {
    const { session } = await open(brokered)
    const hinted = await ask(session, '/hints')
    expect([hinted.hints.link, hinted.body.toString()]).toEqual(['</a.css>', 'hinted'])
    const named = await ask(session, '/', { constructor: 'mine' })
    expect(named.headers['x-seen']).toBe('mine')
    session.destroy()
  })

  it('a body that breaks off is not taken for a whole one', async () => {
    const { session } = await open(brokered)
    expect((await ask(session, '/broken')).code).not.toBe(0)
    session.destroy()
  })
})
