/**
 * Finds secrets in bytes in a time that depends only on the bytes, not on how much of a secret they
 * contain. A host echoes guesses of a command. If better guesses took longer, the command could
 * find the secret character by character.
 */

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { LONGEST_ESCAPE, type UnescapedBytes, unescapeBytes } from './escapes.ts'
import type { SecretForm } from './secret-forms.ts'

/** A secret in some bytes. */
export interface FoundSecret {
  readonly start: number
  readonly end: number
  readonly form: SecretForm
}

export interface SearchedBytes {
  /** In order, not nested. */
  readonly found: readonly FoundSecret[]
  /**
   * From here on, bytes wait for the next ones, whatever they are: a secret may have started there.
   */
  readonly waitsFrom: number
}

export type SecretSearch = (bytes: Buffer) => SearchedBytes

/** Decoded layers of escapes, such as JSON in JSON in a URL. */
const LAYERS = 3
/** The most bytes that wait, however escaped. */
export const MOST_WAITING: number = 16 * 1024
/**
 * The start of a long form is not compared: the text before it may end in half an escape that
 * absorbs its first characters. The rest is too long to guess.
 */
const UNCOMPARED = 8
const LONG = 24
const SHORTEST = 4

/** A text to find, and the number of form bytes before it. */
interface Needle {
  readonly bytes: Buffer
  readonly before: number
  readonly form: SecretForm
}

/** `isSame` compares two texts of equal length in constant time. */
export function createSearch(
  secrets: readonly (readonly SecretForm[])[],
  isSame: (a: Buffer, b: Buffer) => boolean = timingSafeEqual,
): SecretSearch {
  const needles = secrets.map((forms) => forms.flatMap(needlesOf))
  const scans = needles.filter((some) => some.length > 0).map((some) => createScan(some, isSame))
  const shortest = Math.min(...needles.flat().map(({ bytes }) => bytes.length))
  const longest = Math.max(0, ...needles.flat().map(({ bytes, before }) => bytes.length + before))
  const waiting = longest - 1 + LAYERS * (LONGEST_ESCAPE - 1)

  /**
   * Searches printable bytes that start at `from`. Returns the position of the first waiting byte.
   */
  function searchRun(run: Buffer, from: number, found: FoundSecret[]): number {
    let view = run
    let starts: Uint32Array | null = null
    for (let layer = 0; ; layer++) {
      const place = (at: number) => from + (starts === null ? at : starts[at]!)
      for (const scan of scans) {
        scan(view, ({ before, bytes, form }, end) => {
          found.push({ start: place(Math.max(0, end - bytes.length - before)), end: place(end), form })
        })
      }
      const next: UnescapedBytes | null = layer === LAYERS ? null : unescapeBytes(view, starts)
      if (next === null) return place(Math.max(0, view.length - waiting))
      view = next.bytes
      starts = next.starts
    }
  }

  return (bytes) => {
    if (scans.length === 0) return { found: [], waitsFrom: bytes.length }
    const found: FoundSecret[] = []
    let waitsFrom = bytes.length
    for (let at = 0; at < bytes.length; at++) {
      const from = at
      while (at < bytes.length && isPrintable(bytes[at]!)) at++
      if (at - from >= shortest) waitsFrom = searchRun(bytes.subarray(from, at), from, found)
      else waitsFrom = from
    }
    if (bytes.length === 0 || !isPrintable(bytes[bytes.length - 1]!)) waitsFrom = bytes.length
    return { found: merged(found), waitsFrom: Math.max(waitsFrom, bytes.length - MOST_WAITING) }
  }
}

/**
 * Secrets and their escapes are printable ASCII, so bytes before any other byte need not wait: it
 * ends a line, a Redis message or a stream event.
 */
function isPrintable(byte: number): boolean {
  return byte >= 0x20 && byte <= 0x7e
}

/** The form, and its text if parts of it were decoded as escapes. */
function needlesOf(form: SecretForm): Needle[] {
  const needles: Needle[] = []
  let bytes: Buffer | undefined = form.bytes
  for (let layer = 0; layer <= LAYERS && bytes !== undefined && bytes.length >= SHORTEST; layer++) {
    const before = bytes.length >= LONG ? UNCOMPARED : 0
    needles.push({ bytes: bytes.subarray(before), before, form })
    bytes = unescapeBytes(bytes)?.bytes
  }
  return needles
}

type Scan = (bytes: Buffer, onFound: (needle: Needle, end: number) => void) => void

/** Uses a rolling hash of the last bytes with a random multiplier. */
function createScan(needles: readonly Needle[], isSame: (a: Buffer, b: Buffer) => boolean): Scan {
  const width = Math.min(...needles.map(({ bytes }) => bytes.length))
  const multiplier = randomBytes(4).readInt32LE() | 1
  let leaving = 1
  for (let step = 0; step < width; step++) leaving = Math.imul(leaving, multiplier)
  const hashOf = (bytes: Buffer) => bytes.reduce((hash, byte) => (Math.imul(hash, multiplier) + byte) | 0, 0)
  const byHash = new Map<number, Needle[]>()
  const hints = new Uint8Array(1 << 16)
  for (const needle of needles) {
    const hash = hashOf(needle.bytes.subarray(needle.bytes.length - width))
    byHash.set(hash, [...(byHash.get(hash) ?? []), needle])
    hints[hintOf(hash)] = 1
  }

  const leavingOf = Int32Array.from({ length: 256 }, (_, byte) => Math.imul(leaving, byte))

  return (bytes, onFound) => {
    let hash = 0
    for (let at = 0; at < bytes.length; at++) {
      hash = (Math.imul(hash, multiplier) + bytes[at]! - (at < width ? 0 : leavingOf[bytes[at - width]!]!)) | 0
      if (hints[hintOf(hash)] === 0) continue
      for (const needle of byHash.get(hash) ?? []) {
        const start = at + 1 - needle.bytes.length
        if (start >= 0 && isSame(bytes.subarray(start, at + 1), needle.bytes)) onFound(needle, at + 1)
      }
    }
  }
}

/** Mixes the hash, so that the last byte also affects the upper half. */
function hintOf(hash: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> 16
}

function merged(found: readonly FoundSecret[]): FoundSecret[] {
  const kept: FoundSecret[] = []
  for (const one of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.at(-1)
    if (last === undefined || one.start >= last.end) kept.push(one)
    else if (one.end > last.end) kept[kept.length - 1] = { ...last, end: one.end }
  }
  return kept
}
