/** Servers on the host's own loopback: reached where the manifest grants them, and no other port beside them. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resultText } from '../../src/call/tool-result.ts'
import { openSessionWorld, type SessionWorld } from '../contract/session/session-world.ts'

let world: SessionWorld
let servers: Server[]
let ports: number[]

beforeEach(async () => {
  world = openSessionWorld()
  servers = ['first', 'second'].map((name) => createServer((_, response) => response.end(`the ${name} of the host`)))
  for (const server of servers) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ports = servers.map((server) => (server.address() as AddressInfo).port)
})
afterEach(async () => {
  await world.close()
  for (const server of servers) await new Promise((resolve) => server.close(resolve))
})

async function fetchFrom(url: string, domains: readonly string[], allowPrivate: boolean): Promise<string> {
  const object = {
    schema_version: 1,
    permission: { mode: 'auto' },
    http: { allow_private_hosts: allowPrivate },
    capabilities: { allow: { commands: { default_domains: [...domains] } } },
  }
  const session = (await world.open({ manifest: { object } })).openSession()
  return resultText(await session.call('bash', { command: `curl -sS ${url}` }))
}

describe('a server on 127.0.0.1 of the host', () => {
  it.each(['127.0.0.1', 'localhost'])('is reached as %s where its port is granted', async (name) => {
    const text = await fetchFrom(`http://${name}:${ports[0]}/`, [`${name}:${ports[0]}`], true)
    expect(text).toContain('the first of the host')
  })

  it.each([
    { name: 'another port', domains: () => [`127.0.0.1:${ports[0]}`], port: () => ports[1], allowPrivate: true },
    {
      name: 'the port without private hosts',
      domains: () => [`127.0.0.1:${ports[0]}`],
      port: () => ports[0],
      allowPrivate: false,
    },
    {
      name: 'the port where another host is granted',
      domains: () => ['example.com'],
      port: () => ports[0],
      allowPrivate: true,
    },
  ])('is not reached: $name', async ({ domains, port, allowPrivate }) => {
    const text = await fetchFrom(`http://127.0.0.1:${port()}/`, domains(), allowPrivate).catch(String)
    expect(text).not.toContain('of the host')
    expect(text).toMatch(/blocked by Cordon|onnect|private|loopback/)
  })
})
