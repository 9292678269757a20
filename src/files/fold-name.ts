/** Names as a careless file system or git compares them. */

/**
 * A name without case and without the code points that HFS+ ignores, or Linux where a folder ignores case. By way of the upper case: `ſ` is its own letter in lower
 * case, and a Mac finds `.ssh` under `.ſsh`.
 */
export function foldName(name: string): string {
  if (isPlain(name)) return name.toLowerCase()
  return name.replace(IGNORED_CODE_POINTS, '').normalize('NFD').toLowerCase().toUpperCase().toLowerCase().normalize('NFC')
}

/** A path with its names folded. */
export function foldPath(path: string): string {
  return isPlain(path) ? path.toLowerCase() : path.split('/').map(foldName).join('/')
}

/**
 * A path as the broker folds it (`fold` in native/broker/rules.c): ASCII alone, and what a careless file system takes for it. Rules for the
 * broker are folded in this way, so that a place whose path has other letters in upper case is the same to both.
 */
export function foldForBroker(path: string): string {
  const plain = isPlain(path)
    ? path
    : path.replace(IGNORED_CODE_POINTS, '').replace(LETTERS, (letter) => letter.normalize('NFD').toLowerCase().toUpperCase())
  return plain.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

const IGNORED_CODE_POINTS = /\p{Default_Ignorable_Code_Point}/gu

/** What folds to letters of ASCII. */
const LETTERS = /[\u00df\u0131\u017f\u1e9e\u212a\ufb00-\ufb06]/g

function isPlain(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII as a whole is meant.
  return /^[\x00-\x7f]*$/.test(name)
}
