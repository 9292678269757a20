/** `move`: a file or directory under a new name; nothing is overwritten. */

import { InputError, type ToolContext, type ToolOutput } from '../tool.ts'
import { refuseLink } from './given-link.ts'
import { requireAsClosed, requireTreeAsClosed } from './renaming.ts'
import { requireWholeTree } from './tree.ts'

export interface MoveInput {
  readonly source: string
  readonly destination: string
}

export async function move(input: MoveInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.source
  const source = context.checked(given)
  const destination = context.checked(input.destination)
  refuseLink('move', given, source, context)
  if (context.roots.includes(source)) throw new InputError(`${given} is a root of this session and is not moved`)
  const facts = context.files.stat(source)
  if (!facts) throw new InputError(`${given} does not exist`)
  if (facts.type === 'file') requireAsClosed(source, destination, context)
  else {
    await requireWholeTree('write', source, context)
    await requireTreeAsClosed(source, destination, context)
    // A tree may become code that runs only by where it stands, such as the hooks of a repository.
    await requireWholeTree('write', source, context, destination)
  }
  context.signal.throwIfAborted()
  context.files.move(source, destination)
  return {
    text: `Moved ${given} to ${input.destination}.`,
    data: { source, destination },
    files: { read: [], written: [source, destination] },
  }
}
