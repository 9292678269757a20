/** PURE. What a call changed in the end: the journal without what came and went in between. */

import type { JournalRecord } from './journal.ts'

export interface NetChanges {
  readonly made: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  /** What could not be kept: too large, or not to be read. */
  readonly lost: readonly string[]
}

/** The changes of a journal, each path once, sorted. */
export function netChanges(records: readonly JournalRecord[]): NetChanges {
  const made = new Set<string>()
  const changed = new Set<string>()
  const removed = new Set<string>()
  const lost = new Set<string>()
  const gone = (path: string) => {
    if (made.delete(path)) return
    changed.delete(path)
    removed.add(path)
  }
  const come = (path: string) => {
    if (removed.delete(path)) changed.add(path)
    else made.add(path)
  }
  for (const record of records) {
    const { op, path, other } = record
    if (record.kept === 'lost') lost.add(op === 'renamed' ? other : path)
    if (op === 'made') come(path)
    else if (op === 'removed') gone(path)
    else if ((op === 'written' || op === 'mode') && !made.has(path)) changed.add(path)
    else if (op === 'exchanged') {
      const wasMade = [made.delete(path), made.delete(other)]
      for (const set of [made, changed]) exchangeBelow(set, path, other)
      // What the call had made is now under the other name, in the place of something that was there.
      for (const [one, theirs] of [
        [path, wasMade[1]],
        [other, wasMade[0]],
      ] as const)
        if (theirs && wasMade[0] && wasMade[1]) made.add(one)
        else changed.add(one)
    }
    if (op !== 'renamed') continue
    if (record.before.mode !== 0) gone(other)
    for (const set of [made, changed]) moveBelow(set, path, other)
    const wasMade = made.delete(path)
    if (!wasMade) gone(path)
    come(other)
  }
  const list = (set: ReadonlySet<string>) => [...set].sort()
  return { made: list(made), changed: list(changed), removed: list(removed), lost: list(lost) }
}

function exchangeBelow(set: Set<string>, one: string, other: string): void {
  const aside = `${one}\0`
  moveBelow(set, one, aside)
  moveBelow(set, other, one)
  moveBelow(set, aside, other)
}

function moveBelow(set: Set<string>, from: string, to: string): void {
  for (const path of [...set].filter((one) => one.startsWith(`${from}/`))) {
    set.delete(path)
    set.add(to + path.slice(from.length))
  }
}

/** True when nothing was changed: refusals and notes are no changes. */
export function isWithoutChanges(records: readonly JournalRecord[]): boolean {
  return records.every(({ op }) => op === 'refused' || op === 'noted')
}
