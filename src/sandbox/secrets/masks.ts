/**
 * The files of the project that a sandbox hides: the index of secrets, without certificates and
 * granted files (O4).
 */

import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { posix } from 'node:path'
import { isBaselineRead } from '../../files/baseline.ts'
import { decodePath, encodePath } from '../../files/path-bytes.ts'
import type { PathPattern } from '../../files/path-pattern.ts'
import {
  compileShapes,
  holdsOnlyCertificates,
  openedByGrant,
  type ShapeOf,
  secretPlace,
  shapeBelow,
} from '../../files/secret-shapes.ts'
import { attempt } from '../../system/fault.ts'
import type { MaskFace } from '../plan.ts'
import { identityOf } from '../protect/protect.ts'
import { childPath, type Folder, isBelow, MAX_FOLDER_LENGTH, type SecretEntry, SecretTree } from '../protect/tree.ts'
import type { KnownObjects } from './git-objects.ts'
import { type GitToken, MOST_CONFIG, maskGitTokens } from './git-tokens.ts'
import type { SecretMemory } from './masks-cache.ts'
import { withoutCovered } from './secrets.ts'
import { cameWithPackage, TrackedFiles } from './tracked.ts'

/**
 * The paths that a sandbox must hide. All are canonical and exist; one that is not UTF-8 is spelled
 * as by `decodePath`, and reaches the kernel through `encodePath` (otherwise the launch fails,
 * because there is no such file).
 */
export interface Masks {
  readonly files: readonly string[]
  /** Folders that could not be read: the owner inside could open them up, so they are hidden as a whole. */
  readonly directories: readonly string[]
  /** Hidden files with plain names, and the link that points to each. */
  readonly linked: ReadonlyMap<string, string>
  /** Secrets that a grant names, which are not hidden. */
  readonly opened: readonly string[]
  /** Secrets unchanged since HEAD, which are not hidden. */
  readonly committed: readonly string[]
  /** Those that came with an installed package, and are not hidden either. */
  readonly installed: readonly string[]
  /** What masks show in place of nothing. */
  readonly faces: ReadonlyMap<string, MaskFace>
  /** Files with another text for commands: git's ignore lists, its configuration. */
  readonly replaced: ReadonlyMap<string, MaskFace>
  /** The credentials of those configurations. */
  readonly tokens: readonly GitToken[]
  readonly skipped: SkippedCount
}

/** Secret-looking names that need no mask, for the report. */
export interface SkippedCount {
  readonly broken: number
  readonly cycles: number
  readonly directories: number
  readonly certificates: number
  readonly opened: number
  /** Files of the system that a link points to. */
  readonly system: number
  /** Files that came with an installed package. */
  readonly installed: number
}

export interface MaskFacts {
  readonly home: string
  /** Canonical directories to cover: the project and every other granted directory. */
  readonly roots: readonly string[]
  /** `*.ext` entries that the manifest denies for reading. */
  readonly deniedShapes: readonly string[]
  /** `mask_tracked`: what git has in HEAD is hidden too. */
  readonly hideTracked?: boolean
  /** Hidden files stay hidden; without it nothing counts as part of an installed package. */
  readonly memory?: SecretMemory
}

/** The certificate question is answered from at most this many bytes; a bigger `.pem` counts as a secret. */
const CERTIFICATE_LIMIT = 1_048_576

/** The masks of a session: one index, refreshed before every command. */
export class MaskIndex {
  readonly tree: SecretTree
  readonly #facts: MaskFacts
  readonly #shapeOf: ShapeOf
  readonly #objects: Map<string, KnownObjects>
  readonly #identities = new WeakMap<Folder, Map<string, string | null>>()
  /** The files of folders in which only names decide, under the grants of the last scan. */
  #byName = new WeakMap<Folder, readonly string[]>()
  #grants: readonly PathPattern[] = []
  readonly #certificates: Map<string, { readonly state: string; readonly plain: boolean }>
  /** The names of secrets that have more than one, by device and inode. */
  readonly #names: Map<string, { readonly state: string; readonly names: string[] }>

