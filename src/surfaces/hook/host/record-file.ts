/** A host's record of a session: a file of lines that grows while the session goes on, and in which the last word counts. */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { setTimeout as after } from 'node:timers/promises'

/** What is looked for mostly is in the first piece; each one after it is bigger. */
const FIRST_PIECE = 64 * 1024
const PIECE = 1024 * 1024
const LINE = 10

/** Opens a record for as long as it is checked. */
export function withRecord<T>(path: string, look: (fd: number) => T): T {
  // O_NONBLOCK: what waits for a writer would wait for longer than the host does.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return look(fd)
  } finally {
    closeSync(fd)
  }
}

/** The first line of a record, or what of it there is. */
export function firstLine(fd: number): string {
  for (let length = FIRST_PIECE; ; length = larger(length)) {
    const bytes = pieceAt(fd, 0, length)
    const end = bytes.indexOf(LINE)
    if (end >= 0) return bytes.toString('utf8', 0, end)
    if (bytes.length < length || length === PIECE) return bytes.toString('utf8')
  }
}

/** Whole lines of a record in pieces, the last ones first. Throws where there is more to look through than this. */
export function* piecesFromEnd(fd: number, most: number): Generator<Buffer> {
  const { size } = fstatSync(fd)
  let rest: Buffer = Buffer.alloc(0)
  let length = FIRST_PIECE
  for (let end = size; end > 0; length = larger(length)) {
    if (size - end > most) throw new RangeError('the record is too long to be looked through')
    const start = Math.max(0, end - length)
    const bytes = Buffer.concat([pieceAt(fd, start, end - start), rest])
    const cut = start === 0 ? 0 : bytes.indexOf(LINE) + 1
    // A piece without the end of a line is the middle of one.
    const isMiddle = start > 0 && cut === 0
    rest = isMiddle ? bytes : bytes.subarray(0, cut)
    if (!isMiddle) yield bytes.subarray(cut)
    end = start
  }
}

/** Those lines of a piece that hold a word, the last ones first; the others are not made texts. */
export function* linesWith(piece: Buffer, word: string): Generator<string> {
  for (let found = piece.lastIndexOf(word); found >= 0; ) {
    const start = piece.lastIndexOf(LINE, found) + 1
    const end = piece.indexOf(LINE, found)
    yield piece.toString('utf8', start, end < 0 ? piece.length : end)
    found = start === 0 ? -1 : piece.lastIndexOf(word, start - 1)
  }
}

/** A host writes its record beside the call: what it says of that is there within milliseconds, and this long is waited for it. */
const WAIT_MS = 10_000
/** So long for a record to be there at all: hosts can be reported to keep none, or to keep it elsewhere. */
const ABSENT_MS = 1000

/** What a record says once it has come to the call: `absent` while there is none, `behind` while it has not; null when it never did. */
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
