/** How bytes of a host come in: through one buffer, to HTTP's parser or to the process that took the rest of a body over. */

import type { OnReadOpts, Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Takes a piece, which is only there during the call; false stops reading until the socket is resumed. */
export type Sink = (piece: Buffer) => boolean

const sinks = new WeakMap<Duplex, Sink | null>()

/** What many connections read into, one at a time: a buffer for each piece would cost more to collect than to fill. */
export function createFeed(): Buffer {
  return Buffer.allocUnsafeSlow(64 * 1024)
}

/** A socket, made by `open` with these options of its reading; every piece is copied out before anything else happens. */
export function fedSocket<Fed extends Socket>(feed: Buffer, open: (onread: OnReadOpts) => Fed): Fed {
  const socket = open({ buffer: feed, callback: (length) => receive(socket, feed.subarray(0, length)) })
  sinks.set(socket, null)
  return socket
}

function receive(socket: Socket, piece: Buffer): boolean {
  const sink = sinks.get(socket)
  return sink ? sink(piece) : socket.push(Buffer.from(piece))
}

/** True where what comes in can be given to a sink. */
export function isFed(socket: Duplex): boolean {
  return sinks.get(socket) === null
}

/** From now on what comes in goes to the sink and nowhere else. */
export function divert(socket: Duplex, sink: Sink): void {
  sinks.set(socket, sink)
}
