/** Verifies audit logs by their chain, their signatures and the heads stored apart: no edit, cut, swap or replay goes unnoticed. */

import { hash } from 'node:crypto'
import { join } from 'node:path'
import { type Damage, type DamageKind, type Note, type Row, type Walk, walkChain } from './chain.ts'
import { parseLine } from './event.ts'
import { auditPlaces, auditSessions, type Head, partName, readHead, readLog, sessionParts } from './head.ts'
import { CHECKPOINT_EVERY } from './log-writer.ts'

export interface SessionVerification {
  readonly session: string
  readonly lines: number
  readonly files: readonly string[]
  readonly closed: boolean
  /** Checkpoints with a good signature, and the last line that one covers. */
  readonly checkpoints: number
  readonly signedUpTo: number
  /** Lines that no signature vouches for yet. */
  readonly unsigned: number
  /** The project, as the first line says. */
  readonly project: string | null
  readonly damage: readonly Damage[]
  /** A whole line behind the last one that the head knows: a crash before the head was written, or somebody put it there. */
  readonly unacknowledged: number
  /** A torn line that was found and closed at the next start: a crash, not tampering. */
  readonly recovered: number
}

interface VerifyOptions {
  readonly stateDir: string
  /** Keys of valid checkpoints; a checkpoint by another key is damage. */
  readonly keys: readonly string[]
  /** When the person's key was created: earlier lines could not be signed. */
  readonly since?: string
  /** One session, or every one there is. */
  readonly session?: string
}

/** Verifies one session or all. `ok` when nothing at all was found. */
export function verifyAudit(options: VerifyOptions): {
  readonly ok: boolean
  readonly sessions: readonly SessionVerification[]
} {
  const known = auditSessions(options.stateDir)
  const sessions = options.session === undefined ? known : [options.session]
  const verified = sessions.map((session) =>
    known.includes(session) ? verifySession(options, session) : missingSession(options, session),
  )
  return { ok: verified.every((session) => session.damage.length === 0), sessions: verified }
}

/** A process that asks for a session by its name knows that there was one. */
function missingSession({ stateDir }: VerifyOptions, session: string): SessionVerification {
  const file = join(auditPlaces(stateDir).logs, partName(session, 0))
  const message = 'there is neither a log nor a head of this session'
  const damage: Damage = { kind: 'missing', session, file, line: 0, seq: null, message }
  return {
    session,
    lines: 0,
    files: [],
    closed: false,
    checkpoints: 0,
    signedUpTo: 0,
    unsigned: 0,
    project: null,
    damage: [damage],
    unacknowledged: 0,
    recovered: 0,
  }
}

function verifySession(options: VerifyOptions, session: string): SessionVerification {
  const { logs, heads } = auditPlaces(options.stateDir)
  const damage: Damage[] = []
  const parts = sessionParts(options.stateDir, session)
  const rows: Row[] = []
  for (const part of parts) rows.push(...readRows(join(logs, partName(session, part)), part))
  const note = (kind: DamageKind, row: { file: string; line: number } | null, seq: number | null, message: string) =>
    damage.push({
      kind,
      session,
      file: row?.file ?? join(logs, partName(session, 0)),
      line: row?.line ?? 0,
      seq,
      message,
    })
  noteMissingParts(session, logs, parts, note)
  const walk = walkChain(session, rows, options.keys, note, options.since)
  const stored = readHead(join(heads, `${session}.head`))
  const unacknowledged = checkHead(session, stored, rows, walk.last, note)
  const closed = typeof stored === 'object' && stored !== null && stored.closed
  const unsigned = checkSigned(rows, walk, closed, options.keys, note)
  return {
    session,
    lines: rows.length,
    files: parts.map((part) => join(logs, partName(session, part))),
    closed,
    checkpoints: walk.checkpoints,
    signedUpTo: walk.signedUpTo,
    unsigned,
    project: projectOf(rows),
    damage,
    unacknowledged,
    recovered: walk.recovered,
  }
}

/** The result for lines that came without their files, from a receiver. */
export interface LinesVerification {
  readonly session: string
  readonly lines: number
  readonly checkpoints: number
  readonly signedUpTo: number
  readonly damage: readonly Damage[]
}

