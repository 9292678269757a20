/**
 * Removes secrets from length-prefixed messages without changing their length. The end of a message
 * waits for the next one, which may continue a secret, but only for a moment.
 */

import { Transform } from 'node:stream'
import { crc32 } from 'node:zlib'
import { Scrubber, scrubBytes } from './scrub-stream.ts'
import type { SecretSearch } from './secret-search.ts'

export interface FrameHead {
  /** Its length, and the length of the payload. */
  readonly head: number
  readonly payload: number
  /** Whether the message continues in the next frame. */
  readonly goesOn?: boolean
  /** Whether the frame may interrupt a message, and is complete itself. */
  readonly apart?: boolean
}

/** Null while the head is incomplete. */
export type ReadFrameHead = (bytes: Buffer) => FrameHead | null

const MAX_HEAD = 14

const WEBSOCKET_OPCODES: ReadonlySet<number> = new Set([0, 1, 2, 8, 9, 10])
/** The limit of RFC 6455. */
const LONGEST_CONTROL = 125
/** A plain message, the end of a Connect stream, or gRPC trailers for browsers. */
const ENVELOPE_FLAGS: ReadonlySet<number> = new Set([0, 2, 0x80])

/**
 * RFC 6455: servers never mask, and no extension was negotiated. Other frames would hide their
 * content.
 */
export function websocketHead(bytes: Buffer): FrameHead | null {
  if (bytes.length < 2) return null
  if ((bytes[1]! & 0x80) !== 0) throw new Error('a server must not mask its frames')
  if (!WEBSOCKET_OPCODES.has(bytes[0]! & 0x7f)) throw new Error('not a WebSocket frame without extensions')
  const apart = (bytes[0]! & 0x08) !== 0
  const goesOn = (bytes[0]! & 0x80) === 0
  const short = bytes[1]! & 0x7f
  if (apart && (goesOn || short > LONGEST_CONTROL)) throw new Error('a control frame of WebSocket that is not one')
  if (short < 126) return { head: 2, payload: short, goesOn, apart }
  if (short === 126) return bytes.length < 4 ? null : { head: 4, payload: bytes.readUInt16BE(2), goesOn }
  return bytes.length < 10 ? null : { head: 10, payload: Number(bytes.readBigUInt64BE(2)), goesOn }
}

/**
 * gRPC and Connect: a flag, a length, the message. Compression was not negotiated, and would hide
 * the content.
 */
export function envelopeHead(bytes: Buffer): FrameHead | null {
  if (bytes.length > 0 && !ENVELOPE_FLAGS.has(bytes[0]!)) throw new Error('not a gRPC message that can be read')
  return bytes.length < 5 ? null : { head: 5, payload: bytes.readUInt32BE(1) }
}

const EVENT_HEAD = 12

/**
 * AWS event streams: two lengths and their checksum. Without it any text would pass as events, and
 * its bytes could set a boundary inside a secret.
 */
export function eventStreamHead(bytes: Buffer): FrameHead | null {
  if (bytes.length < EVENT_HEAD) return null
  const length = bytes.readUInt32BE(0)
  if (length < EVENT_HEAD + 4 || crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) {
    throw new Error('not an event of an event stream')
  }
  return { head: EVENT_HEAD, payload: length - EVENT_HEAD }
}

/**
 * How long a host may be quiet before the end of its last message passes. It starts with the host's
 * bytes alone, so it is the same for every secret.
 */
export const QUIET_MS = 50

/** `quietMs` is 0 for a protocol that waits for each answer: nothing waits at the end of a message. */
export function scrubFrames(search: SecretSearch, readHead: ReadFrameHead, quietMs: number = QUIET_MS): Transform {
  const scrubber = new Scrubber(search, true)
  let heading: Buffer = Buffer.alloc(0)
  let frame: FrameHead | null = null
  let left = 0
  /** Message bytes received, and passed on. */
  let [taken, sent] = [0, 0]
  /** Heads and separate frames, each with the number of preceding message bytes. */
  const between: { readonly after: number; readonly bytes: Buffer }[] = []
  const apart: Buffer[] = []
  let quiet: NodeJS.Timeout | undefined
  /** The end of a message waits. */
  let waits = false

  function insert(bytes: Buffer): void {
    between.push({ after: taken, bytes })
  }

  /** The bytes with the frames between them. */
  function joined(bytes: Buffer): Buffer[] {
    const parts: Buffer[] = []
    const end = sent + bytes.length
    for (let next = between[0]; next !== undefined && next.after <= end; next = between[0]) {
      parts.push(bytes.subarray(bytes.length - end + sent, bytes.length - end + next.after), next.bytes)
      sent = next.after
      between.shift()
    }
    parts.push(bytes.subarray(bytes.length - end + sent))
    sent = end
    return parts
  }

  function take(chunk: Buffer): Buffer {
    const parts: Buffer[] = []
    let rest = chunk
    while (rest.length > 0) {
      if (frame === null) {
        const before = heading.length
        heading = Buffer.concat([heading, rest.subarray(0, MAX_HEAD - before)])
        frame = readHead(heading)
        if (frame === null) break
        insert(heading.subarray(0, frame.head))
        rest = rest.subarray(frame.head - before)
        left = frame.payload
        heading = Buffer.alloc(0)
      }
      const part = rest.subarray(0, left)
      rest = rest.subarray(part.length)
      left -= part.length
      if (frame.apart) {
        apart.push(part)
        if (left === 0) insert(scrubBytes(Buffer.concat(apart.splice(0)), search, true))
        parts.push(...joined(Buffer.alloc(0)))
      } else {
        taken += part.length
        parts.push(...joined(scrubber.take(part)))
        if (left === 0 && !frame.goesOn) {
          if (quietMs === 0) parts.push(...joined(scrubber.end()))
          else waits = true
        }
        if (waits) restartClock()
      }
      if (left === 0) frame = null
    }
    return Buffer.concat(parts)
  }

  function restartClock(): void {
    clearTimeout(quiet)
    quiet = setTimeout(() => {
      waits = false
      stream.push(Buffer.concat(joined(scrubber.end())))
    }, quietMs)
  }

  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        done(null, take(chunk))
      } catch (error) {
        done(error as Error)
      }
    },
    destroy(error, done) {
      clearTimeout(quiet)
      done(error)
    },
    flush(done) {
      clearTimeout(quiet)
      // What looks like the start of a head was never searched.
      if (heading.length > 0) return done(new Error('the stream ended inside the head of a frame'))
      done(null, Buffer.concat(joined(scrubber.end())))
    },
  })
  return stream
}
