/** Paths whose last name is a link: the decision was about where it leads, and the caller may have meant the link. */

import { posix } from 'node:path'
import { InputError, type ToolContext } from '../tool.ts'

/** Refuses to delete or move what a link points to under the name of the link. */
export function refuseLink(verb: 'delete' | 'move', given: string, path: string, context: ToolContext): void {
  const written = posix.resolve(context.cwd, given)
  if (written === path || !context.files.isLink(written)) return
  throw new InputError(
    `${given} is a link to ${path}; to ${verb} its target, name ${path}; to ${verb} the link itself, use bash (${verb === 'delete' ? 'rm' : 'mv'})`,
  )
}
