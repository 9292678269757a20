/** Watching a body as it passes: how many bytes, and whether a secret is on its way to a stranger in it, or a stranger's to a brokered host. */

import type { Readable } from 'node:stream'
import type { Broker } from '../credentials/broker.ts'
import type { EgressDenial } from '../refusal.ts'
import type { Target } from '../target.ts'
import { fieldReader, isInOddLetters } from './form-fields.ts'
import { headerValues } from './request-head.ts'

/** Where a body goes, and what its request says that it is. */
export interface WatchedBody {
  readonly body: Readable
  readonly rawHeaders: readonly string[]
  readonly target: Target
}

const UNREAD_FORM: EgressDenial = {
  code: 'secret-unread',
  message: 'a form that is compressed or in rare letters cannot be read, and somebody’s own key could be in it',
}

/** Calls `onBytes` for every piece and `onRefusal` once, when the body must not go on: before the piece that must not is passed on. */
export function watchBody(
  { body, rawHeaders, target }: WatchedBody,
  broker: Broker | null,
  onBytes: (count: number) => void,
  onRefusal: (refusal: EgressDenial) => void,
): void {
  const placeholderIn = broker?.bodyReader(target)
  let stopped = false
  const types = headerValues(rawHeaders, 'content-type')
  const fields = broker?.isFor(target) ? fieldReader(types) : null
  const unread =
    isInOddLetters(types) ||
    headerValues(rawHeaders, 'content-encoding').some((name) => name.trim().toLowerCase() !== 'identity')

  function problemIn(broker: Broker, chunk: Buffer): EgressDenial | null {
    const refusal = placeholderIn!(chunk)
    if (refusal !== null || fields === null) return refusal
    return unread ? UNREAD_FORM : broker.fieldProblem(target, fields(chunk))
  }

  body.on('data', (chunk: Buffer) => {
    onBytes(chunk.length)
    if (stopped || broker === null) return
    const refusal = problemIn(broker, chunk)
    if (refusal === null) return
    stopped = true
    onRefusal(refusal)
  })
}
