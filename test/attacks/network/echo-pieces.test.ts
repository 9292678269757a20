/** A secret that a host echoes is not put together from pieces: ranges that cut it, and messages that each have a part. */

import { once } from 'node:events'
import { connect, createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { connect as tlsConnect } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createBroker } from '../../../src/egress/credentials/broker.ts'
import { envelopeHead, QUIET_MS, websocketHead } from '../../../src/egress/credentials/scrub-frames.ts'
import { createWorld, hosts, RawClient, type World } from '../../contract/egress/world.ts'

const HOST = 'api.example.org'
/** No four characters of it are hexadecimal, as sizes of chunks and placeholders are. */
const VALUE = 'sk_realValueOfTheKeyQRSTUVWXYZ'
/** More on both sides than Cordon asks for. */
const [BEFORE, BEHIND] = ['x'.repeat(40_000), 'y'.repeat(40_000)]
const WHOLE = `${BEFORE}Bearer ${VALUE}${BEHIND}`
const START = WHOLE.indexOf(VALUE)
const CLEAN = WHOLE.replace(VALUE, '*'.repeat(VALUE.length))
let world: World
afterEach(() => world.close())

/** An honest host: it returns what it is sent, and parts of that as RFC 9110 says. */
function echo(request: Http2ServerRequest, response: Http2ServerResponse): void {
  const text = `${BEFORE}${request.headers.authorization}${BEHIND}`
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? []
  if (first + last === '') return void response.end(text)
  const from = first === '' ? Math.max(0, text.length - Number(last)) : Number(first)
  const to = first === '' || last === '' ? text.length - 1 : Math.min(Number(last), text.length - 1)
  if (from > to) return void response.writeHead(416, { 'content-range': `bytes */${text.length}` }).end()
  response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${text.length}`, 'content-length': to - from + 1 })
  response.end(text.slice(from, to + 1))
}

interface Answered {
  readonly status: number
  readonly range: string | undefined
  readonly body: string
}

/** Asks over HTTP/1; `brokered: false` sends the value itself, as a command without Cordon's broker would. */
async function open(brokered = true): Promise<(...lines: string[]) => Promise<Answered>> {
  const { port, key } = await serve(brokered)
  return async (...lines) => {
    const client = await RawClient.connect(port)
    await client.tunnel(`${HOST}:443`)
    const inside = await client.encrypt({ ca: world.ca.pem, servername: HOST })
    const head = [`Host: ${HOST}`, `Authorization: Bearer ${key}`, ...lines]
    inside.send(`GET / HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`)
    const [top = '', body = ''] = (await inside.receive()).split(/\r\n\r\n(.*)/s)
    return { status: Number(top.split(' ')[1]), range: /^content-range: (.*)$/im.exec(top)?.[1], body }
  }
}

async function serve(brokered = true): Promise<{ readonly port: number; readonly key: string }> {
  world = createWorld()
  const server = createSecureServer({ ...world.authority.issue(HOST), allowHTTP1: true }, echo)
  await world.serve(443, server as never)
  const patterns = hosts(HOST).map((rule) => rule.pattern)
  const broker = brokered ? createBroker([{ name: 'KEY', value: VALUE, hosts: patterns }]) : null
  const { port } = await world.open({ allowed: hosts(HOST) }, { broker })
  return { port, key: broker?.environment.KEY ?? VALUE }
}

const CLOSE = 'Connection: close'
const hasPart = (text: string) =>
  Array.from({ length: VALUE.length - 3 }, (_, at) => VALUE.slice(at, at + 4)).some((part) => text.includes(part))

describe('a range', () => {
  const cut = START + 15
  const size = WHOLE.length
  const ROWS: readonly [range: string, from: number, to: number][] = [
    [`bytes=${START - 50}-${cut - 1}`, START - 50, cut - 1],
    [`bytes=${cut}-${cut + 49}`, cut, cut + 49],
    [`bytes=${cut}-${cut}`, cut, cut],
    [`bytes=${cut}-`, cut, size - 1],
    [`bytes=-${size - cut}`, cut, size - 1],
    [`bytes=0-${cut}`, 0, cut],
    [`BYTES = ${cut}-${cut + 9}`, cut, cut + 9],
    ['bytes=5-9', 5, 9],
    [`bytes=${size - 5}-${size + 5}`, size - 5, size - 1],
  ]
  it.each(ROWS)('%s is what was asked for, without the secret', async (range, from, to) => {
    const ask = await open()
    expect(await ask(CLOSE, `Range: ${range}`)).toEqual({
      status: 206,
      range: `bytes ${from}-${to}/${size}`,
      body: CLEAN.slice(from, to + 1),
    })
  })

  it.each([
    ['several ranges', `Range: bytes=0-5,${cut}-${cut + 9}`],
    ['a unit of the host', `Range: items=${cut}-${cut + 9}`],
    ['two fields', `Range: bytes=0-5\r\nRange: bytes=${cut}-${cut + 9}`],
    ['two names', `Range: bytes=0-5\r\nX-Ms-Range: bytes=${cut}-${cut + 9}`],
    ['no numbers', 'Range: bytes=-'],
  ])('of %s is answered as a whole', async (_, line) => {
    const ask = await open()
    const { status, body } = await ask(CLOSE, line)
    expect([status, hasPart(body)]).toEqual([200, false])
  })

  it('over HTTP/2 is the same', async () => {
    const { port, key } = await serve()
    const client = await RawClient.connect(port)
    await client.tunnel(`${HOST}:443`)
    client.socket.removeAllListeners('data')
    const socket = tlsConnect({ socket: client.socket, ca: world.ca.pem, servername: HOST, ALPNProtocols: ['h2'] })
    const session = connect(`https://${HOST}`, { createConnection: () => socket })
    const request = session.request({ authorization: `Bearer ${key}`, range: `bytes=${cut}-${cut + 49}` })
    const [head] = await once(request, 'response')
    expect(head).toMatchObject({ ':status': 206, 'content-range': `bytes ${cut}-${cut + 49}/${size}` })
    expect(Buffer.concat(await request.toArray()).toString()).toBe(CLEAN.slice(cut, cut + 50))
    session.destroy()
  })

  it('behind the end is refused as by the host', async () => {
    const ask = await open()
    expect(await ask(CLOSE, `Range: bytes=${size}-`)).toEqual({ status: 416, range: `bytes */${size}`, body: '' })
  })

  it('with an upgrade that the host does not make is cut too', async () => {
    const ask = await open()
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x', 'Sec-WebSocket-Version: 13']
    const { body } = await ask(...upgrade, `Range: bytes=${cut + 16 * 1024}-${cut + 17 * 1024}`)
    expect(hasPart(body)).toBe(false)
  })

  it('control: without the broker a part comes back', async () => {
    const ask = await open(false)
    expect(hasPart((await ask(CLOSE, `Range: bytes=${cut}-${cut + 49}`)).body)).toBe(true)
  })
})

