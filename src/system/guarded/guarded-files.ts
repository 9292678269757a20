/** Files for tools: each call reaches exactly the judged canonical path, or fails. */

import {
  chmodSync,
  closeSync,
  copyFileSync,
  fstatSync,
  lstatSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { posix } from 'node:path'
import { attempt, errorCode, Fault } from '../fault.ts'
import { copyAttributes, setFileTime } from '../file-addon.ts'
import type { CheckedPath } from './checked-path.ts'
import {
  changedFault,
  descriptorPath,
  type HeldDirectory,
  holdChild,
  holdDirectory,
  openEntry,
  removeCreated,
  reopenForReading,
  systemFault,
} from './directory.ts'
import {
  type Entry,
  entriesOf,
  type FileContent,
  type FileFacts,
  factsOf,
  inEntry,
  inParent,
  requireFile,
} from './entry.ts'
import { isTemporaryName, noJournal, type TemporaryJournal } from './journal.ts'
import { type ChangeKeeper, keepsNothing, makeChange } from './keeper.ts'
import { type PreparedWrite, prepareWrite, type WriteOptions } from './write.ts'

interface RemoveOptions {
  readonly recursive?: boolean
  /** Unlink a link itself instead of reporting a changed path. */
  readonly link?: boolean
}

const MAX_DEPTH = 256

/** A sparse file can fill the disk when copied. */
const MAX_COPIED = 1024 ** 3

function makeDirectory(path: string, keeper: ChangeKeeper): readonly CheckedPath[] {
  const directory = holdDirectory(path, { make: keeper })
  directory.close()
  return directory.made
}

function remove(parent: HeldDirectory, name: string, options: RemoveOptions, keeper: ChangeKeeper): void {
  // Unlinking never follows: it removes the name in this directory.
  if (options.link && lstatSync(parent.at(name)).isSymbolicLink()) unlink(parent, name, keeper)
  else removeEntry(parent, name, { recursive: options.recursive ?? false, keeper }, 0)
}

function unlink(parent: HeldDirectory, name: string, keeper: ChangeKeeper): void {
  const at = parent.at(name)
  keeper.willRemove(posix.join(parent.path, name), at)
  makeChange(keeper, () => unlinkSync(at))
}

interface Removal {
  readonly recursive: boolean
  readonly keeper: ChangeKeeper
}

function removeEntry(parent: HeldDirectory, name: string, removal: Removal, depth: number): void {
  const { recursive, keeper } = removal
  const path = posix.join(parent.path, name)
  if (depth > MAX_DEPTH) throw new Fault('too-deep', `${path} lies more than ${MAX_DEPTH} directories deep`)
  const isDirectory = inEntry(parent, name, (entry) => {
    if (depth === 0 && !entry.facts.isFile() && !entry.facts.isDirectory()) requireFile(path, entry.facts)
    return entry.facts.isDirectory()
  })
  if (!isDirectory) {
    unlink(parent, name, keeper)
    return
  }
  if (recursive) {
    const directory = holdChild(parent, name)
    try {
      for (const child of entriesOf(directory)) {
        if (child.type === 'directory') removeEntry(directory, child.name, removal, depth + 1)
        else unlink(directory, child.name, keeper)
      }
    } finally {
      directory.close()
    }
  }
  keeper.willRemove(path, parent.at(name))
  makeChange(keeper, () => rmdirSync(parent.at(name)))
}

/**
 * Copying a file onto itself separates it from its hard links, with the same attributes and times.
 */
function copy(source: string, destination: string, journal: TemporaryJournal, keeper: ChangeKeeper): void {
  inParent(source, (parent, name) =>
    inEntry(parent, name, (entry) => {
      requireFile(source, entry.facts)
      if (entry.facts.size > MAX_COPIED) {
        throw new Fault('too-large', `${source} has ${entry.facts.size} bytes; at most ${MAX_COPIED} are copied`, {
          remedy: 'Copy it with cp, in a command, which can be stopped.',
        })
      }
      const fd = reopenForReading(entry, parent, name)
      try {
        const fill = (target: number, directory: HeldDirectory, temporary: string) => {
          const [from, to] = [descriptorPath(fd, parent, name), descriptorPath(target, directory, temporary)]
          copyFileSync(from, to)
          if (source !== destination) return
          copyAttributes(Buffer.from(from), Buffer.from(to))
          const time = fstatSync(fd, { bigint: true }).mtimeNs
          const second = 1_000_000_000n
          setFileTime(Buffer.from(directory.at(temporary)), time / second, Number(time % second))
        }
        const prepared = prepareWrite(destination, fill, { mode: entry.facts.mode & 0o777 }, journal, keeper)
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

function move(source: string, destination: string, keeper: ChangeKeeper): void {
  inParent(source, (parent, name) => {
    inEntry(parent, name, ({ facts }) => {
      if (!facts.isDirectory()) requireFile(source, facts)
      if (facts.isDirectory() && `${destination}/`.startsWith(`${source}/`)) {
        throw new Fault('into-itself', `${source} cannot be moved into itself`)
      }
    })
    const target = holdDirectory(posix.dirname(destination), { make: keeper })
    try {
      const last = posix.basename(destination)
      const existing = openEntry(target, last)
      if (existing) {
        closeSync(existing.fd)
        throw new Fault('exists', `${destination} already exists`, {
          remedy: 'Delete it first, or choose another name.',
        })
      }
      keeper.willMove(source, destination)
      makeChange(keeper, () => renameSync(parent.at(name), target.at(last)))
    } catch (error) {
      removeCreated(target.made, keeper)
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

function changeMode(path: string, mode: number, journal: TemporaryJournal, keeper: ChangeKeeper): void {
  if ((mode & ~0o777) !== 0) throw new Fault('special-bits', `${path}: setuid, setgid and sticky bits are not set`)
  const set = () =>
    inParent(path, (parent, name) =>
      inEntry(parent, name, ({ fd, facts }) => {
        if (!facts.isDirectory()) requireFile(path, facts)
        if (facts.isFile() && facts.nlink > 1) return (facts.mode & 0o777) === mode
        keeper.willSetMode(path, parent.at(name))
        makeChange(keeper, () => chmodSync(descriptorPath(fd, parent, name), mode))
        return true
      }),
    )
  // A hard-linked file is copied first, so that its other names keep the mode.
  for (let tries = 0; !set(); tries++) {
    if (tries > 0) throw changedFault(path)
    copy(path, path, journal, keeper)
  }
}

export type { CheckedPath } from './checked-path.ts'
export type { Entry, EntryType, FileContent, FileFacts } from './entry.ts'

/**
 * Paths are canonical and judged. A path that now resolves elsewhere is a Fault `path-changed`.
 * Links, devices, sockets and FIFOs are never opened.
 */
export interface GuardedFiles {
  stat(path: CheckedPath): FileFacts | null
  /** The bytes of a regular file of at most `limit` bytes. */
  read(path: CheckedPath, limit?: number): FileContent
  /** The first bytes of a regular file. */
  readStart(path: CheckedPath, length: number): FileContent
  /** Sorted entries, without temporary files of running writes. */
  list(path: CheckedPath): readonly Entry[]
  /** Replaces or creates a file atomically, with missing directories. */
  write(path: CheckedPath, bytes: Uint8Array, options?: WriteOptions): void
  /** The same in two steps: everything that can fail comes before `commit`. */
  prepare(path: CheckedPath, bytes: Uint8Array, options?: WriteOptions): PreparedWrite
  /** Creates a directory and its parents; returns new ones, outermost first. */
  makeDirectory(path: CheckedPath): readonly CheckedPath[]
  /** Deletes a file, an empty directory, or with `recursive` a tree without following links. */
  remove(path: CheckedPath, options?: RemoveOptions): void
  /** Creates the parents of a path; returns new ones, outermost first. */
  makeParents(path: CheckedPath): readonly CheckedPath[]
  /** Creates a symbolic link; the caller judges its target. */
  makeLink(path: CheckedPath, target: string): void
  copy(source: CheckedPath, destination: CheckedPath): void
  /** Renames; the destination must not exist. */
  move(source: CheckedPath, destination: CheckedPath): void
  /** Permission bits only; a hard-linked file's other names keep theirs. */
  changeMode(path: CheckedPath, mode: number): void
  /** True if the last name of a written path is a link; for messages only. */
  isLink(path: string): boolean
}

const MAX_READ = 256 * 1024 * 1024

/** Guarded files of this machine. `keeper` records every change first. */
export function openGuardedFiles(
  journal: TemporaryJournal = noJournal,
  keeper: ChangeKeeper = keepsNothing,
): GuardedFiles {
  const prepare = (path: CheckedPath, bytes: Uint8Array, options: WriteOptions = {}) =>
    prepareWrite(path, bytes, options, journal, keeper)
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
    makeDirectory: (path) => makeDirectory(path, keeper),
    makeParents: (path) => makeDirectory(posix.dirname(path), keeper),
    remove: (path, options) => inParent(path, (parent, name) => remove(parent, name, options ?? {}, keeper)),
    makeLink: (path, target) =>
      inParent(path, (parent, name) => {
        keeper.willMake(path)
        makeChange(keeper, () => symlinkSync(target, parent.at(name)))
      }),
    copy: (source, destination) => copy(source, destination, journal, keeper),
    move: (source, destination) => move(source, destination, keeper),
    changeMode: (path, mode) => changeMode(path, mode, journal, keeper),
    isLink: (path) => {
      return attempt(() => lstatSync(path).isSymbolicLink(), false)
    },
  }
}

function stat(path: string): FileFacts | null {
  try {
    if (path === '/') return inDirectory('/', (opened) => factsOf(fstatSync(opened.fd)))
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
