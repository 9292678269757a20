/** Bodies that have to be there before their requests leave: their hash is part of what is signed. */

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { EgressDenial } from './refusal.ts'

/** More than any service takes that does not have its clients say the hash. */
const MAX_BYTES = 16 * 1024 * 1024
/** Of all bodies of one command at once: it decides how many requests it sends, and must not decide how much memory we have. */
const MAX_AT_ONCE = 4 * MAX_BYTES

export interface HeldBody {
  /** To be read to its end or destroyed: until then it counts. */
  readonly body: Readable
  /** SHA-256, in hex. */
  readonly hash: string
}

/** What holds the bodies of one command. */
export interface BodyHold {
  hold(message: Readable): Promise<HeldBody | { readonly refusal: EgressDenial }>
  /** Bytes that are held now. */
  readonly bytes: number
}

export function createBodyHold(): BodyHold {
  let total = 0

  async function hold(message: Readable): Promise<HeldBody | { readonly refusal: EgressDenial }> {
    const pieces: Buffer[] = []
    let length = 0
    const refuse = (code: EgressDenial['code'], text: string) => {
      total -= length
      return { refusal: { code, message: text } }
    }
    try {
      // What is refused is still read away by the process that answers, so the stream stays open.
      for await (const piece of message.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        length += piece.length
        total += piece.length
        if (length > MAX_BYTES) {
          const text = `a body of more than ${MAX_BYTES} bytes is only signed where x-amz-content-sha256 says its hash`
          return refuse('secret-misplaced', text)
        }
        if (total > MAX_AT_ONCE) {
          const text = `more than ${MAX_AT_ONCE} bytes wait to be signed; where x-amz-content-sha256 says the hash of a body, it need not wait`
          return refuse('too-many-connections', text)
        }
        pieces.push(piece)
      }
    } catch {
      return refuse('client-timeout', 'the client aborted its request')
    }
    const bytes = Buffer.concat(pieces, length)
    const hash = createHash('sha256').update(bytes).digest('hex')
    const body = Readable.from(length === 0 ? [] : [bytes], { objectMode: false })
    body.once('close', () => {
      total -= length
    })
    return { body, hash }
  }

  return {
    hold,
    get bytes() {
      return total
    },
  }
}
