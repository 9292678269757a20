/** The project's own working trees: what git made of the same repository beside it counts as the project. */

import { posix } from 'node:path'
import { isInside } from '../../files/baseline.ts'
import { coversPath } from '../../files/path-pattern.ts'
import { rootProblem } from '../../files/root-place.ts'
import { builtInBundles } from '../../sandbox/bundles/built-in.ts'
import type { Files } from '../../system/files.ts'
import type { LoadedPolicy } from './load.ts'

/**
 * Directories that hold other working trees of the project's repository. The repository names them in a folder that an agent can
 * write, so each must name the repository in turn, by a file that lies where the agent has no say, and that this user made: a
 * place that write grants or the caches of bundles reach, or that is not a project (the home directory), is none.
 */
export function ownWorktrees({ root, policy }: LoadedPolicy, home: string, files: Files): readonly string[] {
  const administrative = posix.join(root, '.git', 'worktrees')
  return files.list(administrative).flatMap((name) => {
    const entry = posix.join(administrative, name)
    const written = firstLine(posix.join(entry, 'gitdir'), files)
    const place = posix.dirname(written)
    if (posix.basename(written) !== '.git' || files.canonical(written) !== written) return []
    if (firstLine(written, files) !== `gitdir: ${entry}`) return []
    if (!files.isOwn(written) || !files.isOwn(place)) return []
    if (rootProblem(place, home) !== null || isInside(root, place) || isWritable(written)) return []
    return [place]
  })

  function isWritable(path: string): boolean {
    const caches = () => builtInBundles().flatMap(({ cache, install }) => [...cache, ...install])
    const placed = (cache: string) => (cache.startsWith('~/') ? home + cache.slice(1) : cache)
    return (
      policy.writes.allow.some((rule) => coversPath(rule.pattern, path)) ||
      caches().some((cache) => isInside(path, placed(cache)))
    )
  }
}

/** Nothing where there is no such file. */
function firstLine(path: string, files: Files): string {
  try {
    return files.readText(path, 4096).trim()
  } catch {
    return ''
  }
}
