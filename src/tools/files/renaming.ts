/** A new name must not open what is closed under the old one: a secret is often one by its name alone. */

import { posix } from 'node:path'
import { InputError, type ToolContext } from '../tool.ts'
import { walkTree } from './tree.ts'

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const

/** Refuses a new name for a file under which reading it would be judged less strictly. */
export function requireAsClosed(source: string, destination: string, context: ToolContext): void {
  const before = context.judge('read', source)
  const after = context.judge('read', destination)
  if (STRICTNESS[after] >= STRICTNESS[before]) return
  throw new InputError(
    `${source} may not simply be read, and as ${destination} it could be; choose a name that is as closed, or let the user move it`,
  )
}

/** The same for everything below a directory. */
export async function requireTreeAsClosed(source: string, destination: string, context: ToolContext): Promise<void> {
  requireAsClosed(source, destination, context)
  const everything = { ...context, filterListings: false, judge: () => 'allow' as const }
  for await (const entry of walkTree(source, everything, { ignore: false })) {
    requireAsClosed(entry.path, posix.join(destination, entry.relative), context)
  }
}
