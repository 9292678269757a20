/** How many calls an agent makes in a minute, held to what its ring allows (P8). */

const MINUTE_MS = 60_000

export class CallRate {
  readonly #now: () => number
  readonly #calls: number[]

  constructor(now: () => number, calls: readonly number[] = []) {
    this.#now = now
    this.#calls = [...calls]
  }

  /** When the calls of the last minute came. */
  get calls(): readonly number[] {
    return this.#calls
  }

  /** Takes a call; or seconds until the next one may come. */
  take(perMinute: number | null): number | null {
    const now = this.#now()
    while (this.#calls.length > 0 && this.#calls[0]! <= now - MINUTE_MS) this.#calls.shift()
    if (perMinute !== null && this.#calls.length >= perMinute) {
      const oldest = this.#calls[this.#calls.length - perMinute]
      return Math.max(1, Math.ceil(((oldest ?? now) + MINUTE_MS - now) / 1000))
    }
    if (perMinute !== null) this.#calls.push(now)
    return null
  }
}
