/** Decompresses a body by its Content-Encoding. */

import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'

/** The decompressed body; null for an unknown encoding. */
export function decoded(body: Readable, encoding: string | undefined): Readable | null {
  switch (encoding?.trim().toLowerCase()) {
    case undefined:
    case '':
    case 'identity':
      return body
    case 'gzip':
    case 'x-gzip':
      return forward(body, createGunzip())
    case 'deflate':
      return forward(body, createInflate())
    case 'br':
      return forward(body, createBrotliDecompress())
    case 'zstd':
      return forward(body, createZstdDecompress())
    default:
      return null
  }
}

function forward<Stream extends Transform>(body: Readable, unpacker: Stream): Stream {
  let empty = true
  body.on('data', () => {
    empty = false
  })
  body.once('error', (error) => unpacker.destroy(error))
  body.once('end', () => {
    // An answer without a body may still declare an encoding; the decompressor would report an
    // error.
    if (!empty) return void unpacker.end()
    unpacker.once('end', () => unpacker.destroy())
    unpacker.push(null)
  })
  return body.pipe(unpacker, { end: false })
}