  /** `earlier` searched the same roots, and is closed: its findings are verified. */
  constructor(facts: MaskFacts, earlier: MaskIndex | null = null) {
    this.#facts = facts
    this.#shapeOf = compileShapes(facts.deniedShapes)
    this.tree = earlier?.tree ?? new SecretTree(facts.roots, this.#shapeOf)
    this.tree.watch = null
    this.#objects = earlier ? earlier.#objects : new Map()
    this.#certificates = earlier ? earlier.#certificates : new Map()
    this.#names = earlier ? earlier.#names : new Map()
  }

  /** Makes the index true for a command that starts now. */
  refresh(): number {
    return this.tree.refresh()
  }

  /** What to hide, given the read and write grants. Call `refresh` first. */
  masks(grants: readonly PathPattern[]): Masks {
    const collected = new MaskCollection()
    if (grants.length !== this.#grants.length || grants.some((grant, at) => grant !== this.#grants[at])) {
      this.#byName = new WeakMap()
      this.#grants = grants
    }
    for (const folder of this.tree.notable()) {
      if (folder.unreadable) collected.directories.add(folder.path)
      this.#judgeFolder(folder, grants, collected)
      if (folder.gitDirectory) collectTokens(folder.path, grants, collected)
      if (folder.raw.length > 0) collectRaw(Buffer.from(folder.path), this.#shapeOf, true, collected)
    }
    const tracked = new TrackedFiles(this.tree, this.#facts.hideTracked ?? false, this.#objects)
    try {
      for (const path of collected.files) this.#settle(path, tracked, collected)
      this.#addSecondNames(grants, collected)
      return collected.result(tracked.excludes())
    } finally {
      tracked.close()
      this.#facts.memory?.keep()
    }
  }

  /** Whether a file at this path would be hidden for its name. */
  knows(path: string): boolean {
    return this.#shapeAt(path) !== null
  }

  #shapeAt(path: string): string | null {
    const name = posix.basename(path)
    return this.#shapeOf(name) ?? shapeBelow(posix.dirname(path), name)
  }

  close(): void {
    this.tree.close()
  }

  /** A hard link is the secret under another name: hidden too, unless a grant names it. */
  #addSecondNames(grants: readonly PathPattern[], collected: MaskCollection): void {
    for (const [name, path] of this.secondNames([...collected.files, ...collected.configs.keys()])) {
      if (collected.files.has(name) || grants.some((grant) => grant.absolute === name)) continue
      const face = collected.configs.get(path) ?? collected.faces.get(path)
      if (collected.configs.has(path)) collected.configs.set(name, face!)
      else {
        collected.files.add(name)
        collected.linked.set(name, path)
        if (face) collected.faces.set(name, face)
      }
    }
  }

  /** Further names in the tree of files, with the file that each is. Call `refresh` first. */
  secondNames(files: Iterable<string>): ReadonlyMap<string, string> {
    const shared = new Map<string, { readonly path: string; readonly state: string }>()
    for (const path of files) {
      const stat = lstatSync(Buffer.from(encodePath(path)), { throwIfNoEntry: false })
      if (!stat?.isFile() || stat.nlink === 1) continue
      const state = `${stat.ctimeMs} ${stat.nlink}`
      shared.set(`${stat.dev}:${stat.ino}`, { path, state })
    }
    const isKnown = [...shared].every(([identity, { state }]) => {
      const known = this.#names.get(identity)
      return known?.state === state && known.names.every((name) => identityOf(name) === identity)
    })
    if (!isKnown) this.#findNames(shared)
    const found = new Map<string, string>()
    for (const [identity, { path }] of shared)
      for (const name of this.#names.get(identity)?.names ?? []) if (name !== path) found.set(name, path)
    return found
  }

  /** Looks for all names of these files in the tree. A new name changes the time of the file, so it is done once. */
  #findNames(shared: ReadonlyMap<string, { readonly state: string }>): void {
    for (const [identity, { state }] of shared) this.#names.set(identity, { state, names: [] })
    for (const folder of this.tree.entries()) {
      for (const entry of folder.unreadable ? [] : entriesOf(folder.path)) {
        if (!entry.isFile()) continue
        const path = Buffer.concat([Buffer.from(`${folder.path}/`), entry.name])
        const stat = lstatSync(path, { throwIfNoEntry: false })
        if (!stat || stat.nlink === 1) continue
        const identity = `${stat.dev}:${stat.ino}`
        if (shared.has(identity)) this.#names.get(identity)!.names.push(decodePath(path))
      }
    }
  }

  /** Removes files of packages and committed ones, and chooses what the others show. */
  #settle(path: string, tracked: TrackedFiles, collected: MaskCollection): void {
    if (!this.#isInTree(path)) return
    const { memory } = this.#facts
    const identity = memory ? this.identityOf(path) : null
    if (memory && identity !== null) {
      if (!memory.has(identity) && cameWithPackage(path, this.tree.roots)) {
        collected.files.delete(path)
        collected.linked.delete(path)
        collected.installed.push(path)
        return
      }
      memory.note(identity)
    }
    const answer = tracked.judge(path)
    if (answer === 'shown') {
      collected.files.delete(path)
      collected.linked.delete(path)
      collected.committed.push(path)
    } else if (answer !== null) collected.faces.set(path, answer)
  }

  /** The identity of a file: unchanged until `refresh` reads its folder again. */
  identityOf(path: string): string | null {
    const folder = this.tree.folder(posix.dirname(path))
    if (!folder) return identityOf(path)
    const known = this.#identities.get(folder) ?? new Map<string, string | null>()
    this.#identities.set(folder, known)
    const identity = known.get(path) ?? identityOf(path)
    known.set(path, identity)
    return identity
  }

  #isInTree(path: string): boolean {
    return this.tree.roots.some((root) => path === root || isBelow(path, root))
  }

