/** Keeps what a change of Cordon's own would lose, and records it first. */

import {
  type BigIntStats,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { encodePath } from '../files/path-bytes.ts'
import { errorCode } from '../system/fault.ts'
import { copyAttributes, hasAttributes } from '../system/file-addon.ts'
import type { ChangeKeeper } from '../system/guarded/keeper.ts'
import { openMade, writeMade } from '../system/made-file.ts'
import { makeDirectories } from '../system/state.ts'
import {
  type FileTime,
  fileTime,
  formatEnd,
  formatRecord,
  type JournalOp,
  type JournalRecord,
  type Kept,
  keptName,
} from './journal.ts'

/** A path as bytes. */
export const raw = (path: string): Buffer => Buffer.from(encodePath(path))

const NO_TIME: FileTime = { seconds: 0n, nanoseconds: 0 }
const NOTHING = { mode: 0, size: 0n, inode: 0n, time: NO_TIME }
/** Larger files are not copied; removed or replaced files are linked, whatever their size. */
export const MAX_COPIED: number = 64 * 1024 * 1024

/** A path, or bytes that reach it through an open folder. */
type Way = string | Buffer

const way = (at: Way): Buffer => (typeof at === 'string' ? raw(at) : at)

/** What is at a path without following links, or null. */
export function statAt(path: Way): BigIntStats | null {
  try {
    return lstatSync(way(path), { bigint: true, throwIfNoEntry: false }) ?? null
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR' || errorCode(error) === 'ELOOP') return null
    throw error
  }
}

/** Records a call's changes before they happen. */
export class Keeper implements ChangeKeeper {
  readonly #folder: string
  readonly #fd: number
  #last = 0
  /** Records of the last change. */
  #recorded = 0
  /** What was kept for it, by a second name. */
  #keptFor: string | null = null

  /** `folder` is empty and private. */
  constructor(folder: string) {
    this.#folder = folder
    const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND } = constants
    this.#fd = openMade(join(folder, 'journal'), O_WRONLY | O_CREAT | O_EXCL | O_APPEND)
  }

  /** The second name of what the last change removed. */
  get keptFor(): string | null {
    return this.#keptFor
  }

  /** A file, folder or link will be created where nothing exists, or a second name of `source`. */
  willMake(path: string, folderTime?: bigint, source?: string): void {
    this.#recorded = 1
    this.#keptFor = null
    const otherChanged = source === undefined ? 0n : statAt(source)?.ctimeNs
    this.#write('made', path, {}, { folderTime, otherChanged })
  }

  /** A file will be changed in place. */
  willWrite(path: string, at: Way = path): void {
    const stat = statAt(at)
    this.#recorded = stat ? 1 : 0
    if (!stat) return
    const number = ++this.#last
    const kept: Kept = stat.size === 0n ? 'empty' : this.#copy(at, number, stat) ? 'copy' : 'lost'
    this.#write('written', path, { stat, kept, number })
  }

  willRemove(path: string, at: Way = path): void {
    const stat = statAt(at)
    this.#recorded = stat ? 1 : 0
    this.#keptFor = null
    if (stat) this.#write('removed', path, this.#keep(at, stat))
  }

  /** A rename will replace what is there, if anything. */
  willReplace(path: string, at: Way = path, folderTime?: bigint): void {
    const stat = statAt(at)
    this.#recorded = stat ? 2 : 1
    this.#keptFor = null
    if (stat) this.#write('removed', path, this.#keep(at, stat), { folderTime })
    this.#write('made', path, {}, { folderTime })
  }

  willMove(path: string, other: string): void {
    this.#recorded = 1
    this.#keptFor = null
    this.#write('renamed', path, {}, { other, changed: statAt(path)?.ctimeNs })
  }

  willSetAttributes(path: string, at: Way = path): void {
    const stat = statAt(at)
    this.#recorded = stat ? 1 : 0
    this.#keptFor = null
    if (stat) this.#write('mode', path, { stat, ...this.#attributes(at, stat.isDirectory()) })
  }

  willSetMode(path: string, at: Way = path): void {
    const stat = statAt(at)
    this.#recorded = stat ? 1 : 0
    this.#keptFor = null
    if (stat) this.#write('mode', path, { stat })
  }

  /** The last announced change failed. */
  wasNotMade(): void {
    const bytes = formatEnd(NO_TIME)
    bytes[4] = 'f'.charCodeAt(0)
    for (; this.#recorded > 0; this.#recorded--) writeSync(this.#fd, bytes)
    // A leftover link would make a used file hard-linked.
    if (this.#keptFor !== null) unlinkSync(this.#keptFor)
    this.#keptFor = null
  }

  /** Another process makes the changes from here on. */
  leave(): void {
    closeSync(this.#fd)
  }

  /** The call is over. */
  close(): void {
    const now = BigInt(Date.now() + 1) * 1_000_000n
    writeSync(this.#fd, formatEnd({ seconds: now / 1_000_000_000n, nanoseconds: Number(now % 1_000_000_000n) }))
    closeSync(this.#fd)
  }

  /** Keeps a file only if it still is the one that was checked. */
  #keep(path: Way, stat: BigIntStats): { stat: BigIntStats; kept: Kept; number: number } {
    this.#keptFor = null
    if (stat.isDirectory())
      return { stat, ...(hasAttributes(way(path)) ? this.#attributes(path, true) : { kept: 'none', number: 0 }) }
    const number = ++this.#last
    try {
      const name = this.#nameOf(number)
      linkSync(way(path), name)
      this.#keptFor = name
      if (statAt(name)?.ino === stat.ino) return { stat, kept: 'link', number }
      this.#keptFor = null
      unlinkSync(name)
    } catch {
      // On another file system, or another user's: copy it.
    }
    if (stat.isFile() && stat.size === 0n) return { stat, kept: 'empty', number: 0 }
    return { stat, kept: stat.isFile() && this.#copy(path, number, stat) ? 'copy' : 'lost', number }
  }

  #attributes(path: Way, isFolder: boolean): { kept: Kept; number: number } {
    const number = ++this.#last
    const name = this.#nameOf(number)
    try {
      // Only a folder can have a folder's attributes.
      if (isFolder) makeDirectories(name)
      else writeMade(name, '', { flag: 'wx' })
      copyAttributes(way(path), Buffer.from(name))
      return { kept: 'attributes', number }
    } catch {
      return { kept: 'lost', number }
    }
  }

  #nameOf(number: number): string {
    const name = join(this.#folder, keptName(number))
    makeDirectories(dirname(name))
    return name
  }

  #copy(path: Way, number: number, stat: BigIntStats): boolean {
    if (stat.size > BigInt(MAX_COPIED)) return false
    const { COPYFILE_EXCL, COPYFILE_FICLONE, O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
    try {
      const fd = openSync(way(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      try {
        if (fstatSync(fd, { bigint: true }).ino !== stat.ino) return false
        const source = process.platform === 'linux' ? `/proc/self/fd/${fd}` : way(path)
        copyFileSync(source, this.#nameOf(number), COPYFILE_EXCL | COPYFILE_FICLONE)
        copyAttributes(Buffer.from(source), Buffer.from(this.#nameOf(number)))
        return true
      } finally {
        closeSync(fd)
      }
    } catch {
      return false
    }
  }

  #write(
    op: JournalOp,
    path: string,
    found: { stat?: BigIntStats; kept?: Kept; number?: number } = {},
    {
      other = '',
      folderTime,
      changed = found.stat?.ctimeNs ?? 0n,
      otherChanged = 0n,
    }: {
      other?: string
      folderTime?: bigint | undefined
      changed?: bigint | undefined
      otherChanged?: bigint | undefined
    } = {},
  ): void {
    const timeBefore = (of: string): FileTime => {
      const stat = of === '' ? null : statAt(posix.dirname(of))
      return stat ? fileTime(stat.mtimeNs) : NO_TIME
    }
    const { stat } = found
    const record: JournalRecord = {
      op,
      kept: found.kept ?? 'none',
      number: found.number ?? 0,
      before: stat
        ? {
            mode: Number(stat.mode),
            group: Number(stat.gid),
            size: stat.size,
            inode: stat.ino,
            time: fileTime(stat.mtimeNs),
          }
        : NOTHING,
      folderTime: folderTime === undefined ? timeBefore(path) : fileTime(folderTime),
      otherFolderTime: timeBefore(other),
      changed,
      otherChanged,
      path,
      other,
      errno: 0,
    }
    writeSync(this.#fd, formatRecord(record))
  }
}
