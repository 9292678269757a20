/** Answers of a host that was given a secret: unpacked, and rid of the secret, before they go into the sandbox. */

import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { decoded } from '../protocol/decoding.ts'
import type { Refusal } from '../refusal.ts'
import type { Broker } from './broker.ts'
import { grpcHead } from './scrub-frames.ts'

/** For an answer that could hold the secret and cannot be looked into. */
export const UNREADABLE: Refusal = {
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

/** The body without the session's secrets; null when it cannot be unpacked. */
export function scrubbedBody(broker: Broker, body: Readable, headers: IncomingHttpHeaders): Readable | null {
  const plain = decoded(body, headers['content-encoding'])
  if (plain === null) return null
  const grpc = /^application\/grpc(?!-web-text)/.test(headers['content-type'] ?? '')
  const scrub = grpc ? broker.scrubFrames(grpcHead) : broker.scrubStream(keepsLength(headers))
  plain.once('error', (error) => scrub.destroy(error))
  // Whoever reads it decides what a broken answer means; unheard, the error would end the whole session.
  scrub.on('error', () => {})
  return plain.pipe(scrub)
}
