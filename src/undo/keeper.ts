/** Keeps what a change of Cordon's own would lose, and writes it down before it is made, as the init does for commands. */

import {
  type BigIntStats,
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  writeSync,
} from 'node:fs'
import { join, posix } from 'node:path'
import { encodePath } from '../files/path-bytes.ts'
import { errorCode } from '../system/fault.ts'
import { type FileTime, formatEnd, formatRecord, type JournalOp, type JournalRecord, type Kept } from './journal.ts'

/** A path as the kernel takes it, whatever bytes its names have. */
export const raw = (path: string): Buffer => Buffer.from(encodePath(path))

const NO_TIME: FileTime = { seconds: 0n, nanoseconds: 0 }
const NOTHING = { mode: 0, size: 0n, inode: 0n, time: NO_TIME }
/** Larger files are not copied; what is removed or replaced is linked, whatever its size. */
export const MAX_COPIED: number = 64 * 1024 * 1024

/** What is at a path, itself and not where it leads; null for nothing. */
export function lookAt(path: string): BigIntStats | null {
  try {
    return lstatSync(raw(path), { bigint: true, throwIfNoEntry: false }) ?? null
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return null
    throw error
  }
}

export function timeOf(stat: BigIntStats): FileTime {
  return { seconds: stat.mtimeNs / 1_000_000_000n, nanoseconds: Number(stat.mtimeNs % 1_000_000_000n) }
}

/** One call's folder: every change is told to it before it is made. */
export class Keeper {
  readonly #folder: string
  readonly #fd: number
  #last = 0

  /** `folder` is empty, of the owner alone. */
  constructor(folder: string) {
    this.#folder = folder
    const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND } = constants
    this.#fd = openSync(join(folder, 'journal'), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0o600)
  }

  /** A file, folder or link will be made where nothing is. */
  willMake(path: string): void {
    this.#write('made', path)
  }

  /** A plain file's content will be changed in place. */
  willWrite(path: string): void {
    const stat = lookAt(path)
    if (!stat) return
    const number = ++this.#last
    const kept: Kept = stat.size === 0n ? 'empty' : this.#copy(path, number, stat) ? 'copy' : 'lost'
    this.#write('written', path, { stat, kept, number })
  }

  /** A name will be removed, with everything below it. */
  willRemove(path: string): void {
    const stat = lookAt(path)
    if (!stat) return
    if (stat.isDirectory()) for (const name of readdirSync(raw(path), 'buffer')) this.willRemove(childOf(path, name))
    this.#write('removed', path, this.#keep(path, stat))
  }

  /** A file will be put in the place of another by a rename, or where nothing is. */
  willReplace(path: string): void {
    const stat = lookAt(path)
    if (stat) this.#write('removed', path, this.#keep(path, stat))
    this.#write('made', path)
  }

  willMove(path: string, other: string): void {
    this.#write('renamed', path, {}, other)
  }

  /** Mode or times will be changed. */
  willSetMode(path: string): void {
    const stat = lookAt(path)
    if (stat) this.#write('mode', path, { stat })
  }

  /** The change that was told last was not made. */
  wasNotMade(): void {
    const bytes = formatEnd(NO_TIME)
    bytes[4] = 'f'.charCodeAt(0)
    writeSync(this.#fd, bytes)
  }

  /** The call is over. */
  close(): void {
    const now = BigInt(Date.now() + 1) * 1_000_000n
    writeSync(this.#fd, formatEnd({ seconds: now / 1_000_000_000n, nanoseconds: Number(now % 1_000_000_000n) }))
    closeSync(this.#fd)
  }

  #keep(path: string, stat: BigIntStats): { stat: BigIntStats; kept: Kept; number: number } {
    if (stat.isDirectory()) return { stat, kept: 'none', number: 0 }
    const number = ++this.#last
    try {
      linkSync(raw(path), join(this.#folder, String(number)))
      return { stat, kept: 'link', number }
    } catch {
      // Another file system, or a file of somebody else: a copy will do.
    }
    if (stat.isFile() && stat.size === 0n) return { stat, kept: 'empty', number: 0 }
    return { stat, kept: stat.isFile() && this.#copy(path, number, stat) ? 'copy' : 'lost', number }
  }

  #copy(path: string, number: number, stat: BigIntStats): boolean {
    if (stat.size > BigInt(MAX_COPIED)) return false
    try {
      const { COPYFILE_EXCL, COPYFILE_FICLONE } = constants
      copyFileSync(raw(path), join(this.#folder, String(number)), COPYFILE_EXCL | COPYFILE_FICLONE)
      return true
    } catch {
      return false
    }
  }

  #write(
    op: JournalOp,
    path: string,
    found: { stat?: BigIntStats; kept?: Kept; number?: number } = {},
    other = '',
  ): void {
    const folderTime = (of: string) => {
      const stat = of === '' ? null : lookAt(posix.dirname(of))
      return stat ? timeOf(stat) : NO_TIME
    }
    const { stat } = found
    const record: JournalRecord = {
      op,
      kept: found.kept ?? 'none',
      number: found.number ?? 0,
      before: stat ? { mode: Number(stat.mode), size: stat.size, inode: stat.ino, time: timeOf(stat) } : NOTHING,
      folderTime: folderTime(path),
      otherFolderTime: folderTime(other),
      path,
      other,
      errno: 0,
    }
    writeSync(this.#fd, formatRecord(record))
  }
}

function childOf(path: string, name: Buffer): string {
  const text = name.toString('utf8')
  // A name that is not UTF-8 keeps its bytes (path-bytes.ts).
  const odd = !Buffer.from(text, 'utf8').equals(name)
  return `${path}/${odd ? Array.from(name, (byte) => String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)).join('') : text}`
}
