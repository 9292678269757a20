/** Reads bodies before their requests leave, because their hash is signed. */

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { EgressDenial } from './refusal.ts'

/** More than any service accepts without a hash from the client. */
const MAX_BYTES = 16 * 1024 * 1024
/** For all concurrent bodies of one command, which must not exhaust Cordon's memory. */
const MAX_AT_ONCE = 4 * MAX_BYTES

export interface HeldBody {
  /** Counted until it is read to its end or destroyed. */
  readonly body: Readable
  /** SHA-256, in hex. */
  readonly hash: string
}

/** Keeps the bodies of one command. */
export interface BodyHold {
  hold(message: Readable): Promise<HeldBody | { readonly refusal: EgressDenial }>
  /** Bytes in memory. */
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
      // The caller still reads the rest of a refused body, so the stream stays open.
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
