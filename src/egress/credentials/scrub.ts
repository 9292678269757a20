/** Decompresses and scrubs the answers of a host that received a secret. */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { decoded } from '../wire/decoding.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { endToEndHeaders } from '../wire/request-head.ts'
import type { Broker } from './broker.ts'
import { type AskedRange, narrowAnswer, PART_HEADERS, scrubbedPart } from './partial-answer.ts'
import { envelopeHead, eventStreamHead, type ReadFrameHead } from './scrub-frames.ts'

/** For a compressed transfer coding, which no client requested. */
export const PACKED_IN_TRANSFER: EgressDenial = {
  code: 'upstream-protocol',
  message: 'the host answered with a transfer coding that was not asked for',
}

/** For an answer that could contain the secret and cannot be read. */
export const UNREADABLE: EgressDenial = {
  code: 'upstream-protocol',
  message: 'the host was given a secret and answered in an encoding that Cordon cannot read',
}

/** Headers that offer compression which Cordon cannot read. */
export const PACKING_OFFERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'grpc-accept-encoding',
  'sec-websocket-extensions',
])

/** Headers that are wrong after a body was decompressed and scrubbed. */
export const PACKING: readonly string[] = ['content-length', 'content-encoding']

/**
 * Longer answers keep their length: downloads show their progress, and their content is seldom read
 * as text.
 */
const KEEPS_LENGTH = 1024 * 1024

/**
 * Whether secrets in this answer are overwritten and not replaced, so that its length stays
 * correct.
 */
function keepsLength(headers: IncomingHttpHeaders): boolean {
  return headers['content-encoding'] === undefined && Number(headers['content-length'] ?? 0) >= KEEPS_LENGTH
}

/** Whether an answer has no body, whatever its headers say. */
export function isBodiless(status: number, method: string): boolean {
  return method === 'HEAD' || status === 204 || status === 304
}

/** A head that the command may see. */
export interface CleanHead {
  readonly statusText: string
  readonly rawHeaders: readonly string[]
}

/**
 * The one exit of HTTP/1 heads: removes hop-by-hop fields, and secrets in names, values and the
 * status line.
 */
export function cleanHead(
  broker: Broker | null,
  incoming: IncomingMessage,
  { dropped, added }: Pick<CleanAnswer, 'dropped' | 'added'> = { dropped: [], added: {} },
): CleanHead {
  const statusText = incoming.statusMessage ?? ''
  const rawHeaders = endToEndHeaders(incoming.rawHeaders, dropped)
  if (broker === null) return { statusText, rawHeaders }
  return {
    statusText: broker.scrubText(statusText),
    rawHeaders: [...rawHeaders.map((text) => broker.scrubText(text)), ...Object.entries(added).flat()],
  }
}

/**
 * Whether a transfer coding compressed the body: it is not passed on, so the body would be
 * unreadable.
 */
export function isPackedInTransfer({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const coding = headers['transfer-encoding']
  return coding !== undefined && coding.trim().toLowerCase() !== 'chunked'
}

/** Charsets that write ASCII as ASCII. */
const ASCII_CHARSET =
  /^(?:utf-?8(?:mb4)?|(?:us-)?ascii|binary|iso[-_]?8859[-_]\d+(?:-[ei])?|latin-?\d|(?:windows|cp)-?(?:125\d|874)|koi8-[ru]|gb2312|gbk|gb18030|big5(?:-hkscs)?|euc-(?:jp|kr|tw)|shift[-_]jis|tis-620)?$/i

/**
 * Whether the body is in another charset, where the search would not find the secret. Many servers
 * let the client choose it: `Accept: application/json;charset=UTF-16`.
 */
function isInOddCharset(type = ''): boolean {
  return [...type.matchAll(/charset\s*=\s*["']?\s*([^"';,\s]*)/gi)].some(([, name = '']) => !ASCII_CHARSET.test(name))
}

/** Formats of length-prefixed messages, by type. */
const FRAMINGS: readonly [type: RegExp, readHead: ReadFrameHead][] = [
  [/^application\/(?:grpc(?!-web-text)|connect\+)/i, envelopeHead],
  [/^application\/vnd\.amazon\.eventstream\b/i, eventStreamHead],
]

/** An answer that the command may see, and what changes in its head. */
export interface CleanAnswer {
  readonly body: Readable
  readonly status: number
  readonly dropped: readonly string[]
  readonly added: Readonly<Record<string, string>>
}

/** Removes the session's secrets from an answer; null if it cannot be read. */
export function cleanAnswer(
  { scrub, asked }: { readonly scrub: Broker | null; readonly asked: AskedRange | null },
  status: number,
  headers: IncomingHttpHeaders,
  body: Readable,
  bodiless = false,
): CleanAnswer | null {
  if (scrub === null || bodiless) return { body, status, dropped: [], added: {} }
  const part = narrowAnswer(status, headers, asked)
  if (part === 'unreadable') return null
  if (part !== null) {
    return { body: scrubbedPart(scrub, body, part), status: part.status, dropped: PART_HEADERS, added: part.headers }
  }
  const clean = scrubbedBody(scrub, body, headers)
  return clean && { body: clean, status, dropped: keepsLength(headers) ? [] : PACKING, added: {} }
}

/** The body without the session's secrets; null if it cannot be read. */
export function scrubbedBody(broker: Broker, body: Readable, headers: IncomingHttpHeaders): Readable | null {
  if (isInOddCharset(headers['content-type'])) return null
  const plain = decoded(body, headers['content-encoding'])
  if (plain === null) return null
  const framing = FRAMINGS.find(([type]) => type.test(headers['content-type'] ?? ''))
  const scrub = framing ? broker.scrubFrames(framing[1]) : broker.scrubStream(keepsLength(headers))
  plain.once('error', (error) => scrub.destroy(error))
  // The reader decides about a broken answer; an unhandled error would end the session.
  scrub.on('error', () => {})
  return plain.pipe(scrub)
}
