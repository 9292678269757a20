/** A tunnel to the port of TLS carries TLS, and nothing in the clear. */

import { afterEach, expect, it } from 'vitest'
import { createWorld, hosts, RawClient, type World } from './world.ts'

let world: World
afterEach(() => world.close())

const HOST = 'api.example.org'

it.each([
  ['a request', `GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['other bytes', 'EHLO example.org\r\n'],
])('%s in the clear is refused on port 443', async (_, bytes) => {
  world = createWorld()
  let reached = 0
  const server = await world.serveHttps((_, response) => response.end('reached'))
  server.on('connection', () => reached++)
  const { port } = await world.open({ allowed: hosts(HOST) })
  const client = await RawClient.connect(port)
  expect(await client.tunnel(`${HOST}:443`)).toContain(' 200 ')
  client.send(bytes)
  expect(await client.receive()).not.toContain('reached')
  expect(world.events.at(-1)).toMatchObject({ verdict: 'deny', code: 'not-tls' })
  expect(reached).toBe(0)
})
