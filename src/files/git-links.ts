/**
 * Links in a git directory. git writes its logs, index and messages through them, as the person who
 * commits, so `.git/logs/HEAD -> ~/.bashrc` would run code.
 */

import { foldName } from './path-bytes.ts'
import { gitInternalReason } from './protected-paths.ts'

/** Whether a path lies below a `.git`, or the like. */
export function isBelowGit(path: string): boolean {
  return path.split('/').slice(0, -1).some(isGit)
}

function isGit(name: string): boolean {
  return STORES.has(foldName(name))
}

/** Other tools write to their folders in the same way. */
const STORES: ReadonlySet<string> = new Set(['.git', '.hg', '.jj', '.sl'])

/**
 * Whether a link resolves further down in its folder, wherever that moves, and to nothing that git
 * runs. git itself creates such links (HEAD, and a test whether links work).
 */
export function isDownwardLink(target: string): boolean {
  if (target.startsWith('/')) return false
  return target.split('/').every((name) => name !== '..' && gitInternalReason(name) === null)
}
