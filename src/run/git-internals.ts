/**
 * Recognises git directories that are not called `.git` by their content: bare ones, and targets of
 * a `.git` file or link.
 */

import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { gitInternalReason } from '../files/protected-paths.ts'

/** A git directory has these three, or the first and a `commondir`. */
const MARKS: readonly string[] = ['HEAD', 'objects', 'refs']

const COMPLETES = 'the last part of a git directory, whose configuration or hooks would run code from then on'

/**
 * Why writing a path in such a directory is refused, or null. Only names that matter are checked on
 * disk.
 */
export function gitInternalAt(path: string): string | null {
  for (let at = path; at !== posix.dirname(at); at = posix.dirname(at)) {
    const [folder, name] = [posix.dirname(at), posix.basename(at)]
    const reason = gitInternalReason(name)
    if (reason !== null && isGitDirectory(folder)) return reason
    if (MARKS.includes(name) && !existsSync(at) && isGitDirectory(folder, name) && holdsInternals(folder))
      return COMPLETES
  }
  return null
}

/** `coming` is about to exist. */
function isGitDirectory(folder: string, coming?: string): boolean {
  const has = (name: string) => name === coming || existsSync(posix.join(folder, name))
  return has('HEAD') && (MARKS.every(has) || has('commondir'))
}

function holdsInternals(folder: string): boolean {
  return ['config', 'config.worktree', 'hooks'].some((name) => existsSync(posix.join(folder, name)))
}
