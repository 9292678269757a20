/** Files as tools see them: every call reaches exactly the canonical path that was judged, or fails. */

import {
  chmodSync,
  closeSync,
  copyFileSync,
  type Dirent,
  fstatSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { posix } from 'node:path'
import { errorCode, Fault } from './fault.ts'
import {
  changedFault,
  descriptorPath,
  type HeldDirectory,
  holdChild,
  holdDirectory,
  openEntry,
  removeMade,
  reopenForReading,
  segmentsOf,
  systemFault,
} from './guarded-files-directory.ts'
import { isTemporaryName, noJournal, type TemporaryJournal } from './guarded-files-journal.ts'
import { type PreparedWrite, prepareWrite, stampOf, type WriteOptions } from './guarded-files-write.ts'

export type EntryType = 'file' | 'directory' | 'link' | 'other'

export interface FileFacts {
  readonly type: EntryType
  readonly size: number
  /** Permission bits. */
  readonly mode: number
  readonly modified: Date
  readonly links: number
  /** Tells one version of a file from another. */
  readonly stamp: string
}

export interface FileContent {
  readonly bytes: Buffer
  readonly facts: FileFacts
}

export interface Entry {
  readonly name: string
  readonly type: EntryType
}

/**
 * Paths are canonical, as the decision saw them. A path that resolves elsewhere by now is a Fault `path-changed`; links,
 * devices, sockets and FIFOs are never opened.
 */
export interface GuardedFiles {
  /** What is there, or null. */
  stat(path: string): FileFacts | null
  /** The bytes of a regular file of at most `limit` bytes. */
  read(path: string, limit?: number): FileContent
  /** The first bytes of a regular file. */
  readStart(path: string, length: number): FileContent
  /** Entries of a directory, sorted by name. Temporary files of a write that is under way are left out. */
  list(path: string): readonly Entry[]
  /** Replaces or makes a file as a whole; missing directories are made. */
  write(path: string, bytes: Uint8Array, options?: WriteOptions): void
  /** The same in two steps: everything that can fail comes before `commit`. */
  prepare(path: string, bytes: Uint8Array, options?: WriteOptions): PreparedWrite
  /** Makes a directory and those above it; returns those that were made, outermost first. */
  makeDirectory(path: string): readonly string[]
  /** Deletes a file or an empty directory, or with `recursive` a whole one; links below it are unlinked, not followed. */
  remove(path: string, options?: RemoveOptions): void
  /** Makes a symbolic link where nothing is; where it may lead is the caller's to judge. */
  makeLink(path: string, target: string): void
  copy(source: string, destination: string): void
  /** Renames; the destination must not exist. */
  move(source: string, destination: string): void
  /** Permission bits only; a file with other names elsewhere is refused. */
  changeMode(path: string, mode: number): void
  /** True when the last name of a path as it was written is a link; for messages, never for a decision. */
  isLink(path: string): boolean
}

export interface RemoveOptions {
  readonly recursive?: boolean
  /** Unlink the path itself when it is a link, instead of taking it for a path that changed. */
  readonly link?: boolean
}

const MAX_READ = 256 * 1024 * 1024
const MAX_DEPTH = 256

/** Guarded files of this machine. */
export function openGuardedFiles(journal: TemporaryJournal = noJournal): GuardedFiles {
  const prepare = (path: string, bytes: Uint8Array, options: WriteOptions = {}) =>
    prepareWrite(path, bytes, options, journal)
  return {
    stat,
    read: (path, limit = MAX_READ) => readWhole(path, limit),
    readStart: (path, length) => inParent(path, (parent, name) => readEntry(parent, name, MAX_READ, length)),
    list,
    write: (path, bytes, options) => {
      const prepared = prepare(path, bytes, options)
      try {
        prepared.commit()
      } catch (error) {
        prepared.abort()
        throw error
      }
    },
    prepare,
    makeDirectory,
    remove: (path, options) => inParent(path, (parent, name) => remove(parent, name, options ?? {})),
    makeLink: (path, target) => inParent(path, (parent, name) => symlinkSync(target, parent.at(name))),
    copy: (source, destination) => copy(source, destination, journal),
    move,
    changeMode,
    isLink: (path) => {
      try {
        return lstatSync(path).isSymbolicLink()
      } catch {
        return false
      }
    },
  }
}

/** The facts of a stat as tools see them. */
export function factsOf(stats: Stats): FileFacts {
  return {
    type: typeOf(stats),
    size: stats.size,
    mode: stats.mode & 0o7777,
    modified: stats.mtime,
    links: stats.nlink,
    stamp: stampOf(stats),
  }
}

function inParent<Result>(path: string, use: (parent: HeldDirectory, name: string) => Result): Result {
  segmentsOf(path)
  const parent = holdDirectory(posix.dirname(path))
  try {
    return use(parent, posix.basename(path))
  } catch (error) {
    throw systemFault(path, error)
  } finally {
    parent.close()
  }
}

function inEntry<Result>(
  parent: HeldDirectory,
  name: string,
  use: (entry: { readonly fd: number; readonly facts: Stats }) => Result,
): Result {
  const entry = openEntry(parent, name)
  if (!entry) throw new Fault('not-found', `${posix.join(parent.path, name)} does not exist`)
  try {
    return use(entry)
  } finally {
    closeSync(entry.fd)
  }
}

function stat(path: string): FileFacts | null {
  try {
    if (path === '/') return inDirectory('/', (held) => factsOf(fstatSync(held.fd)))
    return inParent(path, (parent, name) => inEntry(parent, name, (entry) => factsOf(entry.facts)))
  } catch (error) {
    if (error instanceof Fault && error.code === 'not-found') return null
    throw error
  }
}

function inDirectory<Result>(path: string, use: (directory: HeldDirectory) => Result): Result {
  const directory = holdDirectory(path)
  try {
    return use(directory)
  } finally {
    directory.close()
  }
}

function readWhole(path: string, limit: number): FileContent {
  return inParent(path, (parent, name) => readEntry(parent, name, limit, null))
}

function readEntry(parent: HeldDirectory, name: string, limit: number, length: number | null): FileContent {
  return inEntry(parent, name, (entry) => {
    const path = posix.join(parent.path, name)
    requireFile(path, entry.facts)
    if (length === null && entry.facts.size > limit) {
      throw new Fault('too-large', `${path} has ${entry.facts.size} bytes; at most ${limit} are read`)
    }
    const fd = reopenForReading(entry, parent, name)
    try {
      const facts = fstatSync(fd)
      if (facts.ino !== entry.facts.ino || facts.dev !== entry.facts.dev) throw changedFault(path)
      return { bytes: length === null ? readFileSync(fd) : readFirst(fd, length), facts: factsOf(facts) }
    } finally {
      closeSync(fd)
    }
  })
}

function readFirst(fd: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  let filled = 0
  while (filled < length) {
    const count = readSync(fd, bytes, filled, length - filled, filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

function list(path: string): readonly Entry[] {
  return inDirectory(path, entriesOf).filter((entry) => !isTemporaryName(entry.name))
}

function entriesOf(directory: HeldDirectory): Entry[] {
  try {
    return readdirSync(directory.self(), { withFileTypes: true })
      .map((entry) => ({ name: entry.name, type: typeOf(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  } catch (error) {
    throw systemFault(directory.path, error)
  }
}

function makeDirectory(path: string): readonly string[] {
  const directory = holdDirectory(path, { make: true })
  directory.close()
  return directory.made
}

function remove(parent: HeldDirectory, name: string, options: RemoveOptions): void {
  // Unlinking never follows: what goes is the name in this very directory.
  if (options.link && lstatSync(parent.at(name)).isSymbolicLink()) unlinkSync(parent.at(name))
  else removeEntry(parent, name, options.recursive ?? false, 0)
}

function removeEntry(parent: HeldDirectory, name: string, recursive: boolean, depth: number): void {
  const path = posix.join(parent.path, name)
  if (depth > MAX_DEPTH) throw new Fault('too-deep', `${path} lies more than ${MAX_DEPTH} directories deep`)
  const isDirectory = inEntry(parent, name, (entry) => {
    if (depth === 0 && !entry.facts.isFile() && !entry.facts.isDirectory()) requireFile(path, entry.facts)
    return entry.facts.isDirectory()
  })
  if (!isDirectory) {
    unlinkSync(parent.at(name))
    return
  }
  if (recursive) {
    const directory = holdChild(parent, name)
    try {
      for (const child of entriesOf(directory)) {
        if (child.type === 'directory') removeEntry(directory, child.name, true, depth + 1)
        else unlinkSync(directory.at(child.name))
      }
    } finally {
      directory.close()
    }
  }
  rmdirSync(parent.at(name))
}

function copy(source: string, destination: string, journal: TemporaryJournal): void {
  inParent(source, (parent, name) =>
    inEntry(parent, name, (entry) => {
      requireFile(source, entry.facts)
      const fd = reopenForReading(entry, parent, name)
      try {
        const fill = (target: number, directory: HeldDirectory, temporary: string) =>
          copyFileSync(descriptorPath(fd, parent, name), descriptorPath(target, directory, temporary))
        const prepared = prepareWrite(destination, fill, { mode: entry.facts.mode & 0o777 }, journal)
        try {
          prepared.commit()
        } catch (error) {
          prepared.abort()
          throw error
        }
      } finally {
        closeSync(fd)
      }
    }),
  )
}

function move(source: string, destination: string): void {
  inParent(source, (parent, name) => {
    inEntry(parent, name, ({ facts }) => {
      if (!facts.isDirectory()) requireFile(source, facts)
      if (facts.isDirectory() && `${destination}/`.startsWith(`${source}/`)) {
        throw new Fault('into-itself', `${source} cannot be moved into itself`)
      }
    })
    const target = holdDirectory(posix.dirname(destination), { make: true })
    try {
      const last = posix.basename(destination)
      const existing = openEntry(target, last)
      if (existing) {
        closeSync(existing.fd)
        throw new Fault('exists', `${destination} already exists`, {
          remedy: 'Delete it first, or choose another name.',
        })
      }
      renameSync(parent.at(name), target.at(last))
    } catch (error) {
      removeMade(target.made)
      if (errorCode(error) === 'EXDEV') {
        throw new Fault('other-device', `${destination} is on another file system than ${source}`, {
          cause: error,
          remedy: 'Copy it there and delete the original.',
        })
      }
      throw systemFault(destination, error)
    } finally {
      target.close()
    }
  })
}

function changeMode(path: string, mode: number): void {
  if ((mode & ~0o777) !== 0) throw new Fault('special-bits', `${path}: setuid, setgid and sticky bits are not set`)
  inParent(path, (parent, name) =>
    inEntry(parent, name, ({ fd, facts }) => {
      if (!facts.isDirectory()) requireFile(path, facts)
      if (facts.isFile() && facts.nlink > 1) {
        throw new Fault('hard-link', `${path} is one of ${facts.nlink} names of the same file, and all would change`, {
          remedy: 'Copy the file over itself first, so that this name has its own.',
        })
      }
      chmodSync(descriptorPath(fd, parent, name), mode)
    }),
  )
}

function requireFile(path: string, facts: Stats): void {
  if (facts.isFile()) return
  if (facts.isDirectory()) throw new Fault('not-a-file', `${path} is a directory`)
  throw new Fault('not-a-file', `${path} is a device, socket or FIFO, not a regular file`)
}

function typeOf(entry: Stats | Dirent): EntryType {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'other'
}
