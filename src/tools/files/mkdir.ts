/** `mkdir`: a directory and those above it. */

import type { ToolContext, ToolOutput } from '../tool.ts'

export interface MkdirInput {
  readonly path: string
}

export async function mkdir(input: MkdirInput, context: ToolContext): Promise<ToolOutput> {
  const directory = context.checked(input.path)
  const made = context.files.makeDirectory(directory)
  return {
    text: made.length > 0 ? `Made ${input.path}.` : `${input.path} is already there.`,
    data: { path: directory, made },
    files: { read: [], written: made },
  }
}
