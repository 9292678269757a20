/** Looks for many hints in a short text: made at once, where an automaton takes a process longer than reading what it has to read. */

import { type HintFinder, type HintHits, STRETCH } from './hits.ts'

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
