/**
 * Walks the chain of a log from its start, and finds edited, deleted, inserted, reordered, swapped
 * and torn lines.
 */

import { hash } from 'node:crypto'
import { isSignedBy } from '../system/keys/signing-key.ts'
import { type AuditLine, checkpointMessage, genesis } from './event.ts'

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

/** A line of a log with its position. */
export interface Row {
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

/** Called for each damage. */
export type Note = (
  kind: DamageKind,
  row: { file: string; line: number } | null,
  seq: number | null,
  message: string,
) => void

/** How far the chain goes, and what vouches for it. */
export interface Walk {
  /** The last good line of the chain. */
  readonly last: { readonly seq: number; readonly hash: string; readonly row: Row } | null
  readonly checkpoints: number
  readonly signedUpTo: number
  /** The longest run of lines before a signature, and the lines after the last one: those written since there is a key. */
  readonly longest: number
  readonly unsigned: number
  readonly recovered: number
}

/**
 * Walks the lines of a session in the order of its files. `since`: when the key was created, before
 * which nothing could be signed.
 */
export function walkChain(
  session: string,
  rows: readonly Row[],
  keys: readonly string[],
  note: Note,
  since = '',
): Walk {
  const numbers = new Set(rows.map((row) => row.event?.seq))
  let expectedSeq = 1
  let expectedPrev = hash('sha256', genesis(session))
  let last: Walk['last'] = null
  let [checkpoints, signedUpTo, longest, recovered, unsigned] = [0, 0, 0, 0, 0]
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
      // One file instead of another: its every line would say the same.
      if (last === null) break
    } else if (event.seq !== expectedSeq) noteOrder(row, event, expectedSeq, numbers, seen, note)
    else if (event.prev !== expectedPrev) noteBreak(row, event, last, note)
    if (event.type === 'checkpoint') {
      const problem = checkpointProblem(event, keys)
      if (problem !== null) note(problem.kind, row, event.seq, problem.message)
      else if (typeof event.signature === 'string') {
        checkpoints++
        longest = Math.max(longest, unsigned)
        unsigned = 0
        signedUpTo = event.seq
      }
    }
    if (event.seq > signedUpTo && event.time >= since) unsigned++
    seen.add(event.seq)
    expectedSeq = event.seq + 1
    expectedPrev = row.hash ?? hash('sha256', row.text)
    last = { seq: event.seq, hash: expectedPrev, row }
  }
  return { last, checkpoints, signedUpTo, longest, unsigned, recovered }
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

/** The problem of a checkpoint; null if its signature is good. Unsigned ones prove nothing. */
function checkpointProblem(
  event: AuditLine,
  keys: readonly string[],
): { kind: 'bad-signature' | 'unknown-key' | 'unsigned'; message: string } | null {
  const { key, signature, session, seq, prev } = event
  if (key === undefined && signature === undefined) return { kind: 'unsigned', message: 'the checkpoint is not signed' }
  if (typeof key !== 'string' || typeof signature !== 'string') {
    return { kind: 'bad-signature', message: 'the checkpoint has half a signature' }
  }
  if (!keys.includes(key))
    return { kind: 'unknown-key', message: `the checkpoint is signed by ${key.slice(0, 24)}…, which is not your key` }
  return isSignedBy(key, checkpointMessage(session, seq, prev), signature)
    ? null
    : {
        kind: 'bad-signature',
        message: 'the signature of the checkpoint does not match: what it covers was changed',
      }
}
