/**
 * Requests for a part of an answer. A host that echoes a secret would return it in pieces, cut
 * wherever the command asks; so Cordon asks for more on both sides, searches that, and passes on
 * the part.
 */

import type { IncomingHttpHeaders } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import type { Broker } from './broker.ts'
import { MOST_WAITING } from './secret-search.ts'

/** Positions of the first and last byte; or the number of bytes at the end. */
export type AskedRange = { readonly from: number; readonly to: number } | { readonly last: number }

export interface WidenedRequest {
  readonly rawHeaders: readonly string[]
  /** Null without a range: then the whole answer comes. */
  readonly asked: AskedRange | null
}

/** The second is Azure's. */
const RANGE_HEADERS: ReadonlySet<string> = new Set(['range', 'x-ms-range'])

/** Asks for the bytes around the range too. Other ranges than one of bytes are removed. */
export function widenRange(rawHeaders: readonly string[]): WidenedRequest {
  const at = rawHeaders.findIndex((text, index) => index % 2 === 0 && RANGE_HEADERS.has(text.toLowerCase()))
  if (at < 0) return { rawHeaders, asked: null }
  const kept = rawHeaders.filter((_, index) => !RANGE_HEADERS.has(rawHeaders[index - (index % 2)]!.toLowerCase()))
  const [, first, last] = /^\s*bytes\s*=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(rawHeaders[at + 1]!) ?? []
  const isOnly = kept.length === rawHeaders.length - 2
  if (!isOnly || first === undefined || last === undefined || first + last === '') {
    return { rawHeaders: kept, asked: null }
  }
  const [from, to] = [Number(first), last === '' ? Number.MAX_SAFE_INTEGER : Number(last)]
  const [asked, wide]: [AskedRange, string] =
    first === ''
      ? [{ last: to }, `-${to + MOST_WAITING}`]
      : [{ from, to }, `${Math.max(0, from - MOST_WAITING)}-${last === '' ? '' : to + MOST_WAITING}`]
  return { rawHeaders: rawHeaders.with(at + 1, `bytes=${wide}`), asked }
}

export interface PartOfAnswer {
  readonly status: number
  /** Instead of the host's. */
  readonly headers: Readonly<Record<string, string>>
  /** The bytes before it, and its length. */
  readonly skip: number
  readonly take: number
}

/** Headers that describe the wider part. */
export const PART_HEADERS: readonly string[] = ['content-length', 'content-range']

/** The part that was asked for; null for a whole answer, `unreadable` if it cannot be found. */
export function narrowAnswer(
  status: number,
  headers: IncomingHttpHeaders,
  asked: AskedRange | null,
): PartOfAnswer | 'unreadable' | null {
  if (status !== 206 || asked === null) return null
  const [, first, last, size = ''] =
    /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(headers['content-range'] ?? '') ?? []
  if (first === undefined || last === undefined || headers['content-encoding'] !== undefined) return 'unreadable'
  if ('last' in asked && size === '*') return 'unreadable'
  const { from, to } = 'last' in asked ? { from: Number(size) - asked.last, to: Number(size) - 1 } : asked
  const [start, end] = [Math.max(from, Number(first)), Math.min(to, Number(last))]
  if (start > end) {
    return { status: 416, headers: { 'content-range': `bytes */${size}`, 'content-length': '0' }, skip: 0, take: 0 }
  }
  const take = end - start + 1
  const own = { 'content-range': `bytes ${start}-${end}/${size}`, 'content-length': String(take) }
  return { status, headers: own, skip: start - Number(first), take }
}

/** The part of a body, without the session's secrets; their length stays. */
export function scrubbedPart(broker: Broker, body: Readable, { skip, take }: PartOfAnswer): Readable {
  let at = 0
  const cut = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const part = chunk.subarray(Math.max(0, skip - at), Math.max(0, skip + take - at))
      at += chunk.length
      done(null, part)
    },
  })
  const scrub = broker.scrubStream(true)
  body.once('error', (error) => scrub.destroy(error))
  scrub.on('error', (error) => cut.destroy(error))
  // The reader decides about a broken answer; an unhandled error would end the session.
  cut.on('error', () => {})
  return body.pipe(scrub).pipe(cut)
}
