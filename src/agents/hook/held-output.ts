/** The output of a host's command, passed on up to `limits.max_output_bytes`: a host reads it as its own, and has its own limits beside. */

import { Writable } from 'node:stream'

/** Passes the first bytes on and counts the rest. */
export class HeldOutput extends Writable {
  readonly #target: Writable
  readonly #cap: number
  readonly #name: string
  #total = 0

  constructor(target: Writable, cap: number, name: 'stdout' | 'stderr') {
    super()
    this.#target = target
    this.#cap = cap
    this.#name = name
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    const room = Math.max(0, this.#cap - this.#total)
    this.#total += chunk.length
    if (room === 0) done()
    // A host that no longer reads is no reason to hold the command up.
    else this.#target.write(chunk.subarray(0, room), () => done())
  }

  /** What was left out, for the one who reads; null when nothing was. */
  note(): string | null {
    const more = this.#total - this.#cap
    return more > 0
      ? `${more} more bytes of ${this.#name} were left out: limits.max_output_bytes is ${this.#cap}`
      : null
  }
}
