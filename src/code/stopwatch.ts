/** A time limit that pauses while something else is awaited. */

export class Stopwatch {
  readonly #rung: () => void
  #left: number
  #since: number
  #paused = 0
  #timer: NodeJS.Timeout | null

  constructor(milliseconds: number, rung: () => void) {
    this.#rung = rung
    this.#left = milliseconds
    this.#since = performance.now()
    this.#timer = setTimeout(rung, milliseconds)
  }

  /** Nested pauses must each be resumed. */
  pause(): void {
    this.#paused += 1
    if (this.#paused > 1 || this.#timer === null) return
    clearTimeout(this.#timer)
    this.#left -= performance.now() - this.#since
  }

  resume(): void {
    this.#paused -= 1
    if (this.#paused > 0 || this.#timer === null) return
    this.#since = performance.now()
    this.#timer = setTimeout(this.#rung, Math.max(0, this.#left))
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }
}
