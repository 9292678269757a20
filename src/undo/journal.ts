/** PURE. The journal of one call: what it changed, in order, and what was kept (the format is in native/broker/journal.c). */

import { decodePath, encodePath } from '../files/path-bytes.ts'

export type JournalOp = 'made' | 'written' | 'removed' | 'renamed' | 'exchanged' | 'mode' | 'refused' | 'noted'

/** A point in time as the file system has it. */
export interface FileTime {
  readonly seconds: bigint
  readonly nanoseconds: number
}

/**
 * How the old content is to be had. `made`: the call had made it itself; `lost`: too large, or not to be read; `attributes`: only they are
 * kept, on an empty file, or there were none (number 0).
 */
export type Kept = 'link' | 'copy' | 'empty' | 'lost' | 'made' | 'attributes' | 'none'

/** What was there before the change: of a rename, at its target. */
export interface Before {
  /** 0: nothing was there. */
  readonly mode: number
  /** The group; null: unknown. */
  readonly group?: number | null
  readonly size: bigint
  readonly inode: bigint
  readonly time: FileTime
}

/** The inode of a file and its ctime: while both are the same no one changed it. */
export interface FileState {
  readonly inode: bigint
  readonly changed: bigint
}

export interface JournalRecord {
  readonly op: JournalOp
  readonly kept: Kept
  /** The name of the kept file. */
  readonly number: number
  readonly before: Before
  readonly folderTime: FileTime
  readonly otherFolderTime: FileTime
  /** When what was at the path was changed last, by its ctime in nanoseconds; 0: unknown, or nothing was there. */
  readonly changed: bigint
  /** The same for the target of a rename. */
  readonly otherChanged: bigint
  readonly path: string
  /** The target of a rename, the name that a hard link is a second one of, or ''. */
  readonly other: string
  /** Of a refusal: which change, and the error. */
  readonly errno: number
  /** The file had further names, so that this one got a copy before it was changed. */
  readonly apart?: boolean
}

export interface Journal {
  readonly records: readonly JournalRecord[]
  /** When the call ended; null when it was killed. */
  readonly ended: FileTime | null
  /** False: there were so many changes that not all of them are written down. */
  readonly whole: boolean
  /** In bytes, up to the end of the last whole record. */
  readonly size: number
}

const OPS: Readonly<Record<string, JournalOp>> = {
  c: 'made',
  w: 'written',
  u: 'removed',
  r: 'renamed',
  x: 'exchanged',
  a: 'mode',
  n: 'refused',
}

const HEAD = 100
/** What a sandbox sees of a group that is not the person's own. */
const UNMAPPED = 65_534

const FORMAT = 1
/** Without the two ctimes, as the first format had it. */
const FIRST_HEAD = 76
const KEPT: readonly (readonly [bit: number, kept: Kept])[] = [
  [1, 'link'],
  [2, 'copy'],
  [4, 'empty'],
  [8, 'lost'],
  [16, 'made'],
  [32, 'attributes'],
]

/** Beside one of them. */
const KEPT_APART = 64

const GROUP = 64

/** Where a kept file lies in the folder of its call: the first beside the journal, the others in groups (native/broker/keep.c). */
export function keptName(number: number): string {
  const group = Math.floor(number / GROUP)
  return group === 0 ? String(number) : `g${group}/${number}`
}

/** Parses a journal. One whose last record was cut off by a kill ends before it: its change was not made yet. */
export function parseJournal(bytes: Uint8Array): Journal {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const records: JournalRecord[] = []
  let ended: FileTime | null = null
  let whole = true
  let at = 0
  while (at + FIRST_HEAD + 2 <= bytes.length) {
    const size = view.getUint32(at, true)
    if (size < FIRST_HEAD + 2 || at + size > bytes.length) break
    const letter = String.fromCharCode(bytes[at + 4]!)
    if (letter === 'f') dropLast(records)
    else if (letter === 'z') ended = timeAt(view, at + 40)
    else if (letter === 'o') whole = false
    else {
      const record = OPS[letter] && recordAt(bytes.subarray(at, at + size), OPS[letter])
      if (!record) {
        // No one knows what this one and those behind it say.
        whole = false
        break
      }
      records.push(record)
    }
    at += size
  }
  return { records, ended, whole, size: at }
}

