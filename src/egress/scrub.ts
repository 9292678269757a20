/** Answers of a host that was given a secret: unpacked, and rid of the secret, before they go into the sandbox. */

import type { Readable } from 'node:stream'
import type { Broker } from './broker.ts'
import { decoded } from './decoding.ts'
import type { Refusal } from './refusal.ts'

/** For an answer that could hold the secret and cannot be looked into. */
export const UNREADABLE: Refusal = {
  code: 'upstream-protocol',
  message: 'the host was given a secret and answered in an encoding that cannot be looked into',
}

/** The body without the session's secrets; null when it cannot be unpacked. */
export function scrubbedBody(broker: Broker, body: Readable, encoding: string | undefined): Readable | null {
  const plain = decoded(body, encoding)
  if (plain === null) return null
  const scrub = broker.scrubStream()
  plain.once('error', (error) => scrub.destroy(error))
  return plain.pipe(scrub)
}
