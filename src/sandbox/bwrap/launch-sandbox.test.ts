import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { InsideServers } from './launch-sandbox.ts'

/** A control channel that remembers what was asked of the init, and sockets that remember that they were dropped. */
function layout(ports: readonly number[] = [3000], agrees: ((port: number) => boolean) | null = null) {
  const asked: number[][] = []
  const events: string[] = []
  const connects: (() => Promise<Socket | null>)[] = []
  const control = { write: (bytes: Uint8Array) => asked.push([...bytes]) } as unknown as Socket
  const servers = new InsideServers(ports, control, {
    onServer: ({ port, connect }) => {
      events.push(`up ${port}`)
      connects.push(connect)
      return () => events.push(`down ${port}`)
    },
    ...(agrees && {
      onPort: async (port: number) => {
        events.push(`asked ${port}`)
        return agrees(port)
      },
    }),
  })
  const socket = (name: string) =>
    ({ on: () => {}, destroy: () => events.push(`dropped ${name}`) }) as unknown as Socket
  return { servers, asked, events, connects, socket }
}

const listening = (port: number, now = true) =>
  ({ kind: 'server', port, listening: now, listed: port === 3000 }) as const

describe('InsideServers', () => {
  test('reports a port once while it is served, and its end', () => {
    const { servers, events } = layout()
    servers.take(listening(3000))
    servers.take(listening(3000))
    servers.take(listening(3000, false))
    servers.take(listening(3000))
    expect(events).toEqual(['up 3000', 'down 3000', 'up 3000'])
    servers.close()
    servers.close()
    expect(events.at(-1)).toBe('down 3000')
    expect(events).toHaveLength(4)
  })

  test('does not believe in a port that was not ordered', () => {
    const { servers, events } = layout()
    servers.take(listening(3001))
    expect(events).toEqual([])
  })

  test('asks about such a port once, and opens it when somebody agrees', async () => {
    const { servers, events } = layout([3000], (port) => port === 5173)
    for (const port of [5173, 5432, 5173, 40_000]) servers.take(listening(port))
    await new Promise(setImmediate)
    servers.take(listening(5432, false))
    servers.take(listening(5432))
    await new Promise(setImmediate)
    expect(events).toEqual(['asked 5173', 'asked 5432', 'up 5173'])
  })

  test('asks the init, and hands on what came for that very question', async () => {
    const { servers, asked, connects, socket } = layout()
    servers.take(listening(3000))
    const first = connects[0]!()
    const second = connects[0]!()
    expect(asked).toEqual([
      [0x43, 0, 0xb8, 0x0b, 1, 0],
      [0x43, 0, 0xb8, 0x0b, 2, 0],
    ])
    const sockets = [socket('a'), socket('b')]
    servers.connected(2, sockets[1])
    servers.connected(1, sockets[0])
    expect(await Promise.all([first, second])).toEqual(sockets)
  })

  test('drops a socket that nobody asked for, and one that comes twice', async () => {
    const { servers, connects, events, socket } = layout()
    servers.connected(7, socket('stray'))
    servers.take(listening(3000))
    const asking = connects[0]!()
    servers.connected(1, socket('right'))
    servers.connected(1, socket('again'))
    await asking
    expect(events).toEqual(['dropped stray', 'up 3000', 'dropped again'])
  })

  test.each([
    {
      name: 'refused inside',
      end: (servers: InsideServers) => servers.take({ kind: 'unconnected', id: 1, errno: 111 }),
    },
    { name: 'closed', end: (servers: InsideServers) => servers.close() },
    { name: 'a word without a socket', end: (servers: InsideServers) => servers.connected(1, undefined) },
  ])('answers with nothing: $name', async ({ end }) => {
    const { servers, connects } = layout()
    servers.take(listening(3000))
    const asking = connects[0]!()
    end(servers)
    expect(await asking).toBeNull()
  })

  test('does not ask about a port that is no longer served, nor beyond its limit', async () => {
    const { servers, connects, asked } = layout()
    servers.take(listening(3000))
    for (let count = 0; count < 300; count++) void connects[0]!()
    expect(asked).toHaveLength(256)
    servers.take(listening(3000, false))
    expect(await connects[0]!()).toBeNull()
    servers.close()
    expect(await connects[0]!()).toBeNull()
  })
})
