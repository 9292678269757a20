/** What a background command says, readable while it runs: the newest bytes up to a cap, each handed out once. */

import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** A stream that keeps what nobody has read yet. */
export class CommandOutput extends Writable {
  readonly #cap: number
  readonly #decoder = new StringDecoder('utf8')
  #unread: Buffer[] = []
  #bytes = 0
  #dropped = false

  constructor(cap: number) {
    super()
    this.#cap = cap
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#unread.push(chunk)
    this.#bytes += chunk.length
    // The newest output is what a reader wants; a command that talks all day must not fill the memory.
    while (this.#bytes > this.#cap) {
      const first = this.#unread[0]!
      const excess = this.#bytes - this.#cap
      if (first.length <= excess) this.#unread.shift()
      else this.#unread[0] = first.subarray(excess)
      this.#bytes -= Math.min(first.length, excess)
      this.#dropped = true
    }
    done()
  }

  /** Everything since the last time; a character that is only half there waits for its rest. */
  take(): { readonly text: string; readonly dropped: boolean } {
    const text = this.#decoder.write(Buffer.concat(this.#unread))
    const taken = { text, dropped: this.#dropped }
    this.#unread = []
    this.#bytes = 0
    this.#dropped = false
    return taken
  }

  /** The last bytes, without taking them; for what is inferred from error messages. */
  tail(): string {
    return Buffer.concat(this.#unread).toString('utf8')
  }
}
