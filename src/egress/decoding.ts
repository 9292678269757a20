/** Unpacking a body by its Content-Encoding. */

import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

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
    default:
      return null
  }
}

function forward<Stream extends NodeJS.ReadWriteStream & Readable>(body: Readable, unpacker: Stream): Stream {
  body.once('error', (error) => unpacker.destroy(error))
  return body.pipe(unpacker)
}
