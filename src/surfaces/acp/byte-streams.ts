/** Node's streams as the ones of the web, which the protocol's library takes. */

import type { Readable, Writable } from 'node:stream'

/** Bytes that can be read. */
export function readableBytes(stream: Readable): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      stream.on('data', (chunk: Buffer) => {
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

/** A place that bytes are written to. */
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
    // It is closed already.
  }
}
