/** Names as a careless file system or git compares them. */

/** A name in lower case, without the code points that HFS+ ignores. */
export function foldName(name: string): string {
  return isPlain(name) ? name.toLowerCase() : name.replace(IGNORED_CODE_POINTS, '').normalize('NFC').toLowerCase()
}

const IGNORED_CODE_POINTS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

function isPlain(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII as a whole is meant.
  return /^[\x00-\x7f]*$/.test(name)
}
