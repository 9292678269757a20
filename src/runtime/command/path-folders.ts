/** Folders on PATH that a command could write: a program put there would run on the host under another's name (F8). */

import { posix } from 'node:path'
import { isInside } from '../../files/baseline.ts'
import type { Files } from '../../system/files.ts'

/**
 * Those below the writable places, canonical. Where a package manager installs its programs (`node_modules/.bin`, the `bin` of a
 * virtual environment) it must be able to, and the roots themselves cannot be closed; a word that is not absolute is nobody's folder.
 */
export function writablePathFolders(
  path: string,
  writes: readonly string[],
  files: Pick<Files, 'exists' | 'canonical'>,
): readonly string[] {
  const folders = new Set<string>()
  for (const entry of path.split(':')) {
    if (!posix.isAbsolute(entry) || !writes.some((write) => isInside(posix.normalize(entry), write))) continue
    if (!files.exists(entry)) continue
    const folder = files.canonical(entry)
    const ofPackages = folder.endsWith('/node_modules/.bin') || files.exists(posix.join(folder, '../pyvenv.cfg'))
    if (!ofPackages && !writes.includes(folder)) folders.add(folder)
  }
  return [...folders]
}
