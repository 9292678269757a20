/** Web tools in contained mode: a new host, or a request that may change something, waits for a person; a yes is remembered, a no reaches no one. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openSessionWorld, type SessionWorld } from '../../contract/session/session-world.ts'

let server: Server
let origin: string
let seen: string[]
let world: SessionWorld

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(request.method!)
    response.setHeader('content-type', 'text/html')
    response.end('<title>T</title>reached')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))
beforeEach(() => {
  seen = []
  world = openSessionWorld()
})
afterEach(() => world.close())

async function open(mode: string, hosts: readonly unknown[]) {
  const http = { allow_private_hosts: true, ...(hosts.length > 0 && { allowed_hosts: hosts }) }
  const object = { schema_version: 1, permission: { mode }, http }
  return (await world.open({ manifest: { object } })).openSession()
}

const url = () => `http://${origin}/`
const body = (method: string) => (method === 'GET' || method === 'HEAD' ? {} : { body: 'x' })

describe('attacks', () => {
  it.each([
    ['http', 'GET', 'new'],
    ['http', 'POST', 'new'],
    ['webfetch', undefined, 'new'],
    ['http', 'POST', 'listed'],
    ['http', 'PUT', 'listed'],
    ['http', 'PATCH', 'listed'],
    ['http', 'DELETE', 'listed'],
    ['http', 'post', 'listed'],
  ])('%s %s to a host that is %s asks, and a no sends nothing', async (tool, method, host) => {
    const session = await open('contained', host === 'listed' ? [origin] : [])
    const result = await session.call(tool, { url: url(), ...(method && { method, ...body(method) }) })
    expect(result).toMatchObject({ status: 'refused', refusal: { kind: 'declined' } })
    const code = method === undefined || method === 'GET' ? 'host-not-granted' : 'remote-write'
    expect(world.asked.map(({ decision }) => decision.reason.code)).toEqual([code])
    expect(seen).toEqual([])
  })

  it('one entry that lists POST says nothing about DELETE', async () => {
    const session = await open('contained', [{ host: origin, methods: ['GET', 'POST'] }])
    expect(await session.call('http', { url: url(), method: 'DELETE', body: 'x' })).not.toMatchObject({
      status: 'done',
    })
    expect(seen).toEqual([])
  })
})

describe('controls', () => {
  it.each([
    ['contained', 'GET', () => [origin]],
    ['contained', 'HEAD', () => [origin]],
    ['contained', 'POST', () => [{ host: origin, methods: ['POST'] }]],
    ['auto', 'POST', () => [origin]],
  ])('in %s mode a granted %s goes out unasked', async (mode, method, hosts) => {
    const session = await open(mode, hosts())
    expect(await session.call('http', { url: url(), method, ...body(method) })).toMatchObject({ status: 'done' })
    expect(world.asked).toEqual([])
    expect(seen).toEqual([method])
  })

  it('a yes for the session is asked for once', async () => {
    world.answer = ({ suggestions }) => ({ kind: 'session', grant: suggestions[0]! })
    const session = await open('contained', [])
    for (let time = 0; time < 2; time++)
      expect(await session.call('http', { url: url(), method: 'POST', body: 'x' })).toMatchObject({ status: 'done' })
    expect(world.asked).toHaveLength(1)
    expect(seen).toEqual(['POST', 'POST'])
  })
})
