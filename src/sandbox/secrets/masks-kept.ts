/**
 * Folders that a command emptied but for their hidden files: the kernel does not remove a file with a mask on it (EBUSY), so
 * that `rm -rf node_modules` stops at the key of some package's tests. The secret stays unread, and the person is told what to do.
 */

import { lstatSync, readdirSync } from 'node:fs'
import { posix } from 'node:path'

export interface KeptFolder {
  /** The highest folder that holds nothing else. */
  readonly folder: string
  readonly files: readonly string[]
}

/** Looks for such folders among those of the masks; `since` is when the command started. */
export function keptFolders(masks: ReadonlySet<string>, since: number): readonly KeptFolder[] {
  const known = new Map<string, readonly string[] | null>()
  /** The hidden files in a folder that holds nothing else, otherwise null. */
  const kept = (folder: string): readonly string[] | null => {
    const before = known.get(folder)
    if (before !== undefined) return before
    const files = look(folder)
    known.set(folder, files)
    return files
  }
  const look = (folder: string): readonly string[] | null => {
    const found: string[] = []
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = posix.join(folder, entry.name)
      const inside = masks.has(path) ? [path] : entry.isDirectory() ? kept(path) : null
      if (inside === null) return null
      found.push(...inside)
    }
    return found.length > 0 ? found : null
  }
  const highest = new Map<string, readonly string[]>()
  for (const mask of masks) {
    try {
      let folder = posix.dirname(mask)
      let files = kept(folder)
      // What held nothing else before the command as well is no work of its.
      let changed = lstatSync(folder).ctimeMs >= since
      for (let above = posix.dirname(folder); files !== null && above !== folder; above = posix.dirname(above)) {
        const more = kept(above)
        if (more === null) break
        folder = above
        files = more
        changed ||= lstatSync(folder).ctimeMs >= since
      }
      if (files !== null && changed) highest.set(folder, files)
    } catch {
      // Not there any more, or not for us to read.
    }
  }
  return [...highest].map(([folder, files]) => ({ folder, files }))
}
