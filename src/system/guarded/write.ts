/** Writes a file atomically: a synced temporary file is renamed inside an open directory. */

import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { posix } from 'node:path'
import { Fault } from '../fault.ts'
import type { CheckedPath } from './checked-path.ts'
import { type HeldDirectory, holdDirectory, openEntry, removeCreated, segmentsOf, systemFault } from './directory.ts'
import type { TemporaryJournal } from './journal.ts'
import { type ChangeKeeper, makeChange } from './keeper.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants

export interface WriteOptions {
  /** Mode of a new file; an existing file keeps its own. */
  readonly mode?: number
  /** The file must not exist. */
  readonly exclusive?: boolean
  /** The stamp of the expected version; another one is a Fault `file-changed`. */
  readonly replaces?: string
  /** False skips fsync, for files that can be recreated. */
  readonly sync?: boolean
}

/** A write that only needs its rename. */
export interface PreparedWrite {
  readonly path: string
  readonly created: boolean
  /** New directories, outermost first. */
  readonly made: readonly CheckedPath[]
  commit(): void
  /** Removes what `prepare` created; does nothing after `commit`. */
  abort(): void
}

type Fill = (fd: number, directory: HeldDirectory, name: string) => void

/** Writes the content beside its place and waits for `commit`. */
export function prepareWrite(
  path: string,
  content: Uint8Array | Fill,
  options: WriteOptions,
  journal: TemporaryJournal,
  keeper: ChangeKeeper,
): PreparedWrite {
  if (segmentsOf(path).length === 0) throw new Fault('not-a-file', '/ is a directory')
  const directory = holdDirectory(posix.dirname(path), { make: keeper })
  const name = posix.basename(path)
  let temporary: string | null = null
  const release = (madeToo: boolean) => {
    if (temporary !== null) {
      try {
        unlinkSync(directory.at(temporary))
      } catch {
        // Already renamed, or never created.
      }
      journal.end()
      temporary = null
    }
    directory.close()
    if (madeToo) removeCreated(directory.made, keeper)
  }
  try {
    const old = oldFile(directory, name, path, options)
    const folderTime = fstatSync(directory.fd, { bigint: true }).mtimeNs
    const fresh = `.cordon-${randomName()}.tmp`
    journal.begin(posix.join(directory.path, fresh))
    temporary = fresh
    writeTemporary(directory, temporary, content, old, options)
    return settle({ path, directory, name, temporary, old, folderTime, keeper }, options, release)
  } catch (error) {
    release(true)
    throw systemFault(path, error)
  }
}

interface WriteTarget {
  readonly path: string
  readonly directory: HeldDirectory
  readonly name: string
  readonly temporary: string
  readonly old: Stats | null
  /** The directory's time before the temporary file. */
  readonly folderTime: bigint
  readonly keeper: ChangeKeeper
}

function settle(
  { path, directory, name, temporary, old, folderTime, keeper }: WriteTarget,
  options: WriteOptions,
  release: (madeToo: boolean) => void,
): PreparedWrite {
  let open = true
  return {
    path,
    created: old === null,
    made: directory.made,
    commit() {
      try {
        if (options.replaces !== undefined) oldFile(directory, name, path, options)
        const [from, to] = [directory.at(temporary), directory.at(name)]
        if (options.exclusive) keeper.willMake(path, folderTime)
        else keeper.willReplace(path, to, folderTime)
        makeChange(keeper, () => (options.exclusive ? linkSync(from, to) : renameSync(from, to)))
      } catch (error) {
        throw systemFault(path, error)
      }
      open = false
      release(false)
    },
    abort() {
      if (!open) return
      open = false
      release(true)
    },
  }
}

function oldFile(directory: HeldDirectory, name: string, path: string, options: WriteOptions): Stats | null {
  const entry = openEntry(directory, name)
  if (!entry) {
    if (options.replaces !== undefined) throw staleFault(path)
    return null
  }
  closeSync(entry.fd)
  const { facts } = entry
  if (options.exclusive) throw new Fault('exists', `${path} already exists`)
  if (facts.isDirectory()) throw new Fault('not-a-file', `${path} is a directory`)
  if (!facts.isFile()) throw new Fault('not-a-file', `${path} is a device, socket or FIFO, not a regular file`)
  if (options.replaces !== undefined && stampOf(facts) !== options.replaces) throw staleFault(path)
  return facts
}

function writeTemporary(
  directory: HeldDirectory,
  temporary: string,
  content: Uint8Array | Fill,
  old: Stats | null,
  { mode, sync }: WriteOptions,
): void {
  const fd = openSync(directory.at(temporary), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, old ? 0o600 : (mode ?? 0o666))
  try {
    if (content instanceof Uint8Array) writeAll(fd, content)
    else content(fd, directory, temporary)
    if (old) copyOwnerAndMode(fd, old)
    else if (mode !== undefined) fchmodSync(fd, mode & 0o777 & ~process.umask())
    if (sync !== false) fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  let written = 0
  while (written < bytes.length) written += writeSync(fd, bytes, written)
}

// Owner first: changing it clears mode bits. Setuid and setgid never survive new content.
function copyOwnerAndMode(fd: number, old: Stats): void {
  const now = fstatSync(fd)
  if (now.uid !== old.uid || now.gid !== old.gid) {
    try {
      fchownSync(fd, old.uid, old.gid)
    } catch {
      // Only root gives files away; the group may still be settable.
      try {
        fchownSync(fd, now.uid, old.gid)
      } catch {
        // The file becomes the writer's, as with any editor that replaces files.
      }
    }
  }
  fchmodSync(fd, old.mode & 0o777)
}

/** Identifies one version of a file. */
export function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`
}

function staleFault(path: string): Fault {
  return new Fault('file-changed', `${path} was changed by somebody else meanwhile`, {
    remedy: 'Read it again and repeat the change on its current content.',
  })
}

function randomName(): string {
  return crypto.getRandomValues(Buffer.alloc(8)).toString('hex')
}
