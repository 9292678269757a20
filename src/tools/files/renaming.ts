/** A new name must not open what is closed under the old one: a secret is often one by its name alone. */

import { posix } from 'node:path'
import type { CheckedPath } from '../../system/guarded/guarded-files.ts'
import { InputError, type JudgedPath, type PathAccess, type ToolContext } from '../tool.ts'
import { walkTree } from './tree.ts'

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const

/** A process that can say what the policy says about a path. */
export interface VerdictContext {
  readonly judge: (access: PathAccess, path: string) => Pick<JudgedPath, 'verdict'>
}

/** Refuses a new name for a file under which reading it would be judged less strictly. */
export function requireAsClosed(source: string, destination: string, context: VerdictContext): void {
  const before = context.judge('read', source).verdict
  const after = context.judge('read', destination).verdict
  if (STRICTNESS[after] >= STRICTNESS[before]) return
  throw new InputError(
    `${source} may not simply be read, and as ${destination} it could be; choose a name that is as closed, or let the user move it`,
  )
}

/** The same for everything below a directory. */
export async function requireTreeAsClosed(
  source: CheckedPath,
  destination: CheckedPath,
  context: ToolContext,
): Promise<void> {
  requireAsClosed(source, destination, context)
  for await (const entry of walkTree(source, context, { ignore: false, everything: true })) {
    requireAsClosed(entry.path, posix.join(destination, entry.relative), context)
  }
}
