/**
 * Protected names below names that are not UTF-8. The index cannot check those, but git and editors
 * run what they find there, so such a folder is protected as a whole.
 */

import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { decodePath } from '../../files/path-bytes.ts'
import { isProtectedStart } from '../../files/protected-paths.ts'
import { attempt } from '../../system/fault.ts'
import type { SecretTree } from './tree.ts'

/** These protected paths, spelled as by `decodePath`, with device and inode. */
export function oddProtected(tree: SecretTree): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const folder of tree.notable()) {
    const isOdd = folder.raw.length > 0 || folder.guarded.some((name) => name.includes('\ufffd'))
    if (isOdd) collect(Buffer.from(folder.path), found)
  }
  return found
}

function collect(folder: Buffer, found: Map<string, string>): void {
  for (const entry of entriesOf(folder) ?? []) {
    const name = entry.name.toString('utf8')
    if (!name.includes('\ufffd')) continue
    const path = within(folder, entry.name)
    if (!isProtectedStart(name) && !(entry.isDirectory() && holdsProtected(path))) continue
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (stat) found.set(decodePath(path), `${stat.dev}:${stat.ino}`)
  }
}

/** A bare repository is known by its HEAD. An unreadable folder may contain one. */
function holdsProtected(folder: Buffer): boolean {
  const entries = entriesOf(folder)
  if (entries === null) return true
  return (
    entries.some(({ name }) => isProtectedStart(name.toString('utf8')) || name.equals(HEAD)) ||
    entries.some((entry) => entry.isDirectory() && holdsProtected(within(folder, entry.name)))
  )
}

const HEAD = Buffer.from('HEAD')

function within(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from('/'), name])
}

function entriesOf(folder: Buffer): readonly Dirent<Buffer>[] | null {
  return attempt(() => readdirSync(folder, { withFileTypes: true, encoding: 'buffer' }), null)
}
