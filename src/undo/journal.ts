/** PURE. The journal of one call: what it changed, in order, and what was kept (the format is in native/door/journal.c). */

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
  readonly size: bigint
  readonly inode: bigint
  readonly time: FileTime
}

export interface JournalRecord {
  readonly op: JournalOp
  readonly kept: Kept
  /** The name of the kept file. */
  readonly number: number
  readonly before: Before
  readonly folderTime: FileTime
  readonly otherFolderTime: FileTime
  readonly path: string
  /** The target of a rename, or ''. */
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

const HEAD = 76
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

/** Where a kept file lies in the folder of its call: the first beside the journal, the others in groups (native/door/keep.c). */
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
  while (at + HEAD + 2 <= bytes.length) {
    const size = view.getUint32(at, true)
    if (size < HEAD + 2 || at + size > bytes.length) break
    const letter = String.fromCharCode(bytes[at + 4]!)
    if (letter === 'f') dropLast(records)
    else if (letter === 'z') ended = timeAt(view, at + 40)
    else if (letter === 'o') whole = false
    else {
      const record = OPS[letter] && recordAt(bytes.subarray(at, at + size), OPS[letter])
      if (!record) {
        // Nobody knows what this one and those behind it say.
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

function timeAt(view: DataView, at: number): FileTime {
  return { seconds: view.getBigInt64(at, true), nanoseconds: view.getUint32(at + 8, true) }
}

function recordAt(bytes: Uint8Array, op: JournalOp): JournalRecord | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const middle = bytes.indexOf(0, HEAD)
  if (middle < 0 || bytes.indexOf(0, middle + 1) !== bytes.length - 1) return null
  const errno = op === 'refused' ? view.getUint32(16, true) : 0
  return {
    op: op === 'refused' && errno === 0 ? 'noted' : op,
    kept: KEPT.find(([bit]) => (bytes[5]! & bit) !== 0)?.[1] ?? 'none',
    number: view.getUint32(8, true),
    before: {
      mode: view.getUint32(12, true),
      size: view.getBigUint64(24, true),
      inode: view.getBigUint64(32, true),
      time: timeAt(view, 40),
    },
    folderTime: timeAt(view, 52),
    otherFolderTime: timeAt(view, 64),
    path: decodePath(bytes.subarray(HEAD, middle)),
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
  view.setUint32(8, record.number, true)
  view.setUint32(12, record.before.mode, true)
  view.setBigUint64(24, record.before.size, true)
  view.setBigUint64(32, record.before.inode, true)
  putTime(view, 40, record.before.time)
  putTime(view, 52, record.folderTime)
  putTime(view, 64, record.otherFolderTime)
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
  putTime(view, 40, time)
  return bytes
}

function putTime(view: DataView, at: number, { seconds, nanoseconds }: FileTime): void {
  view.setBigInt64(at, seconds, true)
  view.setUint32(at + 8, nanoseconds, true)
}
