/** The project's own working trees: what git made of the same repository beside it counts as the project. */

import { posix } from 'node:path'
import type { Files } from '../../system/files.ts'

/** Folders that people keep the working trees of a project in, beside it. */
const BESIDE: readonly string[] = ['.worktrees', '__worktrees', '-worktrees', '_worktrees']

/**
 * Directories that hold other working trees of the project's repository. The repository names them in a folder that an agent can
 * write, so each must name the repository in turn, by a file that lies where the agent has no say. A project that is not there
 * (`check` judges those too) has the folders beside it that carry its name.
 */
export function ownWorktrees(root: string, files: Files): readonly string[] {
  if (!files.exists(root)) return BESIDE.map((suffix) => root + suffix)
  const administrative = posix.join(root, '.git', 'worktrees')
  return files.list(administrative).flatMap((name) => {
    const entry = posix.join(administrative, name)
    const written = firstLine(posix.join(entry, 'gitdir'), files)
    const place = posix.dirname(written)
    if (posix.basename(written) !== '.git' || files.canonical(written) !== written) return []
    return firstLine(written, files) === `gitdir: ${entry}` ? [place] : []
  })
}

/** Nothing where there is no such file. */
function firstLine(path: string, files: Files): string {
  try {
    return files.readText(path, 4096).trim()
  } catch {
    return ''
  }
}
