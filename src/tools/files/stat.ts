/** `stat`: type, size, mode and time of a path. */

import type { ToolContext, ToolOutput } from '../tool.ts'

export interface StatInput {
  readonly path: string
}

export async function stat(input: StatInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path
  const target = context.checked(given)
  const facts = context.files.stat(target)
  if (!facts) return { text: `${given} does not exist.`, data: { path: target, exists: false } }
  const mode = facts.mode.toString(8).padStart(3, '0')
  const modified = facts.modified.toISOString()
  return {
    text: `${given}: ${facts.type}, ${facts.size} bytes, mode ${mode}, modified ${modified}`,
    data: { path: target, exists: true, type: facts.type, size: facts.size, mode, modified, links: facts.links },
  }
}
