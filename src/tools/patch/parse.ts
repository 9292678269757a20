/** Parses a patch: the "*** Begin Patch" envelope, or a unified diff. */

import { InputError } from '../tool.ts'
import type { FileChange } from './apply.ts'
import { parseEnvelope } from './envelope.ts'
import { parseUnified } from './unified.ts'

/** Throws an `InputError` for a patch without files or with an invalid line. */
export function parsePatch(patch: string): readonly FileChange[] {
  const lines = patch.split('\n')
  // A patch with CRLF throughout means its lines.
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

/** The files of a patch; throws if it names none. */
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
