/** A shared read buffer: the parser and a sink still see exactly the sent bytes. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFeed, divert, fedSocket, isFed } from './feed.ts'

let server: Server
let accepted: Socket[]
beforeEach(async () => {
  accepted = []
  server = createServer((socket) => accepted.push(socket))
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  for (const socket of accepted) socket.destroy()
  return new Promise((resolve) => server.close(resolve))
})

const feed = createFeed()

async function open(): Promise<{ near: Socket; far: Socket }> {
  const arrived = once(server, 'connection')
  const near = fedSocket(feed, (onread) =>
    connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', onread }),
  )
  const [far] = (await arrived) as [Socket]
  return { near, far }
}

describe('a fed socket', () => {
  it('reads as any other, and keeps what it read when others read into the same buffer', async () => {
    const sockets = [await open(), await open(), await open()]
    const read = sockets.map(({ near }) => {
      const parts: Buffer[] = []
      near.on('data', (chunk: Buffer) => parts.push(chunk))
      return parts
    })
    for (let round = 0; round < 20; round++) {
      for (const [index, { far }] of sockets.entries()) far.write(Buffer.alloc(10_000, index + 1))
    }
    for (const { far } of sockets) far.end()
    await Promise.all(sockets.map(({ near }) => once(near, 'close')))
    for (const [index, parts] of read.entries()) {
      expect(Buffer.concat(parts).equals(Buffer.alloc(200_000, index + 1))).toBe(true)
    }
  })

  it('gives the rest to a sink, which may stop it', async () => {
    const { near, far } = await open()
    far.write('head')
    const [head] = (await once(near, 'data')) as [Buffer]
    expect(head.toString()).toBe('head')
    expect(isFed(near)).toBe(true)
    let bytes = 0
    let stopped = 0
    divert(near, (piece) => {
      bytes += piece.length
      stopped++
      return false
    })
    expect(isFed(near)).toBe(false)
    const body = Buffer.alloc(1 << 20, 'b')
    far.end(body)
    while (bytes < body.length) {
      const before = stopped
      near.resume()
      while (stopped === before) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(bytes).toBe(body.length)
    expect(stopped).toBeGreaterThan(1)
    near.resume()
    await once(near, 'close')
  })

  it('is distinguished from a socket that reads for itself', async () => {
    const { near, far } = await open()
    expect(isFed(far)).toBe(false)
    near.destroy()
  })
})
