/** Reads a patch: the "*** Begin Patch" envelope, or a unified diff. */

import { InputError } from '../tool.ts'
import type { FileChange } from './apply.ts'
import { parseEnvelope } from './envelope.ts'
import { parseUnified } from './unified.ts'

/** Parses a patch as a whole; a patch that names no file or holds a line that means nothing is an `InputError`. */
export function parsePatch(patch: string): readonly FileChange[] {
  const lines = patch.split('\n')
  // A patch written with CRLF throughout means its lines, not their ends.
  const crlf = lines.slice(0, -1).every((line) => line.endsWith('\r'))
  const plain = crlf && lines.length > 1 ? lines.map((line) => line.replace(/\r$/, '')) : lines
  const begin = plain.findIndex((line) => line.trim() !== '')
  const changes = plain[begin]?.trim() === '*** Begin Patch' ? parseEnvelope(plain, begin) : parseUnified(plain)
  if (changes.length === 0) {
    throw new InputError(
      'the patch names no file; give "*** Begin Patch" … "*** End Patch" with "*** Update File: path", or a unified diff with --- and +++ lines',
    )
  }
  return changes
}

interface PatchPaths {
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
