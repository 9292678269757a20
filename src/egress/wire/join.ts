/**
 * Connects two connections: bytes both ways with back-pressure; half-closed sides stay open, and
 * both end together.
 */

import type { Socket } from 'node:net'
import type { Duplex, Transform } from 'node:stream'

export interface JoinedBytes {
  readonly up: number
  readonly down: number
}

/** Transforms of the bytes: `down` from the host, `up` from the client. */
export interface RelayTransforms {
  readonly down?: Transform | undefined
  readonly up?: Transform | undefined
}

/** Resolves when both sides are closed. */
export function join(
  client: Duplex,
  host: Duplex,
  idleMilliseconds: number,
  { down: through, up: upward }: RelayTransforms = {},
): Promise<JoinedBytes> {
  let up = 0
  let down = 0
  client.on('data', (chunk: Buffer) => {
    up += chunk.length
  })
  host.on('data', (chunk: Buffer) => {
    down += chunk.length
  })
  if (upward) {
    upward.once('error', () => host.destroy())
    client.pipe(upward).pipe(host)
  } else client.pipe(host)
  if (through) {
    through.once('error', () => host.destroy())
    host.pipe(through).pipe(client)
  } else host.pipe(client)
  return Promise.all([closing(client, host, idleMilliseconds), closing(host, client, idleMilliseconds, through)]).then(
    () => ({
      up,
      down,
    }),
  )
}

function closing(side: Duplex, other: Duplex, idleMilliseconds: number, through?: Transform): Promise<void> {
  const socket = side as Socket
  if (typeof socket.setTimeout === 'function') socket.setTimeout(idleMilliseconds, () => side.destroy())
  side.on('error', () => side.destroy())
  return new Promise((resolve) => {
    const closed = () => {
      // Bytes read from this side are still being written to the other.
      if (!side.readableEnded || !('destroySoon' in other)) other.destroy()
      else if (through && !through.readableEnded) through.once('end', () => (other as Socket).destroySoon())
      else (other as Socket).destroySoon()
      resolve()
    }
    if (side.destroyed) closed()
    else side.once('close', closed)
  })
}
