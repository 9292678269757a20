/** Records on their way to a receiver: lines, pieces, and the loop that delivers them. */

import { messageOf } from '../../system/fault.ts'
import { pause } from '../../system/timing.ts'
import type { Voucher } from '../identity.ts'

/** The sent form of a line. */
export interface ShippedRecord {
  readonly session: string
  readonly part: number
  readonly offset: number
  readonly text: string
  /** If a secret was found on sending: the hash of the line as chained. */
  readonly hash?: string
  /** With a checkpoint: what vouches for its key. */
  readonly voucher?: Voucher
}

/** A record as it travels where messages have a limit: whole, or a piece of its text. */
export interface RecordPiece extends ShippedRecord {
  readonly piece?: readonly [at: number, count: number]
}

/** Below every server's limit for a message, also when each character of it is written as six. */
const MAX_PIECE = 128 * 1024

/** A record in pieces that servers take. */
export function piecesOf(record: ShippedRecord): readonly RecordPiece[] {
  const count = Math.ceil(record.text.length / MAX_PIECE)
  if (count <= 1) return [record]
  return Array.from({ length: count }, (_, at) => ({
    ...record,
    text: record.text.slice(at * MAX_PIECE, (at + 1) * MAX_PIECE),
    piece: [at, count] as const,
  }))
}

/** Joins pieces; a record with a missing piece is left out. */
export function joinPieces<T extends RecordPiece>(received: readonly T[], placeOf: (piece: T) => string): readonly T[] {
  const whole = received.filter(({ piece }) => piece === undefined)
  const parts = Map.groupBy(
    received.filter(({ piece }) => piece !== undefined),
    placeOf,
  )
  const joined = [...parts.values()].flatMap((pieces) => {
    const count = pieces[0]!.piece![1]
    const texts = Array.from({ length: count }, (_, at) => pieces.find(({ piece }) => piece![0] === at)?.text)
    if (texts.some((text) => text === undefined)) return []
    const { piece: _, ...record } = pieces[0]!
    return [{ ...record, text: texts.join('') } as T]
  })
  return [...whole, ...joined]
}

/** The name of a record of a machine: the same however often it is sent. */
export function recordId(machine: string, { session, part, offset }: ShippedRecord): string {
  return `${machine}.${session}.${part}.${offset}`
}

/** A receiver of records. */
export interface RecordSink {
  readonly name: string
  /** Ends when every one of them is kept; rejects with a `SinkProblem` otherwise. */
  send(records: readonly ShippedRecord[], signal: AbortSignal): Promise<void>
}

/** Why records were not kept. */
export class SinkProblem extends Error {
  override readonly name = 'SinkProblem'
  /** When to try again, where the receiver has said so. */
  readonly afterMs: number | null
  /** The receiver has checked the records and does not want them: sending them again as they are is of no use. */
  readonly rejected: boolean

  constructor(message: string, options: { afterMs?: number | null; rejected?: boolean } = {}) {
    super(message)
    this.afterMs = options.afterMs ?? null
    this.rejected = options.rejected ?? false
  }
}

/** Where records wait. */
export interface RecordQueue {
  /** The next ones; null if there are none. */
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

export interface Shipment {
  readonly sink: string
  readonly sent: number
  /** Records that the receiver does not take, one by one: they stay in the audit file alone. */
  readonly rejected: readonly string[]
  readonly problem: string | null
}

/** Drains the queue, or says why it could not. */
export async function ship(queue: RecordQueue, sink: RecordSink, options: ShipOptions): Promise<Shipment> {
  const { signal } = options
  const rejected: string[] = []
  let sent = 0
  const done = (problem: string | null): Shipment => ({ sink: sink.name, sent, rejected, problem })
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

/** Sends some records; a rejected one is found by halving, so that it does not block the rest. */
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
