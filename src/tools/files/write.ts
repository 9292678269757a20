/** `write`: a whole file, replaced in one step. */

import type { ToolContext, ToolInput, ToolOutput } from '../tool.ts'
import { decodeText, encodeText, lineEndOf, withLineEnds } from './text-encoding.ts'

/** A file beyond this is replaced without a look at its form. */
const MAX_KEPT = 32 * 1024 * 1024

export async function write(input: ToolInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path as string
  const path = context.checked(given)
  const content = input.content as string
  const old = context.files.stat(path)
  const bytes =
    old?.type === 'file' && old.size <= MAX_KEPT ? inOldForm(content, path, context) : Buffer.from(content, 'utf8')
  context.files.write(path, bytes)
  return {
    text: `${old ? 'Replaced' : 'Created'} ${given} (${bytes.length} bytes).`,
    data: { path, created: old === null, bytes: bytes.length },
    files: { read: [], written: [path] },
  }
}

// A file keeps its byte order mark and its line ends; one that was no text, or cannot hold the new text, becomes UTF-8.
function inOldForm(content: string, path: string, context: ToolContext): Buffer {
  const decoded = decodeText(context.files.read(path).bytes)
  if ('media' in decoded) return Buffer.from(content, 'utf8')
  const text = withLineEnds(content, lineEndOf(decoded.text))
  return encodeText(text, decoded.encoding) ?? Buffer.from(text, 'utf8')
}
