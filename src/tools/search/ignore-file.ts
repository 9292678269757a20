/** `.gitignore` files, as far as they decide what a search passes over. */

import { matchSegments } from '../../files/glob.ts'

export interface IgnoreRule {
  readonly segments: readonly string[]
  readonly negated: boolean
  readonly directoriesOnly: boolean
}

const MAX_RULES = 2000
const MAX_LENGTH = 500

/** Parses a file that stands in the directory `prefix` (empty for the top, else ending in a slash). */
export function parseIgnoreFile(text: string, prefix: string): IgnoreRule[] {
  const above = prefix.split('/').filter((segment) => segment !== '')
  return text
    .split(/\r?\n/)
    .slice(0, MAX_RULES)
    .flatMap((line) => {
      const trimmed = line.length > MAX_LENGTH ? '' : line.replace(/(?<!\\) +$/, '')
      if (trimmed === '' || trimmed.startsWith('#')) return []
      const negated = trimmed.startsWith('!')
      const pattern = (negated ? trimmed.slice(1) : trimmed).replace(/^\\/, '')
      const directoriesOnly = pattern.endsWith('/')
      const body = directoriesOnly ? pattern.slice(0, -1) : pattern
      const segments = body.split('/').filter((segment) => segment !== '')
      if (segments.length === 0) return []
      // A pattern without a slash in it holds at any depth below its file.
      const floating = !body.includes('/')
      return [{ segments: [...above, ...(floating ? ['**'] : []), ...segments], negated, directoriesOnly }]
    })
}

/** True when the last rule that matches says to pass it over. */
export function isIgnored(rules: readonly IgnoreRule[], relative: string, directory: boolean): boolean {
  if (rules.length === 0) return false
  const path = relative.split('/')
  for (let index = rules.length - 1; index >= 0; index--) {
    const rule = rules[index]!
    if ((directory || !rule.directoriesOnly) && matchSegments(rule.segments, path)) return !rule.negated
  }
  return false
}
