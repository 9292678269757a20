/** Looks for many hints at once: one pass over a text of words says which hints occur in which stretch of it. */

import { HintAutomaton } from './automaton.ts'
import { type HintFinder, type HintHits, type HintSet, STRETCH } from './hits.ts'

/** Hints by the three characters they start with. */
export class HintIndex implements HintFinder {
  readonly #hints: readonly string[]
  readonly #byStart = new Map<string, number[]>()
  /** Those that have no three characters. */
  readonly #short: number[] = []

  constructor(hints: readonly string[]) {
    this.#hints = hints
    for (const [number, hint] of hints.entries()) {
      if (hint.length < 3) this.#short.push(number)
      else {
        const start = hint.slice(0, 3)
        const known = this.#byStart.get(start)
        if (known) known.push(number)
        else this.#byStart.set(start, [number])
      }
    }
  }

  find(text: string): HintHits {
    const width = (this.#hints.length + 31) >> 5
    const starts = stretchStarts(text)
    const bits = new Int32Array(starts.length * width)
    const anywhere = new Int32Array(width)
    const padded = ` ${text} `
    let stretch = 0
    const found = (hint: number, at: number): void => {
      // The place in the text of the hint's last character, which decides the stretch.
      const end = at + this.#hints[hint]!.length - 2
      let its = stretch
      while (its + 1 < starts.length && starts[its + 1]! <= end) its++
      bits[its * width + (hint >> 5)]! |= 1 << (hint & 31)
      anywhere[hint >> 5]! |= 1 << (hint & 31)
    }
    for (let at = 0; at < padded.length; at++) {
      if (stretch + 1 < starts.length && starts[stretch + 1]! <= at - 1) stretch++
      for (const hint of this.#byStart.get(padded.slice(at, at + 3)) ?? [])
        if (padded.startsWith(this.#hints[hint]!, at)) found(hint, at)
      for (const hint of this.#short) if (padded.startsWith(this.#hints[hint]!, at)) found(hint, at)
    }
    return { text, starts, bits, anywhere }
  }
}

function stretchStarts(text: string): number[] {
  const starts = [0]
  let words = 0
  for (let at = text.indexOf(' '); at >= 0; at = text.indexOf(' ', at + 1)) {
    if (++words % STRETCH === 0) starts.push(at + 1)
  }
  return starts
}

/** From so many characters on, an automaton is worth the time that it takes to make. */
const WORTH_AUTOMATON = 8192

/** A search for a fixed set of hints. */
export class HintSearch {
  /** By their text, in the order of their numbers. */
  readonly #numbers: ReadonlyMap<string, number>
  #finder: HintFinder
  #left = WORTH_AUTOMATON

  constructor(hints: Iterable<string>) {
    const numbers = new Map<string, number>()
    for (const hint of hints) {
      if (!/^[a-z0-9 ]+$/.test(hint)) throw new RangeError(`no text of words has the hint ${JSON.stringify(hint)}`)
      if (!numbers.has(hint)) numbers.set(hint, numbers.size)
    }
    this.#numbers = numbers
    this.#finder = new HintIndex([...numbers.keys()])
  }

  /** A set of a way, of hints that the search was made with. */
  set(hints: readonly string[]): HintSet {
    const masks = new Int32Array((this.#numbers.size + 31) >> 5)
    for (const hint of hints) {
      const number = this.#numbers.get(hint)!
      masks[number >> 5]! |= 1 << (number & 31)
    }
    const pairs: number[] = []
    for (let at = 0; at < masks.length; at++) if (masks[at] !== 0) pairs.push(at, masks[at]!)
    return Int32Array.from(pairs)
  }

  /** Reads a text of words, one blank apart. Its ends count as blanks. */
  find(text: string): HintHits {
    if (this.#left >= 0) {
      this.#left -= text.length
      if (this.#left < 0) this.#finder = new HintAutomaton([...this.#numbers.keys()])
    }
    return this.#finder.find(text)
  }
}
