/** Searches long texts for many hints in one pass, and gives the stretches around them. */

const LETTERS = 38
const BLANK = 37
/** a to z are 1 to 26, digits 27 to 36, a blank is 37; anything else is in no hint. */
const LETTER = new Uint8Array(128)
LETTER[32] = BLANK
for (let code = 0; code < 26; code++) LETTER[97 + code] = 1 + code
for (let code = 0; code < 10; code++) LETTER[48 + code] = 27 + code

/** An automaton of all hints (Aho-Corasick), so that a text is read once however many there are. */
class HintAutomaton {
  readonly #next: Int16Array
  /** The hints that end in a state. */
  readonly #ends: readonly (readonly number[] | undefined)[]
  readonly #width: number

  constructor(hints: readonly string[]) {
    this.#width = (hints.length + 31) >> 5
    const trie = new Trie(hints.reduce((sum, hint) => sum + hint.length, 1))
    for (let number = 0; number < hints.length; number++) trie.add(hints[number]!, number)
    trie.complete()
    this.#next = trie.next
    this.#ends = trie.ends
  }

  find(text: string): HintHits {
    const next = this.#next
    const ends = this.#ends
    const width = this.#width
    const starts = [0]
    // Space for words of three letters; a text of shorter ones makes it grow.
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

/** In lists of numbers and plain loops: most processes scan one text, and take longer to build this than to scan it. */
class Trie {
  readonly next: Int16Array
  readonly ends: (readonly number[] | undefined)[] = [undefined]
  /** Of each state the letter it is reached by, its last child, and the child of its parent before it. */
  readonly #letter: Uint8Array
  readonly #child: Int16Array
  readonly #sibling: Int16Array

  constructor(size: number) {
    this.next = new Int16Array(size * LETTERS)
    this.#letter = new Uint8Array(size)
    this.#child = new Int16Array(size)
    this.#sibling = new Int16Array(size)
  }

  add(hint: string, number: number): void {
    const { next, ends } = this
    let state = 0
    for (let at = 0; at < hint.length; at++) {
      const letter = LETTER[hint.charCodeAt(at)]!
      const edge = state * LETTERS + letter
      let target = next[edge]!
      if (target === 0) {
        target = next[edge] = ends.push(undefined) - 1
        this.#letter[target] = letter
        this.#sibling[target] = this.#child[state]!
        this.#child[state] = target
      }
      state = target
    }
    ends[state] = [number]
  }

  /** Missing edges go where the longest proper suffix goes, and end what that suffix ends. */
  complete(): void {
    const { next, ends } = this
    const fallback = new Int16Array(ends.length)
    const queue = new Int16Array(ends.length)
    let queued = 1
    for (let i = 0; i < queued; i++) {
      const state = queue[i]!
      const suffix = fallback[state]! * LETTERS
      if (state !== 0) next.copyWithin(state * LETTERS, suffix, suffix + LETTERS)
      for (let target = this.#child[state]!; target !== 0; target = this.#sibling[target]!) {
        const letter = this.#letter[target]!
        const detour = state === 0 ? 0 : next[suffix + letter]!
        next[state * LETTERS + letter] = target
        fallback[target] = detour
        const own = ends[target]
        const inherited = ends[detour]
        if (inherited) ends[target] = own ? [...own, ...inherited] : inherited
        queue[queued++] = target
      }
    }
  }
}

/** A search for a fixed set of hints. */
export class HintSearch {
  /** By their text, in the order of their numbers. */
  readonly #numbers: ReadonlyMap<string, number>
  readonly #automaton: HintAutomaton

  constructor(hints: Iterable<string>) {
    const numbers = new Map<string, number>()
    for (const hint of hints) {
      if (!/^[a-z0-9 ]+$/.test(hint)) throw new RangeError(`no text of words has the hint ${JSON.stringify(hint)}`)
      if (!numbers.has(hint)) numbers.set(hint, numbers.size)
    }
    this.#numbers = numbers
    this.#automaton = new HintAutomaton([...numbers.keys()])
  }

  /** A set of a way, of hints that the search knows. */
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
    return this.#automaton.find(text)
  }
}

/** Words that make up a stretch. */
const STRETCH = 16

/** Where hints were found: for each stretch of words a bit for each hint. */
export interface HintHits {
  readonly text: string
  /** Where each stretch begins. */
  readonly starts: readonly number[]
  readonly bits: Int32Array
  /** The bits of all stretches together. */
  readonly anywhere: Int32Array
}

/** Hints of which one is enough: pairs of a position among the bits of a stretch, and a mask. */
type HintSet = Int32Array

/** Sets that must each have a hint in the text. */
export type Way = readonly HintSet[]

/** Whether for one of the ways every set has a hint somewhere. */
export function occurs({ anywhere }: HintHits, ways: readonly Way[]): boolean {
  return ways.some((way) => way.every((set) => hasOne(anywhere, 0, set)))
}

/** Of a text, [from, to). */
export type Part = readonly [from: number, to: number]

/**
 * The parts of the text that contain every match of at most `words` words with a hint of each set
 * of a way: around each hint of the first set, which should be rare, as far as a match can reach,
 * if one of every other set is there too.
 */
export function stretches(hits: HintHits, ways: readonly Way[], words: number): Part[] {
  const { text, starts } = hits
  const reach = Math.ceil((words - 1) / STRETCH)
  const possible = ways.filter((way) => occurs(hits, [way]))
  const parts: [number, number][] = []
  for (let stretch = 0; stretch < starts.length; stretch++) {
    let near = false
    for (let i = 0; i < possible.length && !near; i++) near = isNear(hits, possible[i]!, stretch, reach)
    if (!near) continue
    const from = starts[Math.max(0, stretch - reach)]!
    const next = stretch + reach + 1
    const to = next < starts.length ? starts[next]! - 1 : text.length
    const last = parts.at(-1)
    if (last && from <= last[1]) last[1] = to
    else parts.push([from, to])
  }
  return parts
}

/** Whether a stretch has a hint of the first set of a way, and its surroundings one of every other. */
function isNear({ bits, starts, anywhere }: HintHits, way: Way, stretch: number, reach: number): boolean {
  const width = anywhere.length
  if (way.length === 0 || !hasOne(bits, stretch * width, way[0]!)) return false
  const from = Math.max(0, stretch - reach)
  const to = Math.min(starts.length - 1, stretch + reach)
  for (let i = 1; i < way.length; i++) {
    let at = from
    while (at <= to && !hasOne(bits, at * width, way[i]!)) at++
    if (at > to) return false
  }
  return true
}

function hasOne(bits: Int32Array, base: number, set: HintSet): boolean {
  for (let i = 0; i < set.length; i += 2) if ((bits[base + set[i]!]! & set[i + 1]!) !== 0) return true
  return false
}
