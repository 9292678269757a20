/** Names as a careless file system or git compares them. */

/**
 * A name without case and without the code points that HFS+ ignores. By way of the upper case: `ſ` is its own letter in lower
 * case, and a Mac finds `.ssh` under `.ſsh`.
 */
export function foldName(name: string): string {
  if (isPlain(name)) return name.toLowerCase()
  return name.replace(IGNORED_CODE_POINTS, '').normalize('NFD').toUpperCase().toLowerCase().normalize('NFC')
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
  const plain = isPlain(path) ? path : path.replace(IGNORED_CODE_POINTS, '').replaceAll('\u212a', 'k')
  return plain.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

const IGNORED_CODE_POINTS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

function isPlain(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII as a whole is meant.
  return /^[\x00-\x7f]*$/.test(name)
}
