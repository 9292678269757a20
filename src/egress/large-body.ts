/** Large bodies of a known length: their bytes go from connection to connection, past the HTTP parser and its copies. */

import type { IncomingMessage, ServerResponse } from 'node:http'

/** Below this, keeping the host's connection for the next request is worth more. */
const LARGE = 4 * 1024 * 1024

/** The length of a body that is worth it; null for any other. */
export function largeLength(incoming: IncomingMessage, method: string): number | null {
  const { statusCode, headers } = incoming
  if (method === 'HEAD' || (statusCode !== 200 && statusCode !== 206) || headers['transfer-encoding'] !== undefined)
    return null
  // The parser must be the one reader that we take the place of.
  if (incoming.socket.listenerCount('data') !== 1) return null
  const length = headers['content-length']
  return length !== undefined && Number(length) >= LARGE ? Number(length) : null
}

/**
 * Streams the rest of a response whose head was parsed and of whose body nobody has read yet. The host's connection is
 * given up afterwards: what it sends beyond the length it told is never looked at.
 */
export function carryLargeBody(
  incoming: IncomingMessage,
  response: ServerResponse,
  length: number,
  onBytes: (count: number) => void,
): void {
  let left = length
  const { socket } = incoming

  function take(chunk: Buffer): void {
    const part = chunk.length > left ? chunk.subarray(0, left) : chunk
    left -= part.length
    onBytes(part.length)
    const more = response.write(part)
    if (left === 0) {
      response.end()
      socket.destroy()
    } else if (!more) socket.pause()
  }

  // On the next tick the parser is done with the piece that held the head, and what it read of the body waits here.
  process.nextTick(() => {
    if (socket.destroyed || response.destroyed) return void socket.destroy()
    for (const listener of socket.listeners('data')) socket.off('data', listener as () => void)
    response.on('drain', () => socket.resume())
    for (let chunk: Buffer | null = incoming.read(); chunk !== null && left > 0; chunk = incoming.read()) take(chunk)
    if (left === 0) return
    socket.on('data', take)
    if (!response.writableNeedDrain) socket.resume()
  })
}
