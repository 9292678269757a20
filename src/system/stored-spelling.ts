/** One file has one name: on a file system that finds it under others too, the name it is stored under. */

import { posix } from 'node:path'

/**
 * The path with every part as its folder lists it. What is not there yet stays as it is written. `list` gives the names of a
 * folder, none where it cannot be read.
 */
export function storedSpelling(path: string, list: (folder: string) => readonly string[]): string {
  let stored = '/'
  for (const name of path.split('/').filter((part) => part !== '')) {
    const names = list(stored)
    const folded = alike(name)
    stored = posix.join(stored, names.includes(name) ? name : (names.find((one) => alike(one) === folded) ?? name))
  }
  return stored
}

/** The form that all spellings of a name share: without case, composed, and without what HFS+ does not see. */
function alike(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII as a whole is meant.
  if (/^[\x00-\x7f]*$/.test(name)) return name.toLowerCase()
  return [...name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '').normalize('NFD')]
    .map(withoutCase)
    .join('')
    .normalize('NFC')
}

/** One letter stays one: `ß` is not `ss` to a file system. Through the upper case, so that `ſ` is an `s`. */
function withoutCase(letter: string): string {
  const one = (changed: string): string => ([...changed].length === 1 ? changed : letter)
  return one(one(letter.toUpperCase()).toLowerCase())
}
