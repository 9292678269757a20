/** `copy`: a file, bytes and permission bits. */

import { InputError, type ToolContext, type ToolOutput } from '../tool.ts'

export interface CopyInput {
  readonly source: string
  readonly destination: string
}

export async function copy(input: CopyInput, context: ToolContext): Promise<ToolOutput> {
  const source = context.checked(input.source)
  const destination = context.checked(input.destination)
  if (source === destination) throw new InputError('"source" and "destination" of copy are the same file')
  if (context.files.stat(destination)?.type === 'directory') {
    throw new InputError(`${input.destination} is a directory; name the file to make in it`)
  }
  context.files.copy(source, destination)
  return {
    text: `Copied ${input.source} to ${input.destination}.`,
    data: { source, destination },
    files: { read: [source], written: [destination] },
  }
}