  #judgeFolder(folder: Folder, grants: readonly PathPattern[], collected: MaskCollection): void {
    const known = this.#byName.get(folder)
    if (known) {
      for (const path of known) collected.files.add(path)
      return
    }
    const { opened } = collected
    const before = opened.length
    for (const entry of folder.secrets) this.#judge(folder, entry, grants, collected)
    const isByName = opened.length === before && folder.secrets.every(({ name, link }) => !link && !isPem(name))
    if (isByName)
      this.#byName.set(
        folder,
        folder.secrets.map(({ name }) => childPath(folder.path, name)),
      )
  }

  #judge(folder: Folder, entry: SecretEntry, grants: readonly PathPattern[], collected: MaskCollection): void {
    const path = childPath(folder.path, entry.name)
    const target = entry.link ? resolveLink(path, collected) : path
    if (target === null) return
    if (entry.link && this.#isOfSystem(target)) {
      collected.system++
      return
    }
    if (this.#isOpened(path, target, entry, grants)) {
      collected.opened.push(target)
      return
    }
    if (isPem(path) || isPem(target)) {
      if (this.#holdsOnlyCertificates(target)) {
        collected.certificates++
        return
      }
    }
    collected.files.add(target)
    if (entry.link && !this.#isIndexed(target)) collected.linked.set(target, path)
  }

  /** A link hides no file of the system: everybody can read it, and every command needs some of them. */
  #isOfSystem(target: string): boolean {
    if (this.#isInTree(target) || !isBaselineRead(target) || secretPlace(target, this.#facts.home) !== null)
      return false
    const stat = statSync(target, { throwIfNoEntry: false })
    return (
      stat !== undefined &&
      stat.uid === 0 &&
      (stat.mode & 0o004) !== 0 &&
      this.#shapeOf(posix.basename(target)) === null
    )
  }

  /** Whether a file is hidden by its own name, wherever in the tree it is moved. */
  #isIndexed(path: string): boolean {
    return this.#shapeAt(path) !== null && this.#isInTree(path)
  }

  #isOpened(path: string, target: string, entry: SecretEntry, grants: readonly PathPattern[]): boolean {
    const facts = { home: this.#facts.home, shapeOf: this.#shapeOf }
    if (!entry.link) return openedByGrant(path, grants, facts)
    // A link with a plain name is not a secret itself: only its own path, written out, opens its
    // target.
    if (this.#shapeAt(path) === null) {
      return grants.some((grant) => grant.absolute === path) || openedByGrant(target, grants, facts)
    }
    return openedByGrant(path, grants, facts)
  }

  #holdsOnlyCertificates(path: string): boolean {
    const read = readCertificate(path, this.#certificates.get(path))
    if (read === null) return false
    this.#certificates.set(path, read)
    return read.plain
  }
}

class MaskCollection {
  readonly files = new Set<string>()
  readonly directories = new Set<string>()
  readonly linked = new Map<string, string>()
  broken = 0
  cycles = 0
  folders = 0
  certificates = 0
  system = 0
  readonly installed: string[] = []
  readonly opened: string[] = []
  readonly committed: string[] = []
  readonly faces = new Map<string, MaskFace>()
  readonly configs = new Map<string, MaskFace>()
  readonly tokens: GitToken[] = []

