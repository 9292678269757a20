/**
 * Recognises git directories that are not called `.git` by their content: bare ones, and targets of
 * a `.git` file or link.
 */

import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { gitInternalReason } from '../files/protected-paths.ts'

/** A git directory has these three, or the first and a `commondir`. */
const MARKS: readonly string[] = ['HEAD', 'objects', 'refs']
const POINTER = 'commondir'
const INTERNALS: readonly string[] = ['config', 'config.worktree', 'hooks', POINTER]

const COMPLETES = 'the last part of a git directory, whose configuration or hooks would run code from then on'

/**
 * Why writing a path in such a directory is refused, or null. Only names that matter are checked on
 * disk. `coming`: all that the same call creates, with the folders above.
 */
export function gitInternalAt(path: string, coming: ReadonlySet<string> = new Set()): string | null {
  for (let at = path; at !== posix.dirname(at); at = posix.dirname(at)) {
    const [folder, name] = [posix.dirname(at), posix.basename(at)]
    const has = (one: string) => {
      const place = posix.join(folder, one)
      return coming.has(place) || existsSync(place)
    }
    const reason = gitInternalReason(name)
    if (reason !== null && has('HEAD') && (name === POINTER || MARKS.every(has) || has(POINTER))) return reason
    if (!MARKS.includes(name) || existsSync(at)) continue
    const hasOthers = (name === 'HEAD' && has(POINTER)) || MARKS.every((mark) => mark === name || has(mark))
    if (hasOthers && INTERNALS.some(has)) return COMPLETES
  }
  return null
}
