/** Limits of a host: requests and bytes of a session, counted over its commands, with a question at the limit. */

import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fetchGuarded } from '../../../src/egress/fetch.ts'
import type { HostQuestion } from '../../../src/egress/route/gate.ts'
import { HostUsage } from '../../../src/egress/route/usage.ts'
import type { HostRule } from '../../../src/policy/policy.ts'
import { createWorld, hosts, type OpenProxy, RawClient, type World } from './world.ts'

const HOST = 'api.example.org'
let world: World
let usage: HostUsage
let arrived: number

beforeEach(async () => {
  world = createWorld()
  usage = new HostUsage()
  arrived = 0
  await world.serveHttp((message, response) => {
    message.on('data', (piece: Buffer) => {
      arrived += piece.length
    })
    message.on('error', () => {})
    message.on('end', () => response.end('done\n'))
  })
})
afterEach(() => world.close())

const limited = (limits: Pick<HostRule, 'maxRequests' | 'maxUpload'>, ...more: HostRule[]) => [
  ...hosts({ host: HOST, ...limits }),
  ...more,
]

interface Asks {
  readonly answers?: boolean[]
  readonly asked?: string[]
}

function open(allowed: readonly HostRule[], { answers, asked = [] }: Asks = {}): Promise<OpenProxy> {
  const ask = async ({ about }: HostQuestion) => {
    asked.push(about?.message ?? 'a host')
    return answers!.shift() ?? false
  }
  return world.open({ allowed }, { usage, ...(answers && { ask }) })
}

/** The status of a request; `pieces` are sent without a length. */
function send({ port }: OpenProxy, pieces: readonly Buffer[] = []): Promise<number> {
  return new Promise((resolve) => {
    const method = pieces.length === 0 ? 'GET' : 'POST'
    const headers = { host: HOST }
    const sent = request({ host: '127.0.0.1', port, path: `http://${HOST}/`, method, headers, agent: false })
    sent.on('error', () => resolve(0))
    sent.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode!)))
    for (const piece of pieces) sent.write(piece)
    sent.end()
  })
}

const times = (count: number, proxy: OpenProxy) =>
  Promise.all(Array.from({ length: count }, () => send(proxy))).then((all) => all.sort())

describe('requests', () => {
  it('so many, over all commands of the session, and none beyond them however many come at once', async () => {
    const rules = limited({ maxRequests: 3 })
    expect(await send(await open(rules))).toBe(200)
    expect(await times(8, await open(rules))).toEqual([200, 200, 403, 403, 403, 403, 403, 403])
  })

  it('control: without a limit all of them', async () => {
    expect(await times(8, await open(hosts(HOST)))).toEqual(Array.from({ length: 8 }, () => 200))
  })

  it('a yes gives as many again, and a no is for the session', async () => {
    const asked: string[] = []
    const proxy = await open(limited({ maxRequests: 2 }), { answers: [true, false], asked })
    expect(await times(6, proxy)).toEqual([200, 200, 200, 200, 403, 403])
    expect(await send(proxy)).toBe(403)
    expect(asked).toEqual([
      `A running command reached a limit: max_requests of ${HOST} is 2 a session, and 2 are used. A yes gives it 2 more.`,
      `A running command reached a limit: max_requests of ${HOST} is 2 a session, and 4 are used. A yes gives it 2 more.`,
    ])
  })

  it('attack: another entry without a limit does not lift it', async () => {
    const proxy = await open(limited({ maxRequests: 1 }, ...hosts(HOST, '*.example.org')))
    expect(await times(3, proxy)).toEqual([200, 403, 403])
  })
})

describe('bytes', () => {
  const piece = Buffer.alloc(40_000, 'x')

  it('a body is cut before the byte that is too many', async () => {
    const proxy = await open(limited({ maxUpload: 100_000 }))
    expect(await send(proxy, [piece, piece])).toBe(200)
    expect(await send(proxy, [piece])).not.toBe(200)
    expect(arrived).toBe(80_000)
  })

  it('a yes lets the rest of the same body through', async () => {
    const proxy = await open(limited({ maxUpload: 100_000 }), { answers: [true] })
    expect(await send(proxy, [piece, piece, piece])).toBe(200)
    expect(arrived).toBe(120_000)
  })

  it('attack: data in addresses and headers counts as well', async () => {
    const proxy = await open(limited({ maxUpload: 5_000 }))
    const client = await RawClient.connect(proxy.port)
    client.send(`GET http://${HOST}/?${'x'.repeat(3_000)} HTTP/1.1\r\nHost: ${HOST}\r\nX: ${'y'.repeat(3_000)}\r\n\r\n`)
    expect(await client.receive((text) => text.includes('\r\n\r\n'))).toMatch(/403 Blocked by Cordon \(limit-reached\)/)
    client.close()
  })

  it('attack: a tunnel that is not read does not go around it', async () => {
    const proxy = await open(limited({ maxUpload: 100 }, ...hosts({ host: HOST, tls: 'pass' }, `${HOST}:9000`)))
    const client = await RawClient.connect(proxy.port)
    await client.tunnel(`${HOST}:9000`)
    client.send('anything but a request\r\n\r\n')
    expect(await client.receive()).not.toContain('done')
  })
})

it('the web tools count into the same limits', async () => {
  const rules = { allowed: limited({ maxRequests: 2 }), denied: [], allowPrivate: false, command: 'webfetch' }
  const get = () => fetchGuarded(`http://${HOST}/`, { ...world, rules, usage })
  expect('response' in (await get())).toBe(true)
  expect(await send(await open(rules.allowed))).toBe(200)
  expect(await get()).toMatchObject({ refusal: { code: 'limit-reached' } })
})
