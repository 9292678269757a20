/** Unpacking a body by its Content-Encoding. */

import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'

/** The unpacked body; null for an encoding that is not known. */
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
    // An answer without a body still says how it would have been packed; to the unpacker that is a broken one.
    if (!empty) return void unpacker.end()
    unpacker.once('end', () => unpacker.destroy())
    unpacker.push(null)
  })
  return body.pipe(unpacker, { end: false })
}
