/** Folders on PATH that somebody could write: a program put there would run on the host under another's name (F8). */

import { posix } from 'node:path'
import { isInside } from '../../files/baseline.ts'
import type { Files } from '../../system/files.ts'

type Look = Pick<Files, 'exists' | 'canonical'>

/** Nothing of an agent's is ever writable there. */
const SYSTEM: readonly string[] = ['/usr', '/bin', '/sbin']

/**
 * Those outside the system's own, canonical. Where a package manager installs its programs (`node_modules/.bin`, the `bin` of a
 * virtual environment) it must be able to; a word that is not absolute is no one's folder.
 */
export function pathFolders(path: string, files: Look): readonly string[] {
  const folders = new Set<string>()
  for (const entry of new Set(path.split(':'))) {
    if (!posix.isAbsolute(entry) || SYSTEM.some((place) => isInside(posix.normalize(entry), place))) continue
    if (!files.exists(entry)) continue
    const folder = files.canonical(entry)
    const ofPackages = folder.endsWith('/node_modules/.bin') || files.exists(posix.join(folder, '../pyvenv.cfg'))
    if (!ofPackages) folders.add(folder)
  }
  return [...folders]
}

/** Those below the writable places, which themselves cannot be closed. */
export function writablePathFolders(path: string, writes: readonly string[], files: Look): readonly string[] {
  return pathFolders(path, files).filter((folder) =>
    writes.some((write) => folder !== write && isInside(folder, write) && !writes.includes(folder)),
  )
}
