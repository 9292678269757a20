/** `.gitignore` files, as far as they decide what a search passes over. */

import ignore, { type Ignore } from 'ignore'

/** The rules of one file, and the directory they hold below: empty for the top, else ending in a slash. */
export interface IgnoreFile {
  readonly below: string
  readonly rules: Ignore
}

/** Longer files and lines are nobody's handwriting, and each rule is an expression to be matched. */
const MAX_RULES = 2000
const MAX_LENGTH = 500

/** Parses a file that stands in the directory `below`. */
export function parseIgnoreFile(text: string, below: string): IgnoreFile {
  const lines = text
    .split(/\r?\n/)
    .slice(0, MAX_RULES)
    .filter((line) => line.length <= MAX_LENGTH)
  return { below, rules: ignore({ allowRelativePaths: false }).add(lines) }
}

/** True when the nearest file that says anything says to pass it over. Files are given from the top down. */
export function isIgnored(files: readonly IgnoreFile[], relative: string, directory: boolean): boolean {
  for (let index = files.length - 1; index >= 0; index--) {
    const { below, rules } = files[index]!
    if (!relative.startsWith(below) || relative === below) continue
    const path = relative.slice(below.length)
    const { ignored, unignored } = rules.test(directory ? `${path}/` : path)
    if (ignored || unignored) return ignored
  }
  return false
}