describe('messages that each have a part', () => {
  // The pauses are those of the row, however busy the machine is.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())
  const patterns = hosts(HOST).map((rule) => rule.pattern)
  const ways = [
    { name: 'WebSocket', head: websocketHead, frame: (text: string) => [0x81, text.length, ...Buffer.from(text)] },
    { name: 'gRPC', head: envelopeHead, frame: (text: string) => [0, 0, 0, 0, text.length, ...Buffer.from(text)] },
  ]
  const cuts = { halves: [0, 15], thirds: [0, 10, 20], 'single bytes': Array.from(VALUE, (_, at) => at) }
  it.each(
    ways.flatMap((way) => Object.entries(cuts).map(([name, at]) => ({ ...way, name: `${way.name}, ${name}`, at }))),
  )('$name', async ({ head, frame, at }) => {
    world = createWorld()
    const parts = at.map((from, index) => VALUE.slice(from, at[index + 1]))
    const given = async (pause: number): Promise<Buffer> => {
      const scrub = createBroker([{ name: 'KEY', value: VALUE, hosts: patterns }]).scrubFrames(head)
      const got = scrub.toArray()
      for (const part of parts) {
        scrub.write(Buffer.from(frame(part)))
        if (pause > 0) await vi.advanceTimersByTimeAsync(pause)
      }
      scrub.end(Buffer.from(frame('and more')))
      return Buffer.concat(await got)
    }
    const framed = (texts: readonly string[]) => Buffer.concat(texts.map((text) => Buffer.from(frame(text))))
    const hidden = parts.map((part) => '*'.repeat(part.length))
    expect(await given(0), 'together').toEqual(framed([...hidden, 'and more']))
    expect(await given(QUIET_MS / 10), 'one after the other').toEqual(framed([...hidden, 'and more']))
    // A host that waits between them intends to return it: only the last part is overwritten.
    if (parts.length > 3) return
    const seen = framed([...parts.slice(0, -1), hidden.at(-1)!, 'and more'])
    expect(await given(QUIET_MS * 3), 'a host that waits').toEqual(seen)
  })

  it('the end of a message passes without a next one, and pings do not keep it back', async () => {
    world = createWorld()
    const scrub = createBroker([{ name: 'KEY', value: VALUE, hosts: patterns }]).scrubFrames(websocketHead)
    const got: Buffer[] = []
    scrub.on('data', (chunk: Buffer) => got.push(chunk))
    scrub.write(Buffer.from([0x81, 5, ...Buffer.from('hello')]))
    for (let at = 0; at < 5; at++) {
      await vi.advanceTimersByTimeAsync(QUIET_MS / 2)
      scrub.write(Buffer.from([0x89, 0]))
    }
    expect(Buffer.concat(got).toString('latin1')).toContain('hello')
    scrub.write(Buffer.from([0x81, 5, ...Buffer.from('again'), 0x81, 5, 0x61]))
    await vi.advanceTimersByTimeAsync(QUIET_MS * 3)
    expect(Buffer.concat(got).toString('latin1')).toContain('again')
    scrub.destroy()
  })
})
