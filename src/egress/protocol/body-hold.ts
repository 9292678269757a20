/** A body that has to be there before its request leaves: its hash is part of what is signed. */

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { EgressDenial } from '../refusal.ts'

/** More than any service takes that does not have its clients say the hash. */
const MAX_BYTES = 16 * 1024 * 1024

export interface HeldBody {
  readonly body: Readable
  /** SHA-256, in hex. */
  readonly hash: string
}

export async function holdBody(message: Readable): Promise<HeldBody | { readonly refusal: EgressDenial }> {
  const pieces: Buffer[] = []
  let length = 0
  try {
    // What is refused is still read away by whoever answers, so the stream stays open.
    for await (const piece of message.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += piece.length
      if (length > MAX_BYTES) {
        const message = `a body of more than ${MAX_BYTES} bytes is only signed where x-amz-content-sha256 says its hash`
        return { refusal: { code: 'secret-misplaced', message } }
      }
      pieces.push(piece)
    }
  } catch {
    return { refusal: { code: 'client-timeout', message: 'the client broke off its request' } }
  }
  const bytes = Buffer.concat(pieces, length)
  const hash = createHash('sha256').update(bytes).digest('hex')
  return { body: Readable.from(length === 0 ? [] : [bytes], { objectMode: false }), hash }
}
