/**
 * The features of a text for the classifier: each sentence as hashed words, word pairs and letter
 * groups, with the kind of text around it. The same code trains and scores.
 */

/** How many weights there are; a power of two, so that a hash is cut to it. */
export const BUCKETS: number = 1 << 16

/** Takes a sentence: its span, and the indexes of its features, which the next call overwrites. */
type SentenceReader = (start: number, end: number, features: Int32Array, count: number) => void

/** Longer sentences are read in pieces: what steers an agent is said shortly. */
const MAX_WORDS = 40
const MIN_WORDS = 3
/** The most features of a sentence; further ones are ignored. */
const MAX_FEATURES = 1024

/** Reads the sentences of a text that is in lower case. */
export function readSentences(text: string, take: SentenceReader): void {
  const kind = kindOf(text)
  const features = new Int32Array(MAX_FEATURES)
  let line = 0
  while (line < text.length) {
    let end = text.indexOf('\n', line)
    if (end < 0) end = text.length
    let start = line
    for (let at = line; at < end; at++) {
      const sign = text.charCodeAt(at)
      const ends = sign === FULL_STOP || sign === EXCLAMATION || sign === QUESTION
      if (!ends || (at + 1 < end && text.charCodeAt(at + 1) !== BLANK)) continue
      read(text, start, at + 1, kind, features, take)
      start = at + 1
    }
    if (start < end) read(text, start, end, kind, features, take)
    line = end + 1
  }
}

/** The kind of most lines of a text; instructions are rarer in a table than in a letter. */
function kindOf(text: string): number {
  let lines = 0
  let tables = 0
  let pairs = 0
  let code = 0
  for (let at = 0; at < text.length && lines < 200; lines++) {
    let end = text.indexOf('\n', at)
    if (end < 0) end = text.length
    const first = text.charCodeAt(at)
    const last = text.charCodeAt(end - 1)
    const colon = text.indexOf(':', at)
    if (first === 124) tables++
    else if (first === 32 || first === 9 || last === 59 || last === 123 || last === 125 || last === 41) code++
    else if (colon > at && colon < end && colon - at < 32) pairs++
    at = end + 1
  }
  if (lines <= 2) return 1
  if (tables * 2 > lines) return 2
  if (code * 2 > lines) return 3
  if (pairs * 2 > lines) return 4
  return 5
}

const BLANK = 32
const QUESTION = 63
const FULL_STOP = 46
const EXCLAMATION = 33

const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

/** Reads one sentence. Words are letters, digits and apostrophes; everything beyond ASCII counts as a letter. */
function read(text: string, from: number, to: number, kind: number, features: Int32Array, take: SentenceReader): void {
  let count = 0
  let words = 0
  let start = from
  let begun = -1
  let hash = OFFSET
  let before = 0
  let beforeThat = 0
  let group = 0
  const add = (base: number, more: number) => {
    if (count < MAX_FEATURES) features[count++] = bucket(Math.imul(base ^ more, PRIME))
  }
  const finish = (end: number) => {
    if (words >= MIN_WORDS) {
      add(7, kind)
      if (text.charCodeAt(end - 1) === QUESTION) add(11, kind)
      take(start, end, features, count)
    }
    count = 0
    words = 0
    before = 0
    beforeThat = 0
    start = end
  }
  for (let at = from; at <= to; at++) {
    const sign = at < to ? text.charCodeAt(at) : BLANK
    if (isLetter(sign)) {
      if (begun < 0) {
        begun = at
        hash = OFFSET
        group = 0
      }
      hash = Math.imul(hash ^ sign, PRIME)
      group = ((group << 8) ^ sign) | 0
      if (at - begun >= 3) add(0x5bd1e995, group)
      continue
    }
    if (begun < 0) continue
    begun = -1
    words++
    add(1, hash)
    if (words === 1) {
      add(2, hash)
      add(3 + kind * 16, hash)
    } else {
      add(Math.imul(before, 31), hash)
      if (words === 2) add(5 ^ Math.imul(before, 37), hash)
    }
    if (words > 2) add(Math.imul(beforeThat, 41), hash)
    beforeThat = before
    before = hash
    if (words === MAX_WORDS) finish(at)
  }
  finish(to)
}

function isLetter(sign: number): boolean {
  return (sign >= 97 && sign <= 122) || (sign >= 48 && sign <= 57) || sign === 39 || sign > 127
}

function bucket(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (mixed ^ (mixed >>> 13)) & (BUCKETS - 1)
}
