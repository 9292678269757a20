/** A host's session record: a growing file of lines in which the last entry counts. */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { setTimeout as after } from 'node:timers/promises'

/** Most searches end in the first piece; later pieces are bigger. */
const FIRST_PIECE = 64 * 1024
const PIECE = 1024 * 1024
const LINE = 10

/** Opens a record during a check. */
export function withRecord<T>(path: string, look: (fd: number) => T): T {
  // O_NONBLOCK: waiting for a FIFO's writer could outlast the host's patience.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return look(fd)
  } finally {
    closeSync(fd)
  }
}

export function firstLine(fd: number): string {
  for (let length = FIRST_PIECE; ; length = larger(length)) {
    const bytes = pieceAt(fd, 0, length)
    const end = bytes.indexOf(LINE)
    if (end >= 0) return bytes.toString('utf8', 0, end)
    if (bytes.length < length || length === PIECE) return bytes.toString('utf8')
  }
}

/** Whole lines in pieces, last first. Throws if there is more than `most` to search. */
export function* piecesFromEnd(fd: number, most: number): Generator<Buffer> {
  const { size } = fstatSync(fd)
  let rest: Buffer = Buffer.alloc(0)
  let length = FIRST_PIECE
  for (let end = size; end > 0; length = larger(length)) {
    if (size - end > most) throw new RangeError('the record is too long to search')
    const start = Math.max(0, end - length)
    const bytes = Buffer.concat([pieceAt(fd, start, end - start), rest])
    const cut = start === 0 ? 0 : bytes.indexOf(LINE) + 1
    // A piece without a line end is the middle of a line.
    const isMiddle = start > 0 && cut === 0
    rest = isMiddle ? bytes : bytes.subarray(0, cut)
    if (!isMiddle) yield bytes.subarray(cut)
    end = start
  }
}

/** Lines of a piece that contain a word, last first; other lines are not decoded. */
export function* linesWith(piece: Buffer, word: string): Generator<string> {
  for (let found = piece.lastIndexOf(word); found >= 0; ) {
    const start = piece.lastIndexOf(LINE, found) + 1
    const end = piece.indexOf(LINE, found)
    yield piece.toString('utf8', start, end < 0 ? piece.length : end)
    found = start === 0 ? -1 : piece.lastIndexOf(word, start - 1)
  }
}

/** A host writes its record beside the call, usually within milliseconds; wait at most this long. */
const WAIT_MS = 10_000
/** Wait this long for a record to exist: hosts can keep none, or keep it elsewhere. */
const ABSENT_MS = 1000

/** The record with the call: `absent` without a file, `behind` if not there yet; null if it never comes. */
export async function onceWritten<T>(read: () => T | 'absent' | 'behind'): Promise<T | null> {
  const started = performance.now()
  for (let pause = 2; ; pause = Math.min(2 * pause, 100)) {
    const said = read()
    if (said !== 'absent' && said !== 'behind') return said
    if (performance.now() - started > (said === 'absent' ? ABSENT_MS : WAIT_MS)) return null
    await after(pause)
  }
}

function larger(length: number): number {
  return Math.min(4 * length, PIECE)
}

function pieceAt(fd: number, start: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  return bytes.subarray(0, readSync(fd, bytes, 0, length, start))
}
