/** A line of a machine's record on its way to a receiver: whose it is, where it stood, and its very text. */

/** What is sent. */
export interface ShippedRecord {
  readonly session: string
  readonly part: number
  readonly offset: number
  readonly text: string
  /** Where a secret was found on the way out: the hash of the line as it was chained. */
  readonly hash?: string
}

/** The name of a record of a machine: the same however often it is sent. */
export function recordId(machine: string, { session, part, offset }: ShippedRecord): string {
  return `${machine}.${session}.${part}.${offset}`
}

/** Somebody who keeps records. */
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
  /** The receiver has looked at the records and does not want them: sending them again as they are is no use. */
  readonly rejected: boolean

  constructor(message: string, options: { afterMs?: number | null; rejected?: boolean } = {}) {
    super(message)
    this.afterMs = options.afterMs ?? null
    this.rejected = options.rejected ?? false
  }
}
