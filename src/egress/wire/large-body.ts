/**
 * Large bodies of known length: passes their bytes between connections without the HTTP parser and
 * its copies.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { divert, isFed } from './feed.ts'

/** Below this, reusing the host's connection is worth more. */
const LARGE = 4 * 1024 * 1024
/** The size of a write: TLS pieces have 16 KB, and each write costs as much as encrypting one. */
const WRITE = 128 * 1024
const SLAB = WRITE + 64 * 1024
/** Pending writes to the client's connection; above it reading stops. */
const MAX_HELD = 4

/** The length of a suitable body; null for any other. */
export function largeLength(incoming: IncomingMessage, method: string): number | null {
  const { statusCode, headers } = incoming
  if (method === 'HEAD' || (statusCode !== 200 && statusCode !== 206) || headers['transfer-encoding'] !== undefined)
    return null
  // The parser must be the only reader, because the sink replaces it.
  if (!isFed(incoming.socket) || incoming.socket.listenerCount('data') !== 1) return null
  const length = headers['content-length']
  return length !== undefined && Number(length) >= LARGE ? Number(length) : null
}

/**
 * Streams the rest of a response whose head was parsed, and whose body is unread. Closes the host's
 * connection afterwards: bytes beyond the declared length are never checked.
 */
export function carryLargeBody(
  incoming: IncomingMessage,
  response: ServerResponse,
  length: number,
  onBytes: (count: number) => void,
): void {
  const { socket } = incoming
  const free: Buffer[] = []
  let left = length
  let slab: Buffer = Buffer.allocUnsafeSlow(SLAB)
  let filled = 0
  let buffered = 0
  let flushing = false

  function take(piece: Buffer): boolean {
    // The client has gone, and the request is about to be closed.
    if (response.destroyed) return false
    const part = Math.min(piece.length, left)
    if (filled + part > SLAB) flush()
    piece.copy(slab, filled, 0, part)
    filled += part
    left -= part
    onBytes(part)
    if (left === 0) {
      flush()
      response.end()
      socket.destroy()
      return false
    }
    if (filled >= WRITE) flush()
    else if (!flushing) {
      flushing = true
      setImmediate(flush)
    }
    return buffered < MAX_HELD
  }

  function flush(): void {
    flushing = false
    if (filled === 0 || response.destroyed) return
    const full = slab
    const bytes = full.subarray(0, filled)
    filled = 0
    buffered++
    response.write(bytes, () => {
      free.push(full)
      if (buffered-- === MAX_HELD && left > 0) socket.resume()
    })
    slab = free.pop() ?? Buffer.allocUnsafeSlow(SLAB)
  }

  // On the next tick the parser has finished the piece with the head, and its part of the body is
  // buffered.
  process.nextTick(() => {
    if (socket.destroyed || response.destroyed) return void socket.destroy()
    for (const listener of socket.listeners('data')) socket.off('data', listener as () => void)
    divert(socket, take)
    for (let chunk: Buffer | null = incoming.read(); chunk !== null && left > 0; chunk = incoming.read()) {
      for (let at = 0; at < chunk.length && left > 0; at += WRITE) take(chunk.subarray(at, at + WRITE))
    }
    if (left > 0) socket.resume()
  })
}
