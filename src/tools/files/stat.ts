/** `stat`: type, size, mode and time of a path. */

import type { ToolContext, ToolInput, ToolOutput } from '../tool.ts'

export async function stat(input: ToolInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path as string
  const path = context.checked(given)
  const facts = context.files.stat(path)
  if (!facts) return { text: `${given} does not exist.`, data: { path, exists: false } }
  const mode = facts.mode.toString(8).padStart(3, '0')
  const modified = facts.modified.toISOString()
  return {
    text: `${given}: ${facts.type}, ${facts.size} bytes, mode ${mode}, modified ${modified}`,
    data: { path, exists: true, type: facts.type, size: facts.size, mode, modified, links: facts.links },
  }
}