/** A change that was announced and then failed. */
function dropLast(records: JournalRecord[]): void {
  const at = records.findLastIndex(({ op }) => op !== 'refused' && op !== 'noted')
  if (at >= 0) records.splice(at, 1)
}

/** A point in time as one number. */
export function nanoseconds({ seconds, nanoseconds: rest }: FileTime): bigint {
  return seconds * 1_000_000_000n + BigInt(rest)
}

/** The other way round. */
export function fileTime(time: bigint): FileTime {
  return { seconds: time / 1_000_000_000n, nanoseconds: Number(time % 1_000_000_000n) }
}

function timeAt(view: DataView, at: number): FileTime {
  return { seconds: view.getBigInt64(at, true), nanoseconds: view.getUint32(at + 8, true) }
}

function recordAt(bytes: Uint8Array, op: JournalOp): JournalRecord | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isFirst = view.getUint16(6, true) === 0
  const head = isFirst ? FIRST_HEAD : HEAD
  const middle = bytes.length < head ? -1 : bytes.indexOf(0, head)
  if (middle < 0 || bytes.indexOf(0, middle + 1) !== bytes.length - 1) return null
  const errno = op === 'refused' ? view.getUint32(16, true) : 0
  return {
    op: op === 'refused' && errno === 0 ? 'noted' : op,
    kept: KEPT.find(([bit]) => (bytes[5]! & bit) !== 0)?.[1] ?? 'none',
    number: view.getUint32(8, true),
    before: {
      mode: view.getUint32(12, true),
      group: isFirst || view.getUint32(20, true) === UNMAPPED ? null : view.getUint32(20, true),
      size: view.getBigUint64(24, true),
      inode: view.getBigUint64(32, true),
      time: timeAt(view, 40),
    },
    folderTime: timeAt(view, 52),
    otherFolderTime: timeAt(view, 64),
    changed: isFirst ? 0n : nanoseconds(timeAt(view, 76)),
    otherChanged: isFirst ? 0n : nanoseconds(timeAt(view, 88)),
    path: decodePath(bytes.subarray(head, middle)),
    other: decodePath(bytes.subarray(middle + 1, bytes.length - 1)),
    errno,
    ...((bytes[5]! & KEPT_APART) !== 0 && { apart: true }),
  }
}

const LETTERS: Readonly<Partial<Record<JournalOp, string>>> = {
  made: 'c',
  written: 'w',
  removed: 'u',
  renamed: 'r',
  exchanged: 'x',
  mode: 'a',
}

/** One record as bytes; the same as the init writes. */
export function formatRecord(record: JournalRecord): Uint8Array {
  const path = encodePath(record.path)
  const other = encodePath(record.other)
  const bytes = new Uint8Array(HEAD + path.length + other.length + 2)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, bytes.length, true)
  bytes[4] = LETTERS[record.op]!.charCodeAt(0)
  bytes[5] = KEPT.find(([, kept]) => kept === record.kept)?.[0] ?? 0
  view.setUint16(6, FORMAT, true)
  view.setUint32(8, record.number, true)
  view.setUint32(12, record.before.mode, true)
  view.setUint32(20, record.before.group ?? 0, true)
  view.setBigUint64(24, record.before.size, true)
  view.setBigUint64(32, record.before.inode, true)
  putTime(view, 40, record.before.time)
  putTime(view, 52, record.folderTime)
  putTime(view, 64, record.otherFolderTime)
  putTime(view, 76, fileTime(record.changed))
  putTime(view, 88, fileTime(record.otherChanged))
  bytes.set(path, HEAD)
  bytes.set(other, HEAD + path.length + 1)
  return bytes
}

/** The last record of a call that came to its end. */
export function formatEnd(time: FileTime): Uint8Array {
  const bytes = new Uint8Array(HEAD + 2)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, bytes.length, true)
  bytes[4] = 'z'.charCodeAt(0)
  view.setUint16(6, FORMAT, true)
  putTime(view, 40, time)
  return bytes
}

function putTime(view: DataView, at: number, { seconds, nanoseconds }: FileTime): void {
  view.setBigInt64(at, seconds, true)
  view.setUint32(at + 8, nanoseconds, true)
}
