/** PURE. The net changes of a journal, without what was created and removed again. */

import type { JournalRecord } from './journal.ts'

/** `kept`: a kept file's number; `empty`: empty content; `absent`: not there. */
export type ContentBefore = { readonly kept: number } | 'empty' | 'absent'

/** Contents before the call; renamed and unkept files are missing. */
export function contentsBefore(records: readonly JournalRecord[]): ReadonlyMap<string, ContentBefore> {
  const found = new Map<string, ContentBefore>()
  const moved = new Set<string>()
  const note = (path: string, content: ContentBefore | null) => {
    if (content !== null && !found.has(path) && !moved.has(path)) found.set(path, content)
  }
  for (const record of records) {
    const { op, path, other, before } = record
    if (op === 'made') note(path, 'absent')
    else if (op === 'written' || op === 'removed') note(path, contentOf(record))
    else if (op === 'renamed') {
      note(other, before.mode === 0 ? 'absent' : contentOf(record))
      moved.add(path)
    } else if (op === 'exchanged') {
      moved.add(path)
      moved.add(other)
    }
  }
  return found
}

const FORMAT = 0o170000
const PLAIN = 0o100000

function contentOf({ kept, number, before }: JournalRecord): ContentBefore | null {
  if ((before.mode & FORMAT) !== PLAIN) return null
  if (kept === 'empty') return 'empty'
  return kept === 'link' || kept === 'copy' ? { kept: number } : null
}

export interface NetChanges {
  readonly made: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  /** What could not be kept: too large or unreadable. */
  readonly lost: readonly string[]
}

/** Net changes, each path once, sorted. */
export function netChanges(records: readonly JournalRecord[]): NetChanges {
  const created = new Set<string>()
  const changed = new Set<string>()
  const removed = new Set<string>()
  const lost = new Set<string>()
  const came = new Set<string>()
  let work = 0
  /** A command that keeps moving full folders gets a rough list instead of a slow one. */
  const isWorthIt = (set: ReadonlySet<string>) => {
    work += set.size
    return work < MAX_WORK
  }
  const gone = (path: string) => {
    if (created.delete(path)) return
    changed.delete(path)
    removed.add(path)
  }
  const come = (path: string) => {
    if (removed.delete(path)) changed.add(path)
    else created.add(path)
    came.add(path)
  }
  for (const record of records) {
    const { op, path, other } = record
    if (record.kept === 'lost') lost.add(op === 'renamed' ? other : path)
    if (op === 'made') come(path)
    else if (op === 'removed') gone(path)
    else if ((op === 'written' || op === 'mode') && !created.has(path)) changed.add(path)
    else if (op === 'exchanged') {
      const wasMade = [created.delete(path), created.delete(other)]
      for (const set of [created, changed, removed]) if (isWorthIt(set)) exchangeBelow(set, path, other)
      // The call's own file is now under the other name.
      for (const [one, theirs] of [
        [path, wasMade[1]],
        [other, wasMade[0]],
      ] as const)
        if (theirs && wasMade[0] && wasMade[1]) created.add(one)
        else changed.add(one)
    }
    if (op !== 'renamed') continue
    if (record.before.mode !== 0) gone(other)
    for (const set of [created, changed]) if (isWorthIt(set)) moveBelow(set, path, other)
    const wasMade = created.delete(path)
    if (!wasMade) gone(path)
    come(other)
  }
  const list = (set: ReadonlySet<string>) => [...set].sort()
  // What lay below a new path went with it.
  const gonePaths = list(removed).filter((path) => !above(path).some((one) => came.has(one)))
  return { made: list(created), changed: list(changed), removed: gonePaths, lost: list(lost) }
}

const MAX_WORK = 5_000_000

/** The folders above a path. */
function above(path: string): string[] {
  const folders: string[] = []
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) folders.push(path.slice(0, at))
  return folders
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

/** True without changes: refusals and notes do not count. */
export function isWithoutChanges(records: readonly JournalRecord[]): boolean {
  return records.every(({ op }) => op === 'refused' || op === 'noted')
}

/** Whether changes remain; a temporary file leaves none. */
export function hasChanges(records: readonly JournalRecord[]): boolean {
  const { made: created, changed, removed, lost } = netChanges(records)
  return created.length + changed.length + removed.length + lost.length > 0
}
