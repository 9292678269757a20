/** Takes a number of bytes from a connection, and leaves the rest. */

import type { Duplex } from 'node:stream'

/** Null if the connection ends early. */
export async function takeBytes(socket: Duplex, count: number): Promise<Buffer | null> {
  if (count === 0) return Buffer.alloc(0)
  for (;;) {
    const bytes: Buffer | null = socket.read(count)
    if (bytes !== null) return bytes.length === count ? bytes : null
    if (socket.destroyed || socket.readableEnded) return null
    await new Promise<void>((resolve) => {
      const names = ['readable', 'end', 'close', 'error']
      const wake = () => {
        for (const name of names) socket.off(name, wake)
        resolve()
      }
      for (const name of names) socket.on(name, wake)
    })
  }
}

/** The first byte, left in place; null if none comes. */
export async function peekByte(socket: Duplex): Promise<number | null> {
  const first = await takeBytes(socket, 1)
  if (first === null) return null
  socket.unshift(first)
  return first[0]!
}
