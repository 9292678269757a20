/** Globs that would name a protected path: `cp x .gi?/hooks/pre-commit`, `tee cordon.tom?`. */

import { segmentsMeet } from './glob.ts'
import { splitPath } from './path-pattern.ts'
import { protectedNames } from './protected-names.ts'
import { foldName, type ProtectedFacts, protectedPath } from './protected-paths.ts'

/** What is in a repository or a project and is written by a glob only on purpose. */
const inProject: readonly string[] = ['.git', '.git/hooks', '.git/config', 'cordon.toml', 'cordon.toml.sig']

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
    // Only a name that the first wildcard is part of is in question: what lies before it is judged as it stands.
    for (let start = anywhere ? Math.max(0, first - parts.length + 1) : 0; start <= (anywhere ? first : 0); start++) {
      const aimed = parts.every((part, at) => aimsAt(pattern[start + at], part, at > 0 && parts[0] === '.git'))
      if (!aimed || start + parts.length <= first) continue
      const example = `/${[...pattern.slice(0, start), ...parts, ...pattern.slice(start + parts.length)].join('/')}`
      if (protectedPath(example, facts) !== null) return example
    }
  }
  return null
}

/** At least half of the name is written out, or it begins with the dot that wildcards do not match, or it is inside a repository. */
function aimsAt(segment: string | undefined, name: string, inside: boolean): boolean {
  if (segment === undefined) return false
  const pattern = foldName(segment)
  if (!segmentsMeet(pattern, foldName(name))) return false
  if (inside) return true
  if (name.startsWith('.')) return pattern.startsWith('.')
  // `*.json` is not aimed at `mcp.json`, but `x.code-work*` is at `*.code-workspace`.
  const [wanted, written] = name.startsWith('*') ? [extension(name), extension(pattern)] : [stem(name), stem(pattern)]
  return written.replace(/[*?]/g, '').length * 2 >= wanted.length
}

function stem(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(0, dot) : name
}

function extension(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? '' : name.slice(dot + 1)
}
