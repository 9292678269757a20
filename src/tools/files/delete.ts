/** `delete`: a file or a directory, gone. */

import { InputError, type ToolContext, type ToolInput, type ToolOutput } from '../tool.ts'
import { refuseLink } from './given-link.ts'
import { requireWholeTree } from './tree.ts'

export async function deletePath(input: ToolInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path as string
  const path = context.checked(given)
  refuseLink('delete', given, path, context)
  if (context.roots.includes(path)) throw new InputError(`${given} is a root of this session and is not deleted`)
  const facts = context.files.stat(path)
  if (!facts) throw new InputError(`${given} does not exist`)
  const recursive = input.recursive === true
  if (facts.type === 'directory') {
    if (!recursive && context.files.list(path).length > 0) {
      throw new InputError(`${given} is a directory that is not empty; set "recursive": true to delete all of it`)
    }
    await requireWholeTree('write', path, context)
  }
  context.signal.throwIfAborted()
  context.files.remove(path, { recursive })
  return {
    text: `Deleted ${given}${facts.type === 'directory' ? ' and everything in it' : ''}.`,
    data: { path, type: facts.type },
    files: { read: [], written: [path] },
  }
}
