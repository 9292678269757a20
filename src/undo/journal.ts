/** PURE. The journal of one call: its changes in order (format: native/broker/journal.c). */

import { decodePath, encodePath } from '../files/path-bytes.ts'

export type JournalOp = 'made' | 'written' | 'removed' | 'renamed' | 'exchanged' | 'mode' | 'refused' | 'noted'

export interface FileTime {
  readonly seconds: bigint
  readonly nanoseconds: number
}

/**
 * How the old content was kept. `made`: the call created it; `lost`: too large or unreadable;
 * `attributes`: only attributes, on an empty file, or none (number 0).
 */
export type Kept = 'link' | 'copy' | 'empty' | 'lost' | 'made' | 'attributes' | 'none'

/** The state before the change; for a rename, of its target. */
export interface Before {
  /** 0: nothing was there. */
  readonly mode: number
  /** The group, or null if unknown. */
  readonly group?: number | null
  readonly size: bigint
  readonly inode: bigint
  readonly time: FileTime
}

/** A file's inode and ctime: unchanged while both are the same. */
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
  /** The path's earlier ctime in nanoseconds; 0 if unknown or absent. */
  readonly changed: bigint
  /** The same for a rename's target. */
  readonly otherChanged: bigint
  readonly path: string
  /** A rename's target, a hard link's first name, or ''. */
  readonly other: string
  /** For a refusal: the errno. */
  readonly errno: number
  /** The file was hard-linked and got its own copy first. */
  readonly apart?: boolean
}

export interface Journal {
  readonly records: readonly JournalRecord[]
  /** When the call ended; null if it was killed. */
  readonly ended: FileTime | null
  /** False if not every change was recorded. */
  readonly whole: boolean
  /** Bytes up to the end of the last whole record. */
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
/** How a sandbox shows unmapped groups. */
const UNMAPPED = 65_534

const FORMAT = 1
/** Without the two ctimes, as in the first format. */
const FIRST_HEAD = 76
const KEPT: readonly (readonly [bit: number, kept: Kept])[] = [
  [1, 'link'],
  [2, 'copy'],
  [4, 'empty'],
  [8, 'lost'],
  [16, 'made'],
  [32, 'attributes'],
]

/** A flag beside one of them. */
const KEPT_APART = 64

const GROUP = 64

/** A kept file's name: the first beside the journal, others in groups. */
export function keptName(number: number): string {
  const group = Math.floor(number / GROUP)
  return group === 0 ? String(number) : `g${group}/${number}`
}

/** Parses a journal. A record cut off by a kill is ignored: its change did not happen. */
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
        // Records from here on are unreadable.
        whole = false
        break
      }
      records.push(record)
    }
    at += size
  }
  return { records, ended, whole, size: at }
}

/** An announced change that failed. */
function dropLast(records: JournalRecord[]): void {
  const at = records.findLastIndex(({ op }) => op !== 'refused' && op !== 'noted')
  if (at >= 0) records.splice(at, 1)
}

export function nanoseconds({ seconds, nanoseconds: rest }: FileTime): bigint {
  return seconds * 1_000_000_000n + BigInt(rest)
}

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

/** A record as bytes, in the init's format. */
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

/** The last record of a finished call. */
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