/** Verifies the lines of a session by their chain and checkpoints alone; a tail that is still to come cannot be missed. */
export function verifyLines(
  session: string,
  lines: readonly { readonly text: string; readonly hash?: string }[],
  keys: readonly string[],
): LinesVerification {
  const damage: Damage[] = []
  const rows = lines.map(
    (line, index): Row => ({ ...line, file: session, line: index + 1, event: parseLine(line.text), end: 0, part: 0 }),
  )
  const walk = walkChain(session, rows, keys, (kind, row, seq, message) =>
    damage.push({ kind, session, file: session, line: row?.line ?? 0, seq, message }),
  )
  return { session, lines: rows.length, checkpoints: walk.checkpoints, signedUpTo: walk.signedUpTo, damage }
}

/**
 * Unsigned lines. With a key, a log is signed this often and when it is closed. An unsigned one was
 * rewritten without the key: that allows new chains and heads, but no signatures.
 */
function checkSigned(rows: readonly Row[], walk: Walk, closed: boolean, keys: readonly string[], note: Note): number {
  const seq = walk.last?.seq ?? 0
  const unsigned = Math.max(0, seq - walk.signedUpTo)
  if (keys.length === 0) return unsigned
  const ends = closed && walk.unsigned > 1
  if (ends || Math.max(walk.longest, walk.unsigned) >= 2 * CHECKPOINT_EVERY) {
    const what = ends ? 'the log is closed, and its end is not signed' : 'too many lines are not signed'
    note(
      'unsigned',
      rows.at(-1) ?? null,
      walk.signedUpTo + 1,
      `${what}: by your key it is whole up to number ${walk.signedUpTo}`,
    )
  }
  return unsigned
}

function projectOf(rows: readonly Row[]): string | null {
  const project = rows.find((row) => row.event?.type === 'session')?.event?.project
  return typeof project === 'string' ? project : null
}

function readRows(file: string, part: number): Row[] {
  const bytes = readLog(file)
  if (bytes === null) return []
  const rows: Row[] = []
  let start = 0
  for (let line = 1; start < bytes.length; line++) {
    const newline = bytes.indexOf(10, start)
    const stop = newline < 0 ? bytes.length : newline
    const text = Buffer.from(bytes.subarray(start, stop)).toString('utf8')
    rows.push({ file, line, text, event: parseLine(text), end: Math.min(stop + 1, bytes.length), part })
    start = stop + 1
  }
  return rows
}

function noteMissingParts(session: string, logs: string, parts: readonly number[], note: Note): void {
  const last = parts.at(-1) ?? -1
  for (let part = 0; part < last; part++) {
    if (parts.includes(part)) continue
    const file = join(logs, partName(session, part))
    note('missing', { file, line: 0 }, null, `${partName(session, part)} is missing, and a later file is there`)
  }
}

/** Compares the end of the log with the separately stored head. Returns how many whole lines the head does not know, at most one. */
function checkHead(
  session: string,
  head: Head | null | 'damaged',
  rows: readonly Row[],
  last: Walk['last'],
  note: Note,
): number {
  const end = rows.at(-1) ?? null
  if (head === 'damaged') {
    note('head-damaged', end, null, 'the separately stored head cannot be read')
    return 0
  }
  if (head === null) {
    if (rows.length > 0)
      note('head-missing', end, null, 'the separately stored head is missing: a cut tail would not show')
    return 0
  }
  if (head.session !== session) {
    note('swapped', end, null, `the head is that of session ${head.session}`)
    return 0
  }
  if (head.seq === 0 && rows.length === 0) return 0
  const seq = last?.seq ?? 0
  if (seq < head.seq) {
    const what = rows.length === 0 ? 'the log is gone' : `the log ends with number ${seq}`
    note(
      'cut',
      end,
      seq + 1,
      `${what}, and the separately stored head knows number ${head.seq}: the tail was cut off, or an older file was put in its place`,
    )
  } else if (seq === head.seq && last !== null && last.hash !== head.hash) {
    note(
      'edited',
      last.row,
      seq,
      `line ${last.row.line} is the last one, and not the one that the separately stored head knows`,
    )
  } else if (seq > head.seq + 1) {
    note(
      'beyond-head',
      end,
      head.seq + 1,
      `${seq - head.seq} lines follow the last one that was acknowledged (number ${head.seq})`,
    )
  } else if (seq === head.seq + 1) {
    const acknowledged = rows.find((row) => row.event?.seq === head.seq)
    if (acknowledged !== undefined && hash('sha256', acknowledged.text) !== head.hash) {
      note(
        'edited',
        acknowledged,
        head.seq,
        `line ${acknowledged.line} is not the one that the separately stored head knows`,
      )
    }
    return 1
  }
  return 0
}