  result(replaced: ReadonlyMap<string, MaskFace>): Masks {
    return {
      tokens: this.tokens,
      committed: this.committed,
      installed: this.installed,
      faces: this.faces,
      replaced: new Map([...replaced, ...this.configs]),
      files: withoutCovered(this.files, this.directories),
      directories: withoutCovered(this.directories, this.directories),
      linked: this.linked,
      opened: this.opened,
      skipped: {
        broken: this.broken,
        cycles: this.cycles,
        directories: this.folders,
        certificates: this.certificates,
        opened: this.opened.length,
        system: this.system,
        installed: this.installed.length,
      },
    }
  }
}

/** A file, or the files in a folder: at most so many, since some places of a home have very many. */
export function filesBelow(path: string, most = 2000): readonly string[] {
  const files: string[] = []
  const folders = [path]
  for (const folder of folders) {
    const entries = folders.length + files.length > most ? [] : entriesOf(Buffer.from(encodePath(folder)))
    if (folder === path && entries.length === 0) files.push(path)
    for (const entry of entries) {
      const below = `${folder}/${decodePath(entry.name)}`
      if (entry.isDirectory()) folders.push(below)
      else if (entry.isFile()) files.push(below)
    }
  }
  return files
}

/** The files with a credential in a git directory. A literal grant opens one. */
function collectTokens(directory: string, grants: readonly PathPattern[], collected: MaskCollection): void {
  for (const name of ['config', 'config.worktree']) {
    let path = childPath(directory, name)
    if (grants.some((grant) => grant.absolute === path)) continue
    let text: string
    try {
      path = realpathSync.native(path)
      if (statSync(path).size > MOST_CONFIG) {
        collected.configs.set(path, { kind: 'closed' })
        continue
      }
      text = readFileSync(path, 'latin1')
    } catch {
      continue
    }
    const masked = maskGitTokens(text)
    if (masked === null) continue
    collected.configs.set(path, { kind: 'text', bytes: Buffer.from(masked.text, 'latin1'), executable: false })
    collected.tokens.push(...masked.tokens)
  }
}

function entriesOf(folder: string | Buffer): Dirent<Buffer>[] {
  return attempt(() => readdirSync(folder, { withFileTypes: true, encoding: 'buffer' }), [])
}

function isPem(path: string): boolean {
  return posix.extname(path).toLowerCase() === '.pem'
}

function resolveLink(path: string, collected: MaskCollection): string | null {
  try {
    const target = realpathSync.native(path)
    if (target.includes('\ufffd')) {
      const odd = decodePath(realpathSync.native(path, { encoding: 'buffer' }))
      collected.files.add(odd)
      collected.linked.set(odd, path)
      return null
    }
    if (!statSync(target).isDirectory()) return target
    collected.folders++
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') collected.cycles++
    else collected.broken++
  }
  return null
}

function readCertificate(
  path: string,
  known: { readonly state: string; readonly plain: boolean } | undefined,
): { readonly state: string; readonly plain: boolean } | null {
  let descriptor: number
  try {
    // Never follows a link swapped in just now, and never waits for the other end of a pipe.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return null
  }
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile() || stat.size > CERTIFICATE_LIMIT) return null
    const state = `${stat.dev}:${stat.ino}:${stat.ctimeMs}:${stat.size}`
    const settled = Date.now() - stat.ctimeMs > 2_500
    if (known?.state === state && settled) return known
    const bytes = Buffer.alloc(stat.size + 1)
    const length = readSync(descriptor, bytes, 0, bytes.length, 0)
    if (length !== stat.size) return null
    return { state, plain: holdsOnlyCertificates(bytes.toString('latin1', 0, length)) }
  } catch {
    return null
  } finally {
    closeSync(descriptor)
  }
}

/** Secrets in or below a folder with names that are not UTF-8; they are few, so they are walked every time. */
function collectRaw(folder: Buffer, shapeOf: ShapeOf, onlyUndecodable: boolean, collected: MaskCollection): void {
  let entries: Dirent<Buffer>[]
  try {
    entries = readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })
  } catch {
    collected.directories.add(decodePath(folder))
    return
  }
  for (const entry of entries) {
    const text = entry.name.toString('utf8')
    if (onlyUndecodable && !text.includes('\ufffd')) continue
    const path = Buffer.concat([folder, Buffer.from('/'), entry.name])
    if (entry.isDirectory()) {
      if (path.length > MAX_FOLDER_LENGTH) collected.directories.add(decodePath(path))
      else collectRaw(path, shapeOf, false, collected)
    }
    // A link is hidden at its target, which is indexed by its own name if it lies in the tree.
    else if (!entry.isSymbolicLink() && (shapeOf(text) ?? shapeBelow(folder.toString('utf8'), text)) !== null)
      collected.files.add(decodePath(path))
  }
}
