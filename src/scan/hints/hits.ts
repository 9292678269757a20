/** Where hints are in a text of words, and which parts of it are worth a closer look. */

/** Words that make up a stretch. */
export const STRETCH = 16

/** Where hints were found: for each stretch of words a bit for each hint. */
export interface HintHits {
  readonly text: string
  /** Where each stretch begins. */
  readonly starts: readonly number[]
  readonly bits: Int32Array
  /** The bits of all stretches together. */
  readonly anywhere: Int32Array
}

/** Hints of which one is enough, as bits to compare with: pairs of a place among the bits of a stretch, and a mask. */
export type HintSet = Int32Array

/** Finds hints, each by its number, in a text of words that stand one blank apart; the text's ends count as blanks. */
export interface HintFinder {
  find(text: string): HintHits
}

/** Sets of which each must have a hint in what is looked for. */
export type Way = readonly HintSet[]

/** Whether for one of the ways every set has a hint somewhere. */
export function occurs({ anywhere }: HintHits, ways: readonly Way[]): boolean {
  return ways.some((way) => way.every((set) => hasOne(anywhere, 0, set)))
}

/** Of a text, [from, to). */
export type Part = readonly [from: number, to: number]

/**
 * The parts of the text that hold whatever runs over at most `words` words and has a hint of each set of a way: around
 * each hint of the first set, which should be rare, as far as a match can reach, when one of every other is there too.
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
