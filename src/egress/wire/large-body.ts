/** Large bodies of a known length: their bytes go from connection to connection, past the HTTP parser and its copies. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { divert, isFed } from './feed.ts'

/** Below this, keeping the host's connection for the next request is worth more. */
const LARGE = 4 * 1024 * 1024
/** What is written at once: TLS comes in pieces of 16 KB, and each write costs as much as encrypting one. */
const WRITE = 128 * 1024
const SLAB = WRITE + 64 * 1024
/** Written and not yet taken by the client's connection; beyond it nothing more is read. */
const MAX_HELD = 4

/** The length of a body that is worth it; null for any other. */
export function largeLength(incoming: IncomingMessage, method: string): number | null {
  const { statusCode, headers } = incoming
  if (method === 'HEAD' || (statusCode !== 200 && statusCode !== 206) || headers['transfer-encoding'] !== undefined)
    return null
  // The parser must be the one reader that we take the place of.
  if (!isFed(incoming.socket) || incoming.socket.listenerCount('data') !== 1) return null
  const length = headers['content-length']
  return length !== undefined && Number(length) >= LARGE ? Number(length) : null
}

/**
 * Streams the rest of a response whose head was parsed and of whose body no one has read yet. The host's connection is
 * given up afterwards: what it sends beyond the length it told is never checked.
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
  let held = 0
  let flushing = false

  function take(piece: Buffer): boolean {
    // No one waits any more, and the request that we answer is about to be given up.
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
    return held < MAX_HELD
  }

  function flush(): void {
    flushing = false
    if (filled === 0 || response.destroyed) return
    const full = slab
    const bytes = full.subarray(0, filled)
    filled = 0
    held++
    response.write(bytes, () => {
      free.push(full)
      if (held-- === MAX_HELD && left > 0) socket.resume()
    })
    slab = free.pop() ?? Buffer.allocUnsafeSlow(SLAB)
  }

  // On the next tick the parser is done with the piece that held the head, and what it read of the body waits here.
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
