/** A text as UTF-8, for a loop that looks at every character: over bytes it runs several times as fast as over a string. */

/** The bytes of a text; they are good until the next text is read. */
export interface TextBytes {
  readonly bytes: Uint8Array
  /** How many of the bytes belong to the text. */
  readonly size: number
}

/** Makes a reader that uses its memory again. */
export function createByteReader(): (text: string) => TextBytes {
  const encoder = new TextEncoder()
  let bytes = new Uint8Array(4096)
  return (text) => {
    // Most text is ASCII, or nearly: room for three times as much is made only for what needs it.
    const room = text.length + 1024
    if (bytes.length < room) bytes = new Uint8Array(Math.max(room, bytes.length * 2))
    const first = encoder.encodeInto(text, bytes)
    if (first.read === text.length) return { bytes, size: first.written }
    bytes = new Uint8Array(text.length * 3)
    return { bytes, size: encoder.encodeInto(text, bytes).written }
  }
}

/**
 * True if a character starts at a byte that is not ASCII; a pair of surrogates starts at its first and at its fourth byte, so that
 * characters are counted as in the string.
 */
export function startsCharacter(bytes: Uint8Array, at: number): boolean {
  return bytes[at]! >= 0xc0 || (at >= 3 && bytes[at - 3]! >= 0xf0)
}
