/** `write`: a whole file, replaced in one step. */

import type { CheckedPath } from '../../system/guarded/guarded-files.ts'
import type { ToolContext, ToolOutput } from '../tool.ts'
import { decodeText, encodeText, lineEndOf, withLineEnds } from './text-encoding.ts'

/** A file beyond this is replaced without a look at its form. */
const MAX_KEPT = 32 * 1024 * 1024

export interface WriteInput {
  readonly path: string
  readonly content: string
}

export async function write(input: WriteInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path
  const target = context.checked(given)
  const { content } = input
  const old = context.files.stat(target)
  const bytes =
    old?.type === 'file' && old.size <= MAX_KEPT ? inOldForm(content, target, context) : Buffer.from(content, 'utf8')
  context.files.write(target, bytes)
  return {
    text: `${old ? 'Replaced' : 'Created'} ${given} (${bytes.length} bytes).`,
    data: { path: target, created: old === null, bytes: bytes.length },
    files: { read: [], written: [target] },
  }
}

// A file keeps its byte order mark and its line ends; one that was no text, or cannot hold the new text, becomes UTF-8.
function inOldForm(content: string, path: CheckedPath, context: ToolContext): Buffer {
  const decoded = decodeText(context.files.read(path).bytes)
  if ('media' in decoded) return Buffer.from(content, 'utf8')
  const text = withLineEnds(content, lineEndOf(decoded.text))
  return encodeText(text, decoded.encoding) ?? Buffer.from(text, 'utf8')
}
