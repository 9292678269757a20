/** Looks for many hints at once: one pass over a text of words says which hints occur in which stretch of it. */

import { HintAutomaton } from './automaton.ts'
import type { HintFinder, HintHits, HintSet } from './hits.ts'
import { HintIndex } from './index-of-hints.ts'

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
