/**
 * Secrets that another command could be moving while this one looks for them. A command cannot move a hidden file, but the
 * folders above it, from one that is not read yet to one that has been: a walk through the tree would miss it.
 */

import { posix } from 'node:path'
import type { MaskIdentity } from '../plan.ts'
import { identityOf } from '../protect/protect.ts'
import { isBelow } from '../protect/tree.ts'
import type { Masks } from './masks.ts'

/**
 * What a running command hides wherever it is, so that it may be moved: path, with a slash after folders, to device and inode, and
 * behind a blank those of the folder that it is in.
 */
export type Movable = Readonly<Record<string, string>>

/** The movable ones of these masks. What is hidden for its path is held in place. */
export function movableOf(
  { files, directories, linked }: Masks,
  identities: ReadonlyMap<string, MaskIdentity>,
): Movable {
  const movable: Record<string, string> = {}
  const note = (path: string, key: string) => {
    const identity = identities.get(path)
    if (identity && !linked.has(path)) movable[key] = `${nameOf(identity)} ${identityOf(posix.dirname(path)) ?? ''}`
  }
  for (const path of files) note(path, path)
  for (const path of directories) note(path, `${path}/`)
  return movable
}

/**
 * The secrets that running commands hide, and this one, whose masks these are, has not seen. `knows` tells whether a file is
 * one that this command hides: another may have other rules. They are being moved, or lie where no look finds them: below too long
 * a path, or in a folder that is closed for the moment. A command cannot move or remove what is hidden from it by itself, only with
 * a folder above it: where its own folder still stands and it does not, somebody on the host has removed it.
 */
export function unseenSecrets(
  running: readonly Movable[],
  own: ReadonlyMap<string, MaskIdentity>,
  roots: readonly string[],
  knows: (path: string) => boolean,
): readonly string[] {
  const seen = new Set([...own.values()].map(nameOf))
  const unseen = new Set<string>()
  for (const movable of running)
    for (const [path, names] of Object.entries(movable)) {
      const [identity = '', folder = ''] = names.split(' ')
      const inside = roots.some((root) => path === root || isBelow(path, root))
      if (!inside || seen.has(identity) || !(path.endsWith('/') || knows(path))) continue
      if (!isRemoved(path, identity, folder)) unseen.add(path)
    }
  return [...unseen]
}

function isRemoved(path: string, identity: string, folder: string): boolean {
  const plain = path.endsWith('/') ? path.slice(0, -1) : path
  return folder !== '' && identityOf(posix.dirname(plain)) === folder && identityOf(plain) !== identity
}

function nameOf({ device, inode }: MaskIdentity): string {
  return `${device}:${inode}`
}
