/** Secret-shaped files that came with an installed package: the key of some package's tests is no one's secret. */

import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { posix } from 'node:path'
import { packageFolders } from '../../files/protected-names.ts'
import { isBelow } from '../protect/tree.ts'

/** The files of a package are written one after the other; what came later was put there by somebody else. A ctime cannot be set. */
const ONE_INSTALL_MS = 30_000

/** Whether the file was installed together with the manifest of the package that it lies in. */
export function cameWithPackage(path: string, roots: readonly string[]): boolean {
  const manifest = manifestOf(path, roots)
  if (manifest === null) return false
  const [file, beside] = [statOf(path), statOf(manifest)]
  if (!file?.isFile() || !beside?.isFile()) return false
  return Math.abs(file.ctimeMs - beside.ctimeMs) <= ONE_INSTALL_MS
}

/** `node_modules/a/package.json`, `node_modules/@s/a/package.json`, `site-packages/a-1.0.dist-info/RECORD`. */
function manifestOf(path: string, roots: readonly string[]): string | null {
  const root = roots.find((candidate) => isBelow(path, candidate))
  if (root === undefined) return null
  const segments = path.slice(root.length + 1).split('/')
  const at = segments.findLastIndex((segment) => packageFolders.includes(segment))
  if (at < 0 || at + 2 >= segments.length) return null
  const folder = posix.join(root, ...segments.slice(0, at + 1))
  const name = segments[at + 1]!
  if (segments[at] === 'node_modules') {
    if (!name.startsWith('@')) return posix.join(folder, name, 'package.json')
    return at + 3 < segments.length ? posix.join(folder, name, segments[at + 2]!, 'package.json') : null
  }
  return pythonRecord(folder, name)
}

function pythonRecord(folder: string, name: string): string | null {
  try {
    const info = readdirSync(folder).find(
      (entry) =>
        entry.endsWith('.dist-info') && entry.slice(0, entry.indexOf('-')).toLowerCase() === name.toLowerCase(),
    )
    return info === undefined ? null : posix.join(folder, info, 'RECORD')
  } catch {
    return null
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
