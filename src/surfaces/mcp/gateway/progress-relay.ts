/** Notes on the progress of one request, on their way to the client: a few at once, then not more than it can show, and the last one always. */

import type { Json } from '../json-rpc.ts'

const INTERVAL_MS = 100
/** Told as they come: a request with a few steps is heard step by step. */
const BURST = 10

export class ProgressRelay {
  readonly #tell: (given: Json) => void
  readonly #now: () => number
  /** How many may be told, as of `#counted`. */
  #left = BURST
  #counted = Number.NEGATIVE_INFINITY
  #waiting: Json | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(tell: (given: Json) => void, now: () => number) {
    this.#tell = tell
    this.#now = now
  }

  take(given: Json): void {
    this.#count()
    this.#waiting = given
    if (this.#left >= 1) this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), (1 - this.#left) * INTERVAL_MS)
  }

  /** Before the answer: what still waits is said, and nothing afterwards. */
  end(): void {
    this.#flush()
  }

  #flush(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    const given = this.#waiting
    this.#waiting = null
    if (given === null) return
    this.#count()
    this.#left = Math.max(0, this.#left - 1)
    this.#tell(given)
  }

  #count(): void {
    const now = this.#now()
    this.#left = Math.min(BURST, this.#left + (now - this.#counted) / INTERVAL_MS)
    this.#counted = now
  }
}
