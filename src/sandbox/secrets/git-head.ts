/**
 * The content of a repository's HEAD at a path, read from its objects and never from the index,
 * which a command can write.
 */

import { lstatSync, realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { readPlainFile } from '../../system/plain-file.ts'
import { pointerTarget, withoutLineEnds } from '../protect/protect.ts'
import { isBelow } from '../protect/tree.ts'
import { type KnownObjects, ObjectStore } from './git-objects.ts'

/** A file as HEAD has it. */
interface CommittedFile {
  readonly bytes: Buffer
  readonly executable: boolean
}

/** `unknown`: the repository cannot be read with certainty. `none`: HEAD has no plain file there. */
type HeadAnswer = CommittedFile | 'none' | 'unknown'

interface TreeEntry {
  readonly mode: string
  readonly id: string
}

/** Larger than any list of branches that we have met; a bigger one is not read. */
const MOST_TEXT = 32 * 1_048_576
const MOST_LINKS = 5
/** A command can make any number of repositories. */
const MOST_REMEMBERED = 16

/** The HEAD of the work tree `folder`; null if missing, or not all below the roots. */
export class GitHead {
  readonly folder: string
  /** The folder that a linked worktree shares with others, or the git directory itself. */
  readonly common: string
  readonly #store: ObjectStore | null
  readonly #root: string | null
  readonly #unborn: boolean
  readonly #trees = new Map<string, ReadonlyMap<string, TreeEntry> | null>()

  private constructor(folder: string, directory: string, common: string, known: KnownObjects) {
    this.folder = folder
    this.common = common
    const head = resolveRef(directory, common, 'HEAD', 0)
    this.#unborn = head === null
    this.#store = typeof head === 'string' ? new ObjectStore(posix.join(common, 'objects'), head, known) : null
    const commit = typeof head === 'string' ? this.#store!.object(head) : null
    const tree =
      commit?.type === 'commit' ? /^tree ([0-9a-f]{40,64})\n/.exec(commit.bytes.toString('latin1', 0, 80)) : null
    this.#root = tree?.[1] ?? null
  }

  /** `memory`: what earlier looks read, by the repository. */
  static of(folder: string, roots: readonly string[], memory: Map<string, KnownObjects> = new Map()): GitHead | null {
    const entry = posix.join(folder, '.git')
    const stat = lstatSync(entry, { throwIfNoEntry: false })
    if (stat === undefined || stat.isSymbolicLink()) return null
    const said = stat.isDirectory() ? '.git' : pointerTarget(readPlainText(entry) ?? '')
    if (said === null) return null
    const directory = ownFolder(posix.resolve(folder, said), roots)
    if (directory === null) return null
    const shared = readPlainText(posix.join(directory, 'commondir'))
    const common = shared === null ? directory : ownFolder(posix.resolve(directory, withoutLineEnds(shared)), roots)
    if (common === null) return null
    const known = memory.get(common) ?? new Map()
    if (memory.size < MOST_REMEMBERED) memory.set(common, known)
    return new GitHead(folder, directory, common, known)
  }

  /** The content of HEAD at this path, which lies below the work tree. */
  at(path: string): HeadAnswer {
    if (this.#unborn) return 'none'
    if (this.#root === null || this.#store === null) return 'unknown'
    const names = path.slice(this.folder.length + 1).split('/')
    let id = this.#root
    for (const [at, name] of names.entries()) {
      const tree = this.#tree(id)
      if (tree === null) return 'unknown'
      const entry = tree.get(name)
      if (entry === undefined) return 'none'
      if (at === names.length - 1) return this.#file(entry)
      if (entry.mode !== '40000') return 'none'
      id = entry.id
    }
    return 'none'
  }

  close(): void {
    this.#store?.close()
  }

  #file({ mode, id }: TreeEntry): HeadAnswer {
    if (!mode.startsWith('100')) return 'none'
    const blob = this.#store!.object(id)
    return blob?.type === 'blob' ? { bytes: blob.bytes, executable: mode === '100755' } : 'unknown'
  }

  #tree(id: string): ReadonlyMap<string, TreeEntry> | null {
    const known = this.#trees.get(id)
    if (known !== undefined) return known
    const object = this.#store!.object(id)
    const tree = object?.type === 'tree' ? parseTree(object.bytes, id.length / 2) : null
    this.#trees.set(id, tree)
    return tree
  }
}

function parseTree(bytes: Buffer, width: number): ReadonlyMap<string, TreeEntry> | null {
  const entries = new Map<string, TreeEntry>()
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at)
    const end = space < 0 ? -1 : bytes.indexOf(0, space)
    if (end < 0 || space - at > 6 || end + 1 + width > bytes.length) return null
    const name = bytes.toString('utf8', space + 1, end)
    entries.set(name, {
      mode: bytes.toString('latin1', at, space),
      id: bytes.toString('hex', end + 1, end + 1 + width),
    })
    at = end + 1 + width
  }
  return entries
}

/** The name of the commit; null for a branch without one, undefined for what cannot be known. */
function resolveRef(directory: string, common: string, name: string, depth: number): string | null | undefined {
  if (depth > MOST_LINKS) return undefined
  const text = readPlainText(posix.join(name === 'HEAD' ? directory : common, name))
  if (text === null) return name === 'HEAD' ? undefined : packedRef(common, name)
  const said = withoutLineEnds(text)
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(said)) return said
  const next = /^ref: (refs\/\S{1,1000})$/.exec(said)?.[1]
  if (next === undefined || next.split('/').some((part) => part === '' || part === '.' || part === '..'))
    return undefined
  // A reftable repository says so, and keeps its refs elsewhere.
  if (next === 'refs/heads/.invalid') return undefined
  return resolveRef(directory, common, next, depth + 1)
}

function packedRef(common: string, name: string): string | null | undefined {
  const file = posix.join(common, 'packed-refs')
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return null
  const text = readPlainText(file)
  if (text === null) return undefined
  const at = text.indexOf(` ${name}\n`)
  if (at < 0) return null
  const id = text.slice(text.lastIndexOf('\n', at) + 1, at)
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id) ? id : undefined
}

/** The folder itself where it is one, not by a link, and below the roots. */
function ownFolder(path: string, roots: readonly string[]): string | null {
  try {
    const real = realpathSync.native(path)
    return roots.some((root) => real === root || isBelow(real, root)) ? real : null
  } catch {
    return null
  }
}

function readPlainText(path: string): string | null {
  return readPlainFile(path, MOST_TEXT)?.toString('utf8') ?? null
}
