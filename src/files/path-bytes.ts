/** Names of paths: lossless strings for names that are not UTF-8, and folding of case. */

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

/** The string for a path's bytes. Names that are UTF-8 stay as they are, so that such a path compares with others. */
export function decodePath(bytes: Uint8Array): string {
  const names: string[] = []
  let start = 0
  for (let end = 0; end <= bytes.length; end++) {
    if (end < bytes.length && bytes[end] !== 0x2f) continue
    names.push(decodeName(bytes.subarray(start, end)))
    start = end + 1
  }
  return names.join('/')
}

/** The bytes of a path, as the kernel wants them. */
export function encodePath(path: string): Uint8Array {
  if (!/[\udc80-\udcff]/.test(path)) return encoder.encode(path)
  const bytes: number[] = []
  for (const char of path) {
    const code = char.codePointAt(0)!
    if (code >= 0xdc80 && code <= 0xdcff) bytes.push(code - 0xdc00)
    else bytes.push(...encoder.encode(char))
  }
  return Uint8Array.from(bytes)
}

function decodeName(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    return Array.from(bytes, (byte) => String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)).join('')
  }
}

/**
 * A name without case and without the code points that file systems ignore: HFS+, and Linux in
 * folders without case. By way of the upper case: `ſ` is its own letter in lower case, and a Mac
 * finds `.ssh` under `.ſsh`.
 */
export function foldName(name: string): string {
  if (isPlain(name)) return name.toLowerCase()
  return name
    .replace(IGNORED_CODE_POINTS, '')
    .normalize('NFD')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC')
}

/** A path with its names folded. */
export function foldPath(path: string): string {
  return isPlain(path) ? path.toLowerCase() : path.split('/').map(foldName).join('/')
}

/**
 * A path as the broker folds it (`fold` in native/broker/rules.c): ASCII letters, and what lax file
 * systems treat as such. Rules for the broker are folded in the same way, so both agree on a place
 * in another case.
 */
export function foldForBroker(path: string): string {
  const plain = isPlain(path)
    ? path
    : path
        .replace(IGNORED_CODE_POINTS, '')
        .replace(LETTERS, (letter) => letter.normalize('NFD').toLowerCase().toUpperCase())
  return plain.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

const IGNORED_CODE_POINTS = /\p{Default_Ignorable_Code_Point}/gu

/** What folds to letters of ASCII. */
const LETTERS = /[\u00df\u0131\u017f\u1e9e\u212a\ufb00-\ufb06]/g

function isPlain(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII as a whole is meant.
  return /^[\x00-\x7f]*$/.test(name)
}
