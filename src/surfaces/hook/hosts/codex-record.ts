/** What Codex writes down of a session while it goes on: where it was started, and what its own sandbox lets the turn do. */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { isObject, type Json, recordOf } from './host.ts'

/** Turns are long: this much of the record is looked through for the beginning of the one that goes on. */
const MAX_LOOKED = 64 * 1024 * 1024
/** What is looked for mostly stands in the first piece; each one after it is bigger. */
const FIRST_PIECE = 64 * 1024
const PIECE = 1024 * 1024
const LINE = 10
const CONTEXT = Buffer.from('"turn_context"')

/** Where a session was started; null when nobody can say. */
export function startDirectory(input: Json): string | null {
  const path = recordOf(input)
  if (path === null) return null
  const line: unknown = JSON.parse(withFile(path, firstLine))
  if (!isObject(line) || line.type !== 'session_meta' || !isObject(line.payload)) return null
  return typeof line.payload.cwd === 'string' ? line.payload.cwd : null
}

function firstLine(fd: number): string {
  for (let length = FIRST_PIECE; ; length = Math.min(4 * length, PIECE)) {
    const bytes = pieceAt(fd, 0, length)
    const end = bytes.indexOf(LINE)
    if (end >= 0 || bytes.length < length || length === PIECE)
      return bytes.toString('utf8', 0, end < 0 ? bytes.length : end)
  }
}

/** Modes of Codex's sandbox in which a command may write to the project. */
const WRITING: ReadonlySet<unknown> = new Set(['workspace-write', 'danger-full-access', 'external-sandbox'])

/** Whether Codex would have this turn's commands write nothing; so it is as well where its record does not say. */
export function isReadOnlyTurn(input: Json): boolean {
  const path = recordOf(input)
  if (path === null) return true
  try {
    const policy = withFile(path, (fd) => lastPolicy(fd, input.turn_id))
    return !WRITING.has(policy?.type)
  } catch {
    return true
  }
}

/** The sandbox of a turn, from the last line that says one; the lines are read from the end. */
function lastPolicy(fd: number, turn: unknown): Json | null {
  const { size } = fstatSync(fd)
  let rest: Buffer = Buffer.alloc(0)
  let length = FIRST_PIECE
  for (let end = size; end > 0 && size - end < MAX_LOOKED; length = Math.min(4 * length, PIECE)) {
    const start = Math.max(0, end - length)
    const bytes = Buffer.concat([pieceAt(fd, start, end - start), rest])
    const cut = start === 0 ? 0 : bytes.indexOf(LINE) + 1
    // A piece without the end of a line is the middle of one.
    const whole = start > 0 && cut === 0 ? Buffer.alloc(0) : bytes.subarray(cut)
    rest = start > 0 && cut === 0 ? bytes : bytes.subarray(0, cut)
    for (let found = whole.lastIndexOf(CONTEXT); found >= 0; ) {
      const first = whole.lastIndexOf(LINE, found) + 1
      const last = whole.indexOf(LINE, found)
      const policy = policyOf(whole.toString('utf8', first, last < 0 ? whole.length : last), turn)
      if (policy !== null) return policy
      found = first === 0 ? -1 : whole.lastIndexOf(CONTEXT, first - 1)
    }
    end = start
  }
  return null
}

function policyOf(text: string, turn: unknown): Json | null {
  let line: unknown
  try {
    line = JSON.parse(text)
  } catch {
    return null
  }
  if (!isObject(line) || line.type !== 'turn_context' || !isObject(line.payload)) return null
  const { turn_id: own, sandbox_policy: policy } = line.payload
  const isOther = typeof own === 'string' && typeof turn === 'string' && own !== turn
  return isOther || !isObject(policy) ? null : policy
}

function withFile<T>(path: string, work: (fd: number) => T): T {
  // O_NONBLOCK: what waits for a writer would wait for longer than the host does.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return work(fd)
  } finally {
    closeSync(fd)
  }
}

function pieceAt(fd: number, start: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  return bytes.subarray(0, readSync(fd, bytes, 0, length, start))
}
