/** Verifies audit logs: finds every edit, cut, insertion, reordering, swap and replay, and says where. */

import { hash } from 'node:crypto'
import { join } from 'node:path'
import { checkpointProblem } from './checkpoint.ts'
import { type AuditLine, genesis, parseLine } from './event.ts'
import { type Head, readHead } from './head.ts'
import { auditPlaces, auditSessions, partName, readLog, sessionParts } from './log-files.ts'
import { CHECKPOINT_EVERY } from './log-writer.ts'

export type DamageKind =
  | 'edited'
  | 'deleted'
  | 'inserted'
  | 'reordered'
  | 'cut'
  | 'swapped'
  | 'missing'
  | 'torn'
  | 'bad-signature'
  | 'unknown-key'
  | 'unsigned'
  | 'head-missing'
  | 'head-damaged'
  | 'beyond-head'

export interface Damage {
  readonly kind: DamageKind
  readonly session: string
  /** The file and line it shows at; line 0 for the file as a whole. */
  readonly file: string
  readonly line: number
  readonly seq: number | null
  readonly message: string
}

export interface SessionVerification {
  readonly session: string
  readonly lines: number
  readonly files: readonly string[]
  readonly closed: boolean
  /** Checkpoints whose signature was good, and the last line one of them vouches for. */
  readonly checkpoints: number
  readonly signedUpTo: number
  /** Lines that no signature vouches for yet. */
  readonly unsigned: number
  /** The project, as the first line says. */
  readonly project: string | null
  readonly damage: readonly Damage[]
  /** A torn line that was found and closed at the next start: a crash, not tampering. */
  readonly recovered: number
}

export interface VerifyOptions {
  readonly stateDir: string
  /** Keys whose checkpoints count; a checkpoint by another key is damage. */
  readonly keys: readonly string[]
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

/** Whoever asks for a session by its name knows that there was one. */
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
    recovered: 0,
  }
}

interface Row {
  readonly file: string
  readonly line: number
  readonly text: string
  /** The line's own hash, where its text is not as it was chained. */
  readonly hash?: string
  readonly event: AuditLine | null
  /** The bytes of its file up to and with this line. */
  readonly end: number
  readonly part: number
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
  const walk = walkChain(session, rows, options.keys, note)
  const stored = readHead(join(heads, `${session}.head`))
  checkHead(session, stored, rows, walk.last, note)
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
    recovered: walk.recovered,
  }
}

/** What was found in lines that came without their files: at the other end of a wire. */
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
 * Lines without a signature. Where the person has a key, a log is signed so often and when it is closed: one that is not was
 * written anew by somebody without the key, who can chain lines and replace the head, but not sign.
 */
