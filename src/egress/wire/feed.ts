/**
 * Reads a host's bytes through one buffer, into the HTTP parser or into a sink that took over the
 * body.
 */

import type { OnReadOpts, Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * Receives a piece that is valid only during the call; false stops reading until the socket is
 * resumed.
 */
export type Sink = (piece: Buffer) => boolean

const sinks = new WeakMap<Duplex, Sink | null>()

/**
 * A buffer shared by many connections, one at a time: a buffer per piece would cost more to collect
 * than to fill.
 */
export function createFeed(): Buffer {
  return Buffer.allocUnsafeSlow(64 * 1024)
}

/**
 * A socket that `open` creates with these `onread` options; every piece is copied before anything
 * else runs.
 */
export function fedSocket<Fed extends Socket>(feed: Buffer, open: (onread: OnReadOpts) => Fed): Fed {
  const socket = open({ buffer: feed, callback: (length) => receive(socket, feed.subarray(0, length)) })
  sinks.set(socket, null)
  return socket
}

function receive(socket: Socket, piece: Buffer): boolean {
  const sink = sinks.get(socket)
  return sink ? sink(piece) : socket.push(Buffer.from(piece))
}

/** Whether incoming bytes can be diverted to a sink. */
export function isFed(socket: Duplex): boolean {
  return sinks.get(socket) === null
}

/** Diverts all further bytes to the sink. */
export function divert(socket: Duplex, sink: Sink): void {
  sinks.set(socket, sink)
}
