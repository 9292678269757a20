/** The files a patch touches: read from the very changes that applying it will make. */

import { parsePatch } from './parse.ts'

export interface PatchPaths {
  /** Files whose content decides whether the patch applies. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

/** Reads the file names out of a patch; a patch that names no file is an error, never an empty answer. */
export function patchPaths(patch: string): PatchPaths {
  const reads = new Set<string>()
  const writes = new Set<string>()
  for (const change of parsePatch(patch)) {
    if (change.kind !== 'add' && change.hunks.length > 0) reads.add(change.path)
    if (change.kind === 'update' && change.copies) reads.add(change.path)
    else writes.add(change.path)
    if (change.kind === 'update' && change.moveTo !== null) writes.add(change.moveTo)
  }
  return { reads: [...reads], writes: [...writes] }
}
