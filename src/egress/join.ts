/** Joining two connections: bytes both ways, back-pressure by pipes, half-closed sides respected, both gone together. */

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface JoinedBytes {
  readonly up: number
  readonly down: number
}

/** Resolves when both sides are closed. */
export function join(client: Duplex, host: Duplex, idleMilliseconds: number): Promise<JoinedBytes> {
  let up = 0
  let down = 0
  client.on('data', (chunk: Buffer) => {
    up += chunk.length
  })
  host.on('data', (chunk: Buffer) => {
    down += chunk.length
  })
  client.pipe(host)
  host.pipe(client)
  return Promise.all([closing(client, host, idleMilliseconds), closing(host, client, idleMilliseconds)]).then(() => ({
    up,
    down,
  }))
}

function closing(side: Duplex, other: Duplex, idleMilliseconds: number): Promise<void> {
  const socket = side as Socket
  if (typeof socket.setTimeout === 'function') socket.setTimeout(idleMilliseconds, () => side.destroy())
  side.on('error', () => side.destroy())
  return new Promise((resolve) => {
    const closed = () => {
      // What was already read from this side is still on its way to the other.
      if (side.readableEnded && 'destroySoon' in other) (other as Socket).destroySoon()
      else other.destroy()
      resolve()
    }
    if (side.destroyed) closed()
    else side.once('close', closed)
  })
}
