/** Converts Node's streams to web streams for the protocol's library. */

import type { Readable, Writable } from 'node:stream'

/** Ends at a line longer than `maxLine`. */
export function readableBytes(
  stream: Readable,
  maxLine: number = Number.POSITIVE_INFINITY,
): ReadableStream<Uint8Array> {
  let line = 0
  return new ReadableStream<Uint8Array>({
    start(controller) {
      stream.on('data', (chunk: Buffer) => {
        const end = chunk.lastIndexOf(10)
        line = end < 0 ? line + chunk.length : chunk.length - end - 1
        if (line > maxLine) {
          stream.destroy()
          return close(() => controller.close())
        }
        controller.enqueue(new Uint8Array(chunk))
        if ((controller.desiredSize ?? 1) <= 0) stream.pause()
      })
      stream.once('end', () => close(() => controller.close()))
      stream.once('error', () => close(() => controller.close()))
      stream.once('close', () => close(() => controller.close()))
    },
    pull() {
      stream.resume()
    },
    cancel() {
      stream.destroy()
    },
  })
}

export function writableBytes(stream: Writable): WritableStream<Uint8Array> {
  stream.on('error', () => {})
  return new WritableStream<Uint8Array>({
    write: (chunk) => new Promise((resolve) => stream.write(chunk, () => resolve())),
    close: () => void stream.end(),
    abort: () => void stream.destroy(),
  })
}

function close(work: () => void): void {
  try {
    work()
  } catch {
    // Already closed.
  }
}
