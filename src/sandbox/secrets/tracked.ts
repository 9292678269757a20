/**
 * Secret-shaped files that git tracks. Anyone who can read the repository can read HEAD, so an
 * unchanged file is shown and a changed one shows its committed text; no mask can be committed
 * instead of a file.
 */

import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { posix } from 'node:path'
import { packageFolders } from '../../files/protected-names.ts'
import { attempt } from '../../system/fault.ts'
import { readPlainFile } from '../../system/plain-file.ts'
import type { MaskFace } from '../plan.ts'
import { isBelow, type SecretTree } from '../protect/tree.ts'
import { GitHead } from './git-head.ts'
import type { KnownObjects } from './git-objects.ts'

/** `shown`: nothing is hidden; null: an empty mask does. */
type TrackedAnswer = 'shown' | MaskFace | null

const CLOSED: MaskFace = { kind: 'closed' }
const MOST_EXCLUDE = 1_048_576

/** Whether HEAD has the same content for one file of the roots, without an index. */
export function isCommitted(path: string, roots: readonly string[], memory: Map<string, KnownObjects>): boolean {
  const inRoots = (at: string) => roots.some((root) => at === root || isBelow(at, root))
  for (let folder = posix.dirname(path); inRoots(folder); folder = posix.dirname(folder)) {
    if (lstatSync(posix.join(folder, '.git'), { throwIfNoEntry: false }) === undefined) continue
    const head = GitHead.of(folder, roots, memory)
    try {
      const committed = head?.at(path) ?? 'none'
      return typeof committed === 'object' && hasContent(path, committed.bytes)
    } finally {
      head?.close()
    }
  }
  return false
}

/** The repositories of one look for secrets. */
export class TrackedFiles {
  readonly #tree: SecretTree
  readonly #hideTracked: boolean
  readonly #memory: Map<string, KnownObjects>
  readonly #heads = new Map<string, GitHead | null>()
  readonly #untracked = new Map<GitHead, string[]>()

  /** `hideTracked` is `mask_tracked`: a committed file is hidden too, and cannot be opened. */
  constructor(tree: SecretTree, hideTracked: boolean, memory: Map<string, KnownObjects> = new Map()) {
    this.#memory = memory
    this.#tree = tree
    this.#hideTracked = hideTracked
  }

  /** How a secret-shaped file of the tree is to be hidden. */
  judge(path: string): TrackedAnswer {
    const head = this.#headOf(posix.dirname(path))
    if (head === null) return null
    const committed = head.at(path)
    if (committed === 'unknown') return CLOSED
    if (committed === 'none') return this.#exclude(head, path) ? null : CLOSED
    if (this.#hideTracked) return CLOSED
    if (hasContent(path, committed.bytes)) return 'shown'
    return { kind: 'text', bytes: committed.bytes, executable: committed.executable }
  }

  /** Git's ignore lists for commands: with the hidden files that git does not track. */
  excludes(): ReadonlyMap<string, MaskFace> {
    const replaced = new Map<string, MaskFace>()
    for (const [head, paths] of this.#untracked) {
      const file = excludeFile(head)
      const before = readPlainFile(file, MOST_EXCLUDE)
      if (before === null) continue
      const known = replaced.get(file)
      const text = known?.kind === 'text' ? Buffer.from(known.bytes) : before
      const lines = paths.map((path) => `/${escaped(path.slice(head.folder.length + 1))}\n`)
      const bytes = Buffer.concat([text, Buffer.from(`\n# Hidden by Cordon while a command runs.\n${lines.join('')}`)])
      replaced.set(file, { kind: 'text', bytes, executable: false })
    }
    return replaced
  }

  close(): void {
    for (const head of this.#heads.values()) head?.close()
  }

  #exclude(head: GitHead, path: string): boolean {
    if (/[\n\r\ufffd]/.test(path) || readPlainFile(excludeFile(head), MOST_EXCLUDE) === null) return false
    const paths = this.#untracked.get(head)
    if (paths) paths.push(path)
    else this.#untracked.set(head, [path])
    return true
  }

  #headOf(folder: string): GitHead | null {
    const known = this.#heads.get(folder)
    if (known !== undefined) return known
    const remembered = this.#tree.folder(folder)
    let head: GitHead | null = null
    if (remembered !== undefined) {
      const isTop = remembered.guarded.includes('.git')
      if (isTop) head = GitHead.of(folder, this.#tree.roots, this.#memory)
      else if (folder !== '/') head = this.#headOf(posix.dirname(folder))
    }
    this.#heads.set(folder, head)
    return head
  }
}

function excludeFile(head: GitHead): string {
  return posix.join(head.common, 'info/exclude')
}

/** A path as a pattern of git that means it alone. */
function escaped(path: string): string {
  return path.replace(/[\\*?[\]]/g, '\\$&').replace(/ $/, '\\ ')
}

function hasContent(path: string, bytes: Buffer): boolean {
  return readPlainFile(path, bytes.length)?.equals(bytes) ?? false
}

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
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }), undefined)
}
