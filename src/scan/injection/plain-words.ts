/** The words of a text, one blank apart. By bytes: a pattern that replaces every gap takes several times as long. */

import { characterClass } from '../character-class.ts'
import { createByteReader } from '../text-bytes.ts'

const BLANK = 0x20
const APOSTROPHE = 0x27
/** What stays: digits, small letters, and every byte of a character beyond ASCII. */
const KEPT: Uint8Array = characterClass('0-9a-z', 256).fill(1, 0x80)

const readBytes = createByteReader()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** A text in lower case without its apostrophes, everything else that is no letter or digit a single blank, none at the start. */
export function plainWords(text: string): string {
  const { bytes, size } = readBytes(text)
  let end = 0
  let gap = true
  for (let at = 0; at < size; at++) {
    const byte = bytes[at]!
    if (KEPT[byte] === 1) {
      bytes[end++] = byte
      gap = false
    } else if (!gap && byte !== APOSTROPHE) {
      bytes[end++] = BLANK
      gap = true
    }
  }
  return decoder.decode(bytes.subarray(0, end))
}
