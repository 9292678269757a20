/** Reads a patch: the "*** Begin Patch" envelope, or a unified diff. */

import { InputError } from '../tool.ts'
import type { FileChange } from './change.ts'
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
