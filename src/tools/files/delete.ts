/** `delete`: a file or a directory, gone. */

import { InputError, type ToolContext, type ToolOutput } from '../tool.ts'
import { refuseLink } from './given-link.ts'
import { requireWholeTree } from './tree.ts'

export interface DeletePathInput {
  readonly path: string
  readonly recursive?: boolean | undefined
}

export async function deletePath(input: DeletePathInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path
  const target = context.checked(given)
  refuseLink('delete', given, target, context)
  if (context.roots.includes(target)) throw new InputError(`${given} is a root of this session and is not deleted`)
  const facts = context.files.stat(target)
  if (!facts) throw new InputError(`${given} does not exist`)
  const recursive = input.recursive === true
  if (facts.type === 'directory') {
    if (!recursive && context.files.list(target).length > 0) {
      throw new InputError(`${given} is a directory that is not empty; set "recursive": true to delete all of it`)
    }
    await requireWholeTree('write', target, context)
  }
  context.signal.throwIfAborted()
  context.files.remove(target, { recursive })
  return {
    text: `Deleted ${given}${facts.type === 'directory' ? ' and everything in it' : ''}.`,
    data: { path: target, type: facts.type },
    files: { read: [], written: [target] },
  }
}
