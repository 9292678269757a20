/**
 * Decides whether a command itself changed a path, and not a person or another program meanwhile
 * (F8).
 */

import { lstatSync, realpathSync, type Stats } from 'node:fs'
import type { JournalRecord } from '../undo/journal.ts'

/**
 * By the journal of its changes. In doubt it is the command's: another name of the file, or a link
 * that it created.
 */
export function ownChanges(records: readonly JournalRecord[]): (path: string) => boolean {
  const touched = new Set<string>()
  const moved = new Set<string>()
  const written = new Set<number>()
  for (const { op, path, other, before } of records) {
    if (op === 'refused' || op === 'noted') continue
    touched.add(path)
    if (op === 'written') written.add(Number(before.inode))
    if (op !== 'renamed' && op !== 'exchanged') continue
    touched.add(other)
    moved.add(path).add(other)
  }
  const isBelowOwn = (path: string): boolean => {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at)
      if (moved.has(folder) || (touched.has(folder) && statOf(folder)?.isSymbolicLink())) return true
    }
    return false
  }
  return (path) => {
    // A name that is not UTF-8 may be spelled differently here.
    if (touched.has(path) || /[\ufffd\ud800-\udfff]/u.test(path) || isBelowOwn(path)) return true
    const real = realPath(path)
    return (real !== path && touched.has(real)) || written.has(Number(statOf(real)?.ino))
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
