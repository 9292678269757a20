/** Looks for many hints in long texts: every character is read once, however many hints there are. */

import { type HintFinder, type HintHits, STRETCH } from './hits.ts'

const LETTERS = 38
const BLANK = 37
/** a to z are 1 to 26, digits 27 to 36, a blank is 37; anything else is in no hint. */
const LETTER = new Uint8Array(128)
LETTER[32] = BLANK
for (let code = 0; code < 26; code++) LETTER[97 + code] = 1 + code
for (let code = 0; code < 10; code++) LETTER[48 + code] = 27 + code

/** An automaton of all hints (Aho-Corasick), so that a text is read once however many there are. */
export class HintAutomaton implements HintFinder {
  readonly #next: Int16Array
  /** The hints that end in a state. */
  readonly #ends: readonly (readonly number[] | undefined)[]
  readonly #width: number

  constructor(hints: readonly string[]) {
    this.#width = (hints.length + 31) >> 5
    const size = hints.reduce((sum, hint) => sum + hint.length, 1)
    const next = new Int16Array(size * LETTERS)
    const ends: (number[] | undefined)[] = [undefined]
    const children: number[][] = [[]]
    for (const [number, hint] of hints.entries()) {
      let state = 0
      for (let at = 0; at < hint.length; at++) {
        const letter = LETTER[hint.charCodeAt(at)]!
        const edge = state * LETTERS + letter
        if (next[edge] === 0) {
          next[edge] = ends.length
          ends.push(undefined)
          children[state]!.push(letter)
          children.push([])
        }
        state = next[edge]!
      }
      ends[state] = [number]
    }
    completeFailures(next, ends, children)
    this.#next = next
    this.#ends = ends
  }

  find(text: string): HintHits {
    const next = this.#next
    const ends = this.#ends
    const width = this.#width
    const starts = [0]
    // Room for words of three letters; a text of shorter ones makes it grow.
    let bits = new Int32Array(((text.length >> 6) + 1) * width)
    let base = 0
    let words = 0
    let state = next[BLANK]!
    for (let at = 0; at <= text.length; at++) {
      const code = at < text.length ? text.charCodeAt(at) : 32
      const letter = code < 128 ? LETTER[code]! : 0
      state = letter === 0 ? 0 : next[state * LETTERS + letter]!
      const found = ends[state]
      if (found !== undefined)
        for (let i = 0; i < found.length; i++) bits[base + (found[i]! >> 5)]! |= 1 << (found[i]! & 31)
      if (code === 32 && ++words === STRETCH && at < text.length) {
        words = 0
        base += width
        starts.push(at + 1)
        if (base + width > bits.length) bits = grown(bits)
      }
    }
    const anywhere = new Int32Array(width)
    for (let stretch = 0; stretch <= base; stretch += width)
      for (let i = 0; i < width; i++) anywhere[i]! |= bits[stretch + i]!
    return { text, starts, bits, anywhere }
  }
}

function grown(bits: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const more = new Int32Array(bits.length * 2)
  more.set(bits)
  return more
}

/** Missing edges lead where the longest proper suffix leads, and what ends in that suffix ends here too. */
function completeFailures(
  next: Int16Array,
  ends: (number[] | undefined)[],
  children: readonly (readonly number[])[],
): void {
  const fallback = new Int16Array(ends.length)
  const queue: number[] = [0]
  for (let i = 0; i < queue.length; i++) {
    const state = queue[i]!
    const own = children[state]!.map((letter) => next[state * LETTERS + letter]!)
    const suffix = fallback[state]!
    if (state !== 0) next.copyWithin(state * LETTERS, suffix * LETTERS, (suffix + 1) * LETTERS)
    for (const [index, letter] of children[state]!.entries()) {
      const target = own[index]!
      const detour = state === 0 ? 0 : next[suffix * LETTERS + letter]!
      next[state * LETTERS + letter] = target
      fallback[target] = detour
      const inherited = ends[detour]
      if (inherited) ends[target] = [...(ends[target] ?? []), ...inherited]
      queue.push(target)
    }
  }
}
