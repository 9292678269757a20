/** Watching a body as it passes: how many bytes, and whether a secret's placeholder is on its way to a stranger. */

import type { Readable } from 'node:stream'
import type { Broker } from '../credentials/broker.ts'
import type { EgressDenial } from '../refusal.ts'
import type { Target } from '../target.ts'

/** Calls `onBytes` for every piece and `onRefusal` once, when the body must not go on. */
export function watchBody(
  body: Readable,
  broker: Broker | null,
  target: Target,
  onBytes: (count: number) => void,
  onRefusal: (refusal: EgressDenial) => void,
): void {
  let tail: Buffer = Buffer.alloc(0)
  let stopped = false
  body.on('data', (chunk: Buffer) => {
    onBytes(chunk.length)
    if (stopped || broker === null || broker.overlap === 0) return
    // A placeholder may lie across two pieces.
    const seen = tail.length === 0 ? chunk : Buffer.concat([tail, chunk])
    const refusal = broker.bodyProblem(target, seen)
    tail = Buffer.from(seen.subarray(Math.max(0, seen.length - broker.overlap)))
    if (refusal === null) return
    stopped = true
    onRefusal(refusal)
  })
}
