/** Finds what has changed since a call, and steps that undo may not make. */

import { type BigIntStats, lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../system/fault.ts'
import { changesRepository, HeldPlaces, MovedPlace } from './held-place.ts'
import { type Journal, type JournalRecord, keptName, nanoseconds } from './journal.ts'
import { raw, statAt } from './keeper.ts'
import type { LeftStates } from './left-states.ts'
import { netChanges } from './net-changes.ts'

export type PutKind = 'file' | 'folder' | 'link'

/**
 * Rules for the steps of an undo. Each returns the protected path, or null if the step is allowed.
 */
export interface PutRules {
  /** A path is created or changed. `text`: the file's content or link target; null: unknown. */
  refusedPut(path: string, kind: PutKind, text: () => string | null): string | null
  /** A folder is moved. `at`: where it is now, if earlier steps move it to `from` first. */
  refusedMove(from: string, to: string, at: string): string | null
  /** Whether a file is judged by its content, so that it is only restored if unchanged since. */
  isJudged(path: string): boolean
}

/** For trees in which nothing runs by itself: tests. */
export const UNJUDGED: PutRules = {
  refusedPut: () => null,
  refusedMove: () => null,
  isJudged: () => false,
}

export interface Conflict {
  readonly path: string
  readonly what:
    | 'changed since'
    | 'gone since'
    | 'created since'
    | 'points elsewhere'
    | 'in a repository that was created since'
    | 'protected, because programs run it or take settings from it'
    | 'not kept'
    | 'not ended'
    | 'changed by a later call as well'
    | 'still running'
    | 'more changes than were recorded'
}

export const PROTECTED = 'protected, because programs run it or take settings from it'

export interface ConflictFacts {
  readonly left: LeftStates
  readonly rules: PutRules
  readonly folder: string
  /** Paths that later calls changed too. */
  readonly later: ReadonlySet<string>
}

/** Paths that changed since the call or cannot be restored. */
export function conflictsOf({ records, ended, whole }: Journal, facts: ConflictFacts): Conflict[] {
  const { left, rules, folder, later } = facts
  const net = netChanges(records)
  const places = new HeldPlaces()
  const conflicts: Conflict[] = net.lost.map((path) => ({ path, what: 'not kept' }))
  if (!whole) conflicts.push({ path: records[0]?.path ?? '', what: 'more changes than were recorded' })
  const end = ended === null ? null : nanoseconds(ended)
  for (const path of [...net.made, ...net.changed]) {
    const stat = statIn(places, path)
    if (stat === 'elsewhere') conflicts.push({ path, what: 'points elsewhere' })
    else if (!stat) conflicts.push({ path, what: 'gone since' })
    // A folder's time changes with its entries, which are checked themselves; a pipe's with its use.
    else if (stat.isDirectory() || stat.isFIFO()) continue
    else if (end === null) conflicts.push({ path, what: 'not ended' })
    else if (!left.isAsAt({ inode: stat.ino, changed: stat.ctimeNs }, end))
      conflicts.push({ path, what: 'changed since' })
    else if (later.has(path)) conflicts.push({ path, what: 'changed by a later call as well' })
  }
  for (const path of net.removed) {
    const stat = statIn(places, path)
    if (stat) conflicts.push({ path, what: stat === 'elsewhere' ? 'points elsewhere' : 'created since' })
  }
  const restored = new Set(net.removed)
  for (const path of [...net.changed, ...net.removed])
    if (changesRepository(places, path, restored))
      conflicts.push({ path, what: 'in a repository that was created since' })
  places.forget()
  for (const path of refusedPaths(records, rules, folder)) conflicts.push({ path, what: PROTECTED })
  return conflicts
}

/** Protected paths that a whole undo would create or change. */
function refusedPaths(records: readonly JournalRecord[], rules: PutRules, folder: string): ReadonlySet<string> {
  const refused = new Set<string>()
  const moves: { readonly from: string; readonly to: string }[] = []
  /** Where earlier steps have moved a path. */
  const pathNow = (path: string): string =>
    moves.reduceRight(
      (at, { from, to }) => (at === to || at.startsWith(`${to}/`) ? from + at.slice(to.length) : at),
      path,
    )
  for (const record of records.toReversed()) {
    const { path, other } = record
    for (const put of putsOf(record)) {
      const found = rules.refusedPut(put.path, put.kind, () => keptText(record, folder))
      if (found !== null) refused.add(found)
    }
    if (record.op !== 'renamed' && record.op !== 'exchanged') continue
    for (const [from, to] of record.op === 'renamed'
      ? [[other, path]]
      : ([
          [other, path],
          [path, other],
        ] as const)) {
      const at = pathNow(from!)
      const found = refusedMove(rules, from!, to!, at)
      if (found !== null) refused.add(found)
    }
    // The second half of an exchange is enough: checks look at the tree.
    moves.push({ from: other, to: path })
  }
  return refused
}

/** Checks moving back a folder with its contents, a link or a file. */
export function refusedMove(rules: PutRules, from: string, to: string, at: string = from): string | null {
  const stat = statAt(at)
  if (!stat) return null
  if (stat.isDirectory()) return rules.refusedMove(from, to, at)
  if (stat.isSymbolicLink()) return rules.refusedPut(to, 'link', () => readlinkSync(raw(at), 'latin1'))
  return rules.refusedPut(to, 'file', () => (stat.size <= MAX_JUDGED ? readFileSync(raw(at), 'latin1') : null))
}

const MAX_JUDGED = 1_048_576
const FORMAT = 0o170000
const KINDS: ReadonlyMap<number, PutKind> = new Map([
  [0o040000, 'folder'],
  [0o120000, 'link'],
])

/** The paths that reversing a record creates or changes, apart from moves. */
export function putsOf({ op, path, other, kept, before }: JournalRecord): { path: string; kind: PutKind }[] {
  const kind = KINDS.get(before.mode & FORMAT) ?? 'file'
  if (op === 'written' || op === 'mode' || (op === 'removed' && kept !== 'made')) return [{ path, kind }]
  return op === 'renamed' && before.mode !== 0 && kept !== 'made' ? [{ path: other, kind }] : []
}

/** A kept file's content or a kept link's target, one character per byte. */
export function keptText({ kept, number }: JournalRecord, folder: string): string | null {
  if (kept === 'empty') return ''
  if (kept !== 'link' && kept !== 'copy') return null
  const path = join(folder, keptName(number))
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat?.isSymbolicLink()) return readlinkSync(path, 'latin1')
  return stat?.isFile() && stat.size <= MAX_JUDGED ? readFileSync(path, 'latin1') : null
}

/** What is at a path without following links; null for nothing, also without its folder. */
export function statIn(places: HeldPlaces, path: string): BigIntStats | 'elsewhere' | null {
  try {
    return lstatSync(places.at(path), { bigint: true, throwIfNoEntry: false }) ?? null
  } catch (error) {
    if (error instanceof MovedPlace) return 'elsewhere'
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null
    throw error
  }
}