function checkSigned(rows: readonly Row[], walk: Walk, closed: boolean, keys: readonly string[], note: Note): number {
  const seq = walk.last?.seq ?? 0
  const unsigned = Math.max(0, seq - walk.signedUpTo)
  if (keys.length === 0) return unsigned
  const ends = closed && unsigned > 1
  if (ends || walk.longest >= 2 * CHECKPOINT_EVERY || unsigned >= 2 * CHECKPOINT_EVERY) {
    const what = ends ? 'the log is closed, and its end is not signed' : 'more lines than may be are not signed'
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

type Note = (kind: DamageKind, row: { file: string; line: number } | null, seq: number | null, message: string) => void

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

interface Walk {
  /** The last good line of the chain. */
  readonly last: { readonly seq: number; readonly hash: string; readonly row: Row } | null
  readonly checkpoints: number
  readonly signedUpTo: number
  /** The longest run of lines before a signature. */
  readonly longest: number
  readonly recovered: number
}

function walkChain(session: string, rows: readonly Row[], keys: readonly string[], note: Note): Walk {
  const numbers = new Set(rows.map((row) => row.event?.seq))
  let expectedSeq = 1
  let expectedPrev = hash('sha256', genesis(session))
  let last: Walk['last'] = null
  let [checkpoints, signedUpTo, longest, recovered] = [0, 0, 0, 0]
  const seen = new Set<number>()
  for (const [index, row] of rows.entries()) {
    const { event } = row
    if (event === null) {
      if (isVouchedFor(row, rows[index + 1])) recovered++
      else
        note(
          'torn',
          row,
          null,
          `line ${row.line} is not an audit line${index === rows.length - 1 ? ': the last write was cut short' : ''}`,
        )
      continue
    }
    if (event.session !== session) {
      note('swapped', row, event.seq, `line ${row.line} belongs to session ${event.session}`)
      // One file in the place of another: its every line would say the same.
      if (last === null) break
    } else if (event.seq !== expectedSeq) noteOrder(row, event, expectedSeq, numbers, seen, note)
    else if (event.prev !== expectedPrev) noteBreak(row, event, last, note)
    if (event.type === 'checkpoint') {
      const problem = checkpointProblem(event, keys)
      if (problem !== null) note(problem.kind, row, event.seq, problem.message)
      else if (typeof event.signature === 'string') {
        checkpoints++
        longest = Math.max(longest, event.seq - signedUpTo)
        signedUpTo = event.seq
      }
    }
    seen.add(event.seq)
    expectedSeq = event.seq + 1
    expectedPrev = row.hash ?? hash('sha256', row.text)
    last = { seq: event.seq, hash: expectedPrev, row }
  }
  return { last, checkpoints, signedUpTo, longest, recovered }
}

/** A torn line counts as closed when the next one names its length and hash. */
function isVouchedFor(row: Row, next: Row | undefined): boolean {
  const event = next?.event
  if (event?.type !== 'recovered' || event.problem !== 'torn') return false
  const bytes = Buffer.from(row.text)
  const withNewline = Buffer.concat([bytes, Buffer.from('\n')])
  return (
    (event.bytes === bytes.length && event.sha256 === hash('sha256', bytes)) ||
    (event.bytes === withNewline.length && event.sha256 === hash('sha256', withNewline))
  )
}

function noteOrder(
  row: Row,
  event: AuditLine,
  expected: number,
  numbers: ReadonlySet<number | undefined>,
  seen: ReadonlySet<number>,
  note: Note,
): void {
  if (seen.has(event.seq)) {
    note('inserted', row, event.seq, `line ${row.line} has number ${event.seq}, which was there before`)
  } else if (event.seq > expected && !numbers.has(expected)) {
    const count = event.seq - expected
    note(
      'deleted',
      row,
      expected,
      `before line ${row.line}, ${count} line${count === 1 ? ' is' : 's are'} missing (from number ${expected})`,
    )
  } else note('reordered', row, event.seq, `line ${row.line} has number ${event.seq}, where ${expected} belongs`)
}

function noteBreak(row: Row, event: AuditLine, last: Walk['last'], note: Note): void {
  if (last === null) {
    note('edited', row, event.seq, `line ${row.line} does not start this session's chain`)
    return
  }
  const before = last.row
  const where = before.file === row.file ? `line ${before.line}` : `the last line of the file before`
  note(
    'edited',
    before,
    last.seq,
    `${where} was changed: line ${row.line} was chained to another text (or was itself changed)`,
  )
}

function checkHead(
  session: string,
  head: Head | null | 'damaged',
  rows: readonly Row[],
  last: Walk['last'],
  note: Note,
): void {
  const end = rows.at(-1) ?? null
  if (head === 'damaged') {
    note('head-damaged', end, null, 'the head stored apart cannot be read')
    return
  }
  if (head === null) {
    if (rows.length > 0) note('head-missing', end, null, 'the head stored apart is missing: a cut tail would not show')
    return
  }
  if (head.session !== session) {
    note('swapped', end, null, `the head is that of session ${head.session}`)
    return
  }
  if (head.seq === 0 && rows.length === 0) return
  const seq = last?.seq ?? 0
  if (seq < head.seq) {
    const what = rows.length === 0 ? 'the log is gone' : `the log ends with number ${seq}`
    note(
      'cut',
      end,
      seq + 1,
      `${what}, and the head stored apart knows number ${head.seq}: the tail was cut off, or an older file was put in its place`,
    )
  } else if (seq === head.seq && last !== null && last.hash !== head.hash) {
    note(
      'edited',
      last.row,
      seq,
      `line ${last.row.line} is the last one, and not the one that the head stored apart knows`,
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
        `line ${acknowledged.line} is not the one that the head stored apart knows`,
      )
    }
  }
}
