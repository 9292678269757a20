/** `mkdir`: a directory and those above it. */

import type { ToolContext, ToolInput, ToolOutput } from '../tool.ts'

export async function mkdir(input: ToolInput, context: ToolContext): Promise<ToolOutput> {
  const path = context.checked(input.path as string)
  const made = context.files.makeDirectory(path)
  return {
    text: made.length > 0 ? `Made ${input.path}.` : `${input.path} is already there.`,
    data: { path, made },
    files: { read: [], written: made },
  }
}
