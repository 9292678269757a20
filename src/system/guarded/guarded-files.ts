/** Files for tools: each call reaches exactly the judged canonical path, or fails. */

import { closeSync, fstatSync, lstatSync, readFileSync, readSync, symlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { Fault } from '../fault.ts'
import { changeMode, copy, makeDirectory, move, type RemoveOptions, remove } from './change.ts'
import type { CheckedPath } from './checked-path.ts'
import { changedFault, type HeldDirectory, holdDirectory, reopenForReading } from './directory.ts'
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
      try {
        return lstatSync(path).isSymbolicLink()
      } catch {
        return false
      }
    },
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
