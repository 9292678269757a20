/** Sends what a queue holds to a sink: in order, again and again until it is kept, and never more than one batch in memory. */

import { messageOf } from '../../system/fault.ts'
import { pause } from '../../system/timing.ts'
import { type RecordSink, type ShippedRecord, SinkProblem } from './record.ts'

/** Where records wait. */
export interface RecordQueue {
  /** The next ones; null when there are none. */
  next(): { readonly records: readonly ShippedRecord[]; confirm(): void } | null
}

export interface ShipOptions {
  readonly signal: AbortSignal
  /** How often in a row a batch is tried before the rest is left for the next time. */
  readonly attempts?: number
  readonly firstPauseMs?: number
  readonly maxPauseMs?: number
  readonly random?: () => number
}

export interface Shipped {
  readonly sink: string
  readonly sent: number
  /** Records that the receiver does not take, one by one: they stay in the audit file alone. */
  readonly rejected: readonly string[]
  readonly problem: string | null
}

/** Drains the queue, or says why it could not. */
export async function ship(queue: RecordQueue, sink: RecordSink, options: ShipOptions): Promise<Shipped> {
  const { signal } = options
  const rejected: string[] = []
  let sent = 0
  const done = (problem: string | null): Shipped => ({ sink: sink.name, sent, rejected, problem })
  while (!signal.aborted) {
    const batch = queue.next()
    if (batch === null) return done(null)
    const problem = await deliver(batch.records, sink, options, (one) => rejected.push(one))
    if (problem !== null) return done(problem)
    batch.confirm()
    sent += batch.records.length
  }
  return done('stopped')
}

/** Sends some records; those among them that the receiver rejects are found by halves, so that one does not hold up the rest. */
async function deliver(
  records: readonly ShippedRecord[],
  sink: RecordSink,
  options: ShipOptions,
  reject: (record: string) => void,
): Promise<string | null> {
  const { signal, attempts = 8, firstPauseMs = 250, maxPauseMs = 30_000, random = Math.random } = options
  for (let attempt = 1; ; attempt++) {
    try {
      await sink.send(records, signal)
      return null
    } catch (error) {
      if (signal.aborted) return 'stopped'
      const problem = error instanceof SinkProblem ? error : new SinkProblem(messageOf(error))
      if (problem.rejected && records.length > 1) {
        const half = Math.ceil(records.length / 2)
        return (
          (await deliver(records.slice(0, half), sink, options, reject)) ??
          (await deliver(records.slice(half), sink, options, reject))
        )
      }
      if (attempt >= attempts) {
        if (!problem.rejected) return problem.message
        const [only] = records
        reject(`${only!.session}.${only!.part}.${only!.offset}: ${problem.message}`)
        return null
      }
      const growing = Math.min(firstPauseMs * 2 ** (attempt - 1), maxPauseMs)
      await pause(problem.afterMs ?? growing * (0.5 + random() / 2), signal)
    }
  }
}
