/** The time limit of a program, without the time in which it only waits for guarded calls. */

/** Between two looks at a program that waits; irregular, so that nothing can hide between them. */
const LOOK_MS = 60
const MORE_MS = 80

export class ProgramClock {
  readonly #used: () => string | null
  readonly #rung: () => void
  #left: number
  #calls = 0
  #since = performance.now()
  /** What was used at that moment; null without a call. */
  #before: string | null = null
  #timer: NodeJS.Timeout | null

  /**
   * `used` is the processor time of everything inside, as a text: two equal ones mean that nothing
   * ran. Null means unknown, which counts as running.
   */
  constructor(milliseconds: number, used: () => string | null, rung: () => void) {
    this.#left = milliseconds
    this.#used = used
    this.#rung = rung
    this.#timer = setTimeout(() => this.#look(), milliseconds)
  }

  callBegins(): void {
    this.#calls += 1
    if (this.#calls === 1) this.#look()
  }

  callEnds(): void {
    this.#calls -= 1
    if (this.#calls === 0) this.#look()
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  /** Counts the time since the last look, unless the program waited. */
  #look(): void {
    if (this.#timer === null) return
    clearTimeout(this.#timer)
    const now = performance.now()
    const used = this.#calls > 0 || this.#before !== null ? this.#used() : null
    if (used === null || used !== this.#before) this.#left -= now - this.#since
    this.#since = now
    this.#before = this.#calls > 0 ? used : null
    if (this.#left <= 0) {
      this.#timer = null
      this.#rung()
      return
    }
    const wait = this.#calls > 0 ? LOOK_MS + Math.random() * MORE_MS : this.#left
    this.#timer = setTimeout(() => this.#look(), wait)
  }
}
