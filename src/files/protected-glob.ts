/** Globs that would name a protected path: `cp x .gi?/hooks/pre-commit`, `tee cordon.tom?`. */

import { segmentsMeet } from './glob.ts'
import { splitPath } from './path-pattern.ts'
import { protectedNames } from './protected-names.ts'
import { foldName, type ProtectedFacts, protectedPath } from './protected-paths.ts'

/** What stands in a repository or a project and is written by a glob only on purpose. */
const inProject: readonly string[] = ['.git', '.git/hooks/x', '.git/config', 'cordon.toml', 'cordon.toml.sig']

/**
 * A protected path that this glob of a command would write, as an example; null when it is aimed at none. A glob that only
 * happens to match (`*`, `*.toml`) is left to the pins.
 */
export function protectedOfGlob(path: string, facts: ProtectedFacts): string | null {
  const pattern = splitPath(path.replace(/\[[^\]/]*\]/g, '?').replace(/\\(.)/g, '$1'))
  const first = pattern.findIndex((segment) => /[*?]/.test(segment))
  if (first < 0) return null
  for (const name of [...inProject, ...protectedNames.map((entry) => entry.path)]) {
    const parts = splitPath(name.startsWith('~/') ? facts.home + name.slice(1) : name)
    const anywhere = !name.startsWith('~/') && !name.startsWith('/')
    for (const start of anywhere ? pattern.keys() : [0]) {
      const behind = pattern.slice(start)
      if (start > first || start + parts.length <= first || !parts.every((part, at) => aimsAt(behind[at], part)))
        continue
      const example = `/${[...pattern.slice(0, start), ...parts, ...behind.slice(parts.length)].join('/')}`
      if (protectedPath(example, facts) !== null) return example
    }
  }
  return null
}

/** At least half of the name is written out, or it begins with the dot that wildcards do not match. */
function aimsAt(segment: string | undefined, name: string): boolean {
  if (segment === undefined) return false
  const pattern = foldName(segment)
  const literal = pattern.replace(/[*?]/g, '')
  const aims = name.startsWith('.') ? pattern.startsWith('.') : literal.length * 2 >= name.length
  return (aims || name === 'x') && segmentsMeet(pattern, foldName(name))
}
