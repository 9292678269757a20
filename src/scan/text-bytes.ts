/** A text as UTF-8 and classes of characters: loops over bytes are several times as fast. */

/** The bytes of a text; they are good until the next text is read. */
export interface TextBytes {
  readonly bytes: Uint8Array
  /** How many of the bytes belong to the text. */
  readonly size: number
}

/** Larger buffers are released instead of kept for the next text. */
const KEPT = 1 << 20

/** Makes a reader that uses its memory again. */
export function createByteReader(): (text: string) => TextBytes {
  const encoder = new TextEncoder()
  let kept = new Uint8Array(4096)
  const layoutFor = (size: number): Uint8Array<ArrayBuffer> => {
    if (size <= kept.length) return kept
    const buffer = new Uint8Array(Math.max(size, Math.min(kept.length * 2, KEPT)))
    if (buffer.length <= KEPT) kept = buffer
    return buffer
  }
  return (text) => {
    // Most text is ASCII, or nearly: three times the space is allocated only if needed.
    const bytes = layoutFor(text.length + 1024)
    const { read, written } = encoder.encodeInto(text, bytes)
    if (read === text.length) return { bytes, size: written }
    const more = layoutFor(text.length * 3)
    return { bytes: more, size: encoder.encodeInto(text, more).written }
  }
}

/**
 * True if a character starts at a byte that is not ASCII; a pair of surrogates starts at its first and at its fourth byte, so that
 * characters are counted as in the string.
 */
export function startsCharacter(bytes: Uint8Array, at: number): boolean {
  return bytes[at]! >= 0xc0 || (at >= 3 && bytes[at - 3]! >= 0xf0)
}

/** The codes of ranges such as `A-Za-z0-9_-`, each as 1; a final dash is a dash. */
export function characterClass(ranges: string, size: number = 128): Uint8Array {
  const members = new Uint8Array(size)
  for (let at = 0; at < ranges.length; at++) {
    const first = ranges.charCodeAt(at)
    const isRange = ranges[at + 1] === '-' && at + 2 < ranges.length
    if (isRange) at += 2
    members.fill(1, first, ranges.charCodeAt(at) + 1)
  }
  return members
}
