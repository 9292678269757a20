/** The whole-tree index: every folder below the roots, what in it looks secret or protected, kept true by ctimes. */

import { accessSync, constants, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { posix } from 'node:path'
import { isBelowGit } from '../../files/git-links.ts'
import { foldName, isProtectedStart } from '../../files/protected-paths.ts'
import { isReportedStart } from '../../files/reported-names.ts'
import { compileShapes, type ShapeOf, shapeBelow } from '../../files/secret-shapes.ts'
import { FolderClock, folderState, isSameState } from './clock.ts'

/** An entry that looks like a secret: by its own name, or by the name it links to. */
export interface SecretEntry {
  readonly name: string
  readonly shape: string
  readonly link: boolean
}

/** The index of one folder. */
export interface Folder {
  readonly path: string
  /** Change time in milliseconds; a user process cannot set it back. */
  readonly ctime: number
  readonly inode: number
  readonly device: number
  /** False when it was read so soon after a change that another change could carry the same time. */
  readonly settled: boolean
  readonly folders: readonly string[]
  readonly secrets: readonly SecretEntry[]
  /** Entries whose name starts a protected path: `.git`, `.vscode`, `.envrc`. */
  readonly guarded: readonly string[]
  /** It has the entries of a git directory, whatever its name. */
  readonly gitDirectory: boolean
  /** Links in a git directory, or below a `.git`; elsewhere those that leave the roots, or may at another time. */
  readonly links: readonly string[]
  /** It could not be read: its content is unknown, so it is masked as a whole. */
  readonly unreadable: boolean
  /** Entries whose names are not UTF-8 and that are folders or look secret. */
  readonly raw: readonly string[]
}

/**
 * From this length on (in bytes) entries of a folder may be beyond what a path can name, while a
 * command inside reaches them step by step. Such a folder is masked as a whole; people do not
 * create them.
 */
export const MAX_FOLDER_LENGTH = 3_800

const WATCHED_FOLDERS = 500

/** Every folder below some roots. Nothing is skipped, and there is not a limit of depth or time. */
export class SecretTree {
  readonly roots: readonly string[]
  readonly #shapeOf: ShapeOf
  readonly #folders = new Map<string, Folder>()
  readonly #clock: FolderClock
  /** Folders to be read again in any case: not settled, or not readable. */
  readonly #restless = new Set<string>()
  #readSinceAdopted = 0
  /** Called with the number of folders that a refresh has read, and with null at its end. */
  watch: ((folders: number | null) => void) | null = null
  #readNow = 0
  /** Folders that have something to say, so that questions do not scan the whole map. */
  readonly #notable = new Set<string>()

  /** The roots are canonical; one that lies in another is covered by it. */
  constructor(roots: readonly string[], shapeOf: ShapeOf = compileShapes(), clock: FolderClock = new FolderClock()) {
    const unique = [...new Set(roots)].sort()
    this.roots = unique.filter((root) => !unique.some((other) => other !== root && isBelow(root, other)))
    this.#shapeOf = shapeOf
    this.#clock = clock
  }

  /** Updates the index: reads new and changed folders. Returns how many. */
  refresh(): number {
    let read = 0
    const stale: Folder[] = []
    for (const path of new Set([...this.#restless, ...this.#clock.changed(this.roots)])) {
      const folder = this.#folders.get(path)
      if (folder) stale.push(folder)
    }
    for (const folder of stale) {
      // An earlier one in the list may have dropped it together with its parent.
      if (this.#folders.get(folder.path) === folder) read += this.#read(folder.path)
    }
    for (const root of this.roots) if (!this.#folders.has(root)) read += this.#read(root)
    this.#readSinceAdopted += read
    if (this.#readNow >= WATCHED_FOLDERS) this.watch?.(null)
    this.#readNow = 0
    this.#clock.watchInIdleTime()
    return read
  }

  /** The folders with secrets, protected names or git directories, and unreadable ones. */
  *notable(): Iterable<Folder> {
    for (const path of this.#notable) {
      const folder = this.#folders.get(path)
      if (folder) yield folder
    }
  }

  /** The remembered folder, for tests and for questions about one place. */
  folder(path: string): Folder | undefined {
    return this.#folders.get(path)
  }

  get size(): number {
    return this.#folders.size
  }

  /** How many folders were read since an earlier index was adopted: how much a new one would save. */
  get readSinceAdopted(): number {
    return this.#readSinceAdopted
  }

  /** All folders at once, for tests; a session does it in idle moments. */
  watchFolders(): void {
    this.#clock.watch()
  }

  /** Everything remembered, to be kept for the next process; `adopt` takes it back. */
  entries(): Iterable<Folder> {
    return this.#folders.values()
  }

  /** Takes remembered folders; the next refresh verifies each of them by its ctime. */
  adopt(folders: Iterable<Folder>): void {
    for (const folder of folders) {
      if (this.roots.some((root) => folder.path === root || isBelow(folder.path, root))) this.#store(folder)
    }
  }

  /** Ends the watches over a big tree. */
  close(): void {
    this.#clock.close()
  }

  #read(start: string): number {
    let read = 0
    const pending = [start]
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      const before = this.#folders.get(path)
      const folder = readFolder(path, this.roots, this.#shapeOf)
      read++
      if (++this.#readNow % WATCHED_FOLDERS === 0) this.watch?.(this.#readNow)
      if (folder === null) {
        this.#drop(path)
        continue
      }
      const kept = new Set(folder.folders)
      for (const name of before?.folders ?? []) if (!kept.has(name)) this.#drop(childPath(path, name))
      this.#store(folder)
      for (const name of folder.folders) {
        const child = childPath(path, name)
        const known = this.#folders.get(child)
        // The parent changed, so the name may point to another folder than the one that was verified.
        if (!known || !isSameState(known, folderState(child))) pending.push(child)
      }
    }
    return read
  }

  #store(folder: Folder): void {
    this.#folders.set(folder.path, folder)
    this.#clock.track(folder)
    if (folder.settled && !folder.unreadable) this.#restless.delete(folder.path)
    else this.#restless.add(folder.path)
    const notable =
      folder.secrets.length > 0 ||
      folder.guarded.length > 0 ||
      folder.gitDirectory ||
      folder.links.length > 0 ||
      folder.unreadable ||
      folder.raw.length > 0
    if (notable) this.#notable.add(folder.path)
    else this.#notable.delete(folder.path)
  }

  #drop(path: string): void {
    const pending = [path]
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const folder = this.#folders.get(next)
      if (!folder) continue
      this.#folders.delete(next)
      this.#notable.delete(next)
      this.#restless.delete(next)
      this.#clock.forget(next)
      for (const name of folder.folders) pending.push(childPath(next, name))
    }
  }
}

/** The path of an entry of a folder; the root directory has no second slash. */
export function childPath(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`
}

/** True when a path lies below a folder. */
export function isBelow(path: string, folder: string): boolean {
  return folder === '/' ? path !== '/' : path.startsWith(`${folder}/`)
}

/** Every sandbox has its own of these; the machine's never end and never rest. */
const MADE_ANEW: ReadonlySet<string> = new Set(['proc', 'sys', 'dev'])

function readFolder(path: string, roots: readonly string[], shapeOf: ShapeOf): Folder | null {
  const stat = statFolder(path)
  if (stat === null) return null
  const folders: string[] = []
  const secrets: SecretEntry[] = []
  const guarded: string[] = []
  const raw: string[] = []
  const links: string[] = []
  const outward: string[] = []
  const marks = { objects: false, refs: false, head: false, commondir: false }
  const identity = { path, ctime: stat.ctimeMs, inode: stat.ino, device: stat.dev }
  let entries: ReturnType<typeof readEntries>
  try {
    if (path.length > MAX_FOLDER_LENGTH / 4 && Buffer.byteLength(path) > MAX_FOLDER_LENGTH) throw new Error('too long')
    // Readable but not searchable: its entries cannot be judged, while the owner inside could open it up with chmod.
    if ((stat.mode & 0o555) !== 0o555) accessSync(path, constants.R_OK | constants.X_OK)
    entries = readEntries(path)
  } catch (error) {
    if (isGone(error)) return null
    const nothing = { folders, secrets, guarded, raw, gitDirectory: false, links: [] }
    return { ...identity, ...nothing, settled: false, unreadable: true }
  }
  for (const entry of entries) {
    const name = entry.name
    const directory = entry.isDirectory()
    if (directory && path === '/' && MADE_ANEW.has(name)) continue
    if (directory) folders.push(name)
    const target = entry.isSymbolicLink() ? readTarget(path, name) : null
    if (entry.isSymbolicLink()) links.push(name)
    if (target !== null && isOutward(path, target, roots)) outward.push(name)
    const shape = directory
      ? null
      : (shapeOf(name) ?? shapeBelow(path, name) ?? (target && shapeOf(posix.basename(target))))
    if (shape !== null) secrets.push({ name, shape, link: entry.isSymbolicLink() })
    if (name.includes('\ufffd') && (directory || shape !== null)) raw.push(name)
    if (isProtectedStart(name) || isReportedStart(name)) guarded.push(name)
    if (name === 'objects') marks.objects = true
    else if (name === 'refs') marks.refs = true
    else if (name === 'HEAD') marks.head = true
    else if (name === 'commondir') marks.commondir = true
  }
  // A `.git` without these is not a repository yet; the person's next `git init` keeps the hooks and the keys that it finds there.
  const gitDirectory =
    marks.commondir || (marks.head && marks.objects && marks.refs) || foldName(posix.basename(path)) === '.git'
  return {
    ...identity,
    settled: isSettled(stat.ctimeMs),
    folders: folders.filter((name) => !raw.includes(name)),
    secrets: secrets.filter((entry) => !raw.includes(entry.name)),
    guarded,
    raw,
    gitDirectory,
    links: gitDirectory || isBelowGit(childPath(path, 'x')) ? links : outward,
    unreadable: false,
  }
}

function statFolder(path: string): Stats | null {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    return stat?.isDirectory() ? stat : null
  } catch {
    // A parent that cannot be searched is unreadable itself and masked as a whole.
    return null
  }
}

function readEntries(path: string): {
  readonly name: string
  isDirectory(): boolean
  isSymbolicLink(): boolean
}[] {
  return readdirSync(path, { withFileTypes: true })
}

function readTarget(folder: string, name: string): string | null {
  try {
    return readlinkSync(childPath(folder, name))
  } catch {
    return null
  }
}

/** Whether a link leaves the roots by its text, or climbs from a name that may become a link. */
function isOutward(folder: string, target: string, roots: readonly string[]): boolean {
  const path = posix.resolve(folder, target)
  return climbs(target) || !roots.some((root) => path === root || isBelow(path, root))
}

/** Whether a link has a `..` after a name: where that arrives depends on what the name is. */
export function climbs(target: string): boolean {
  const names = target.split('/').filter((name) => name !== '' && name !== '.')
  return names.lastIndexOf('..') > names.findIndex((name) => name !== '..') && names.some((name) => name !== '..')
}

/**
 * A folder that changes twice within one tick of the file system's clock has the same ctime both
 * times, so a folder read within that tick is read again next time. Whole seconds mean a file
 * system with coarse times.
 */
function isSettled(ctime: number): boolean {
  const window = ctime % 1000 === 0 ? 2_500 : 60
  const age = Date.now() - ctime
  return age > window
}

function isGone(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ENOENT' || code === 'ENOTDIR'
}
