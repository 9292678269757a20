/** A time limit that stands still while something else is waited for. */

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

  /** May be called several times; it goes on when each was resumed. */
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
