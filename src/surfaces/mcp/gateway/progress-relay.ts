/** Notes on the progress of one request, on their way to the client: not more than it can show, and the last one always. */

import type { Json } from '../json-rpc.ts'

const INTERVAL_MS = 100

export class ProgressRelay {
  readonly #tell: (given: Json) => void
  readonly #now: () => number
  #told = Number.NEGATIVE_INFINITY
  #waiting: Json | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(tell: (given: Json) => void, now: () => number) {
    this.#tell = tell
    this.#now = now
  }

  take(given: Json): void {
    const early = INTERVAL_MS - (this.#now() - this.#told)
    this.#waiting = given
    if (early <= 0) this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), early)
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
    this.#told = this.#now()
    this.#tell(given)
  }
}
