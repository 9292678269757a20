/** The output of a program: the first bytes are kept, the rest is counted, and a flood ends it. */

import { Writable } from 'node:stream'
import type { Captured } from '../backend.ts'

/** A program may talk more than is kept, but not without end: so many times as much, as in an interpreter. */
const FLOOD_TIMES = 64

export class KeptOutput extends Writable {
  readonly #cap: number
  readonly #flood: AbortController
  readonly #chunks: Buffer[] = []
  #kept = 0
  #total = 0

  /** `flood` is aborted when there is not an end to it. */
  constructor(cap: number, flood: AbortController) {
    super()
    this.#cap = cap
    this.#flood = flood
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    const part = chunk.subarray(0, this.#cap - this.#kept)
    this.#total += chunk.length
    if (part.length > 0) {
      this.#chunks.push(part)
      this.#kept += part.length
    }
    if (this.#total > FLOOD_TIMES * this.#cap) this.#flood.abort()
    done()
  }

  captured(): Captured {
    const bytes = Buffer.concat(this.#chunks)
    return { bytes, total: this.#total, truncated: this.#total > bytes.length, spill: null }
  }
}
