/** Answers of a host that was given a secret: unpacked, and rid of the secret, before they go into the sandbox. */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { decoded } from '../wire/decoding.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { endToEndHeaders } from '../wire/request-head.ts'
import type { Broker } from './broker.ts'
import { envelopeHead, eventStreamHead, type ReadFrameHead } from './scrub-frames.ts'

/** For a body that came packed for the way, which no client asked for. */
export const PACKED_IN_TRANSFER: EgressDenial = {
  code: 'upstream-protocol',
  message: 'the host answered with a transfer coding that was not asked for',
}

/** For an answer that could hold the secret and cannot be looked into. */
export const UNREADABLE: EgressDenial = {
  code: 'upstream-protocol',
  message: 'the host was given a secret and answered in an encoding that cannot be looked into',
}

/** Headers by which a client offers to take packed answers in ways that cannot be unpacked here. */
export const PACKING_OFFERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'grpc-accept-encoding',
  'sec-websocket-extensions',
])

/** Headers of an answer that no longer hold once its body was unpacked and looked through. */
export const PACKING: readonly string[] = ['content-length', 'content-encoding']

/** From this length on an answer keeps it: a download is to show how far it is, and what it holds is seldom read as text. */
const KEEPS_LENGTH = 1024 * 1024

/** True when secrets in this answer are blotted out and not exchanged, so that its length stays true. */
export function keepsLength(headers: IncomingHttpHeaders): boolean {
  return headers['content-encoding'] === undefined && Number(headers['content-length'] ?? 0) >= KEEPS_LENGTH
}

/** True for an answer that has no body, whatever its headers say of one. */
export function isBodiless(status: number, method: string): boolean {
  return method === 'HEAD' || status === 204 || status === 304
}

/** A head as the command may see it. */
export interface CleanHead {
  readonly statusText: string
  readonly rawHeaders: readonly string[]
}

/** The one exit of heads of HTTP/1: what ends at this hop is left out, and so are secrets, in names, values and the status line. */
export function cleanHead(
  broker: Broker | null,
  incoming: IncomingMessage,
  dropped: readonly string[] = [],
): CleanHead {
  const statusText = incoming.statusMessage ?? ''
  const rawHeaders = endToEndHeaders(incoming.rawHeaders, dropped)
  if (broker === null) return { statusText, rawHeaders }
  return {
    statusText: broker.scrubText(statusText),
    rawHeaders: rawHeaders.map((text) => broker.scrubText(text)),
  }
}

/** True for a body that was packed for the way alone: its coding is not passed on, so what it holds could not be read by anybody. */
export function isPackedInTransfer({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const coding = headers['transfer-encoding']
  return coding !== undefined && coding.trim().toLowerCase() !== 'chunked'
}

/** Bodies of messages that say how long they are, by their type. */
const FRAMINGS: readonly [type: RegExp, readHead: ReadFrameHead][] = [
  [/^application\/(?:grpc(?!-web-text)|connect\+)/i, envelopeHead],
  [/^application\/vnd\.amazon\.eventstream\b/i, eventStreamHead],
]

/** The body without the session's secrets; null when it cannot be unpacked. */
export function scrubbedBody(broker: Broker, body: Readable, headers: IncomingHttpHeaders): Readable | null {
  const plain = decoded(body, headers['content-encoding'])
  if (plain === null) return null
  const framing = FRAMINGS.find(([type]) => type.test(headers['content-type'] ?? ''))
  const scrub = framing ? broker.scrubFrames(framing[1]) : broker.scrubStream(keepsLength(headers))
  plain.once('error', (error) => scrub.destroy(error))
  // A process that reads it decides what a broken answer means; unheard, the error would end the whole session.
  scrub.on('error', () => {})
  return plain.pipe(scrub)
}
