/** Taking secrets out of frames that say how long they are: each payload by itself, at its own length, and sent on when it is whole. */

import { Transform } from 'node:stream'
import { Scrubber } from './scrub-stream.ts'
import type { SecretForm } from './secret-forms.ts'

/** A frame's head: how many bytes it takes, and how many follow; null while it is not complete. */
export type ReadFrameHead = (bytes: Buffer) => { readonly head: number; readonly payload: number } | null

const MAX_HEAD = 14

const WEBSOCKET_OPCODES: ReadonlySet<number> = new Set([0, 1, 2, 8, 9, 10])
/** A message as it is, and the trailers of gRPC in a browser. */
const GRPC_FLAGS: ReadonlySet<number> = new Set([0, 0x80])

/** RFC 6455: what a server sends is never masked, and no extension was agreed on. Other bytes would hide what they hold. */
export function websocketHead(bytes: Buffer): ReturnType<ReadFrameHead> {
  if (bytes.length < 2) return null
  if ((bytes[1]! & 0x80) !== 0) throw new Error('a server must not mask its frames')
  if (!WEBSOCKET_OPCODES.has(bytes[0]! & 0x7f)) throw new Error('not a WebSocket frame without extensions')
  const short = bytes[1]! & 0x7f
  if (short < 126) return { head: 2, payload: short }
  if (short === 126) return bytes.length < 4 ? null : { head: 4, payload: bytes.readUInt16BE(2) }
  return bytes.length < 10 ? null : { head: 10, payload: Number(bytes.readBigUInt64BE(2)) }
}

/** A flag, a length, the message; a packed one was not asked for, and would hide what it holds. */
export function grpcHead(bytes: Buffer): ReturnType<ReadFrameHead> {
  if (bytes.length > 0 && !GRPC_FLAGS.has(bytes[0]!)) throw new Error('not a gRPC message that can be looked into')
  return bytes.length < 5 ? null : { head: 5, payload: bytes.readUInt32BE(1) }
}

export function scrubFrames(forms: readonly SecretForm[], readHead: ReadFrameHead): Transform {
  let heading: Buffer = Buffer.alloc(0)
  let left = 0
  let scrubber = new Scrubber(forms, true)

  function take(stream: Transform, chunk: Buffer): void {
    let rest = chunk
    while (rest.length > 0) {
      if (left === 0) {
        const before = heading.length
        heading = Buffer.concat([heading, rest.subarray(0, MAX_HEAD - before)])
        const found = readHead(heading)
        if (found === null) return
        stream.push(heading.subarray(0, found.head))
        rest = rest.subarray(found.head - before)
        left = found.payload
        heading = Buffer.alloc(0)
        continue
      }
      const part = rest.subarray(0, left)
      rest = rest.subarray(part.length)
      left -= part.length
      stream.push(scrubber.take(part))
      if (left > 0) continue
      stream.push(scrubber.end())
      scrubber = new Scrubber(forms, true)
    }
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        take(this, chunk)
        done()
      } catch (error) {
        done(error as Error)
      }
    },
    flush(done) {
      this.push(heading)
      done(null, scrubber.end())
    },
  })
}
