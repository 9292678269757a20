/** PURE. Which kept file holds what a path held before a call, where the journal says so. */

import type { JournalRecord } from './journal.ts'

/** `kept`: the number of a kept file; `empty`: it held nothing; `absent`: it was not there. */
export type ContentBefore = { readonly kept: number } | 'empty' | 'absent'

/** The content of paths before the call; one that came into place by a rename, or was not kept, is not in it. */
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
