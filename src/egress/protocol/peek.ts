/** Looking at the first bytes of a connection without taking them. */

import type { Duplex } from 'node:stream'

/** `ended`: the peer went away first. `silent`: not a byte came in time. `stalled`: some did, and not enough. */
export type Peeked<T> = { readonly value: T } | 'ended' | 'silent' | 'stalled'

/** Collects bytes until `read` makes something of them; all of them go back, to be read by whoever comes next. */
export function peek<T>(socket: Duplex, read: (bytes: Buffer) => T | null, milliseconds: number): Promise<Peeked<T>> {
  return new Promise((resolve) => {
    let held: Buffer = Buffer.alloc(0)
    const timer = setTimeout(() => finish(held.length === 0 ? 'silent' : 'stalled'), milliseconds)
    socket.on('readable', onReadable)
    socket.on('end', onEnd)
    socket.on('close', onEnd)
    socket.on('error', onEnd)

    function onReadable(): void {
      for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read()) {
        held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      }
      if (held.length === 0) return
      try {
        const value = read(held)
        if (value !== null) finish({ value })
      } catch {
        // Thrown on it would end the whole session, and not just this connection.
        finish('ended')
      }
    }

    function onEnd(): void {
      finish('ended')
    }

    function finish(result: Peeked<T>): void {
      clearTimeout(timer)
      socket.off('readable', onReadable)
      socket.off('end', onEnd)
      socket.off('close', onEnd)
      socket.off('error', onEnd)
      if (held.length > 0 && !socket.destroyed && !socket.readableEnded) socket.unshift(held)
      resolve(result)
    }
  })
}
