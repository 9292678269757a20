/** Reads the first bytes of a connection without taking them. */

import type { Duplex } from 'node:stream'

/** `ended`: the peer left first. `silent`: no byte in time. `stalled`: too few bytes. */
export type Peeked<T> = { readonly value: T } | 'ended' | 'silent' | 'stalled'

/** Collects bytes until `read` returns a value; all of them are unshifted for the next reader. */
export function peek<T>(socket: Duplex, read: (bytes: Buffer) => T | null, milliseconds: number): Promise<Peeked<T>> {
  return new Promise((resolve) => {
    let space: Buffer = Buffer.alloc(0)
    let length = 0
    const timer = setTimeout(() => finish(length === 0 ? 'silent' : 'stalled'), milliseconds)
    socket.on('readable', onReadable)
    socket.on('end', onEnd)
    socket.on('close', onEnd)
    socket.on('error', onEnd)

    function onReadable(): void {
      for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read()) {
        take(chunk)
      }
      if (length === 0) return
      try {
        const value = read(space.subarray(0, length))
        if (value !== null) finish({ value })
      } catch {
        // A throw here would end the whole session, not just this connection.
        finish('ended')
      }
    }

    // Doubles the buffer, so that byte-by-byte clients do not cause a copy per byte.
    function take(chunk: Buffer): void {
      if (length === 0) space = chunk
      else {
        if (length + chunk.length > space.length) {
          const grown = Buffer.allocUnsafeSlow(2 * (length + chunk.length))
          space.copy(grown, 0, 0, length)
          space = grown
        }
        chunk.copy(space, length)
      }
      length += chunk.length
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
      if (length > 0 && !socket.destroyed && !socket.readableEnded) socket.unshift(space.subarray(0, length))
      resolve(result)
    }
  })
}
