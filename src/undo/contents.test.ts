/** What a path contained before a call, by its journal. */

import { expect, it } from 'vitest'
import type { JournalRecord } from './journal.ts'
import { type ContentBefore, contentsBefore } from './net-changes.ts'

const NO_TIME = { seconds: 0n, nanoseconds: 0 }
const record = (op: JournalRecord['op'], path: string, more: Partial<JournalRecord> = {}): JournalRecord => ({
  op,
  path,
  other: '',
  kept: 'none',
  number: 0,
  before: { mode: 0, size: 0n, inode: 1n, time: NO_TIME },
  folderTime: NO_TIME,
  otherFolderTime: NO_TIME,
  changed: 0n,
  otherChanged: 0n,
  errno: 0,
  ...more,
})
const plain = { mode: 0o100644, size: 3n, inode: 1n, time: NO_TIME }

const rows: readonly (readonly [
  note: string,
  records: JournalRecord[],
  path: string,
  want: ContentBefore | undefined,
])[] = [
  ['made', [record('made', '/a')], '/a', 'absent'],
  ['written', [record('written', '/a', { kept: 'copy', number: 4, before: plain })], '/a', { kept: 4 }],
  ['written when empty', [record('written', '/a', { kept: 'empty', before: plain })], '/a', 'empty'],
  ['not kept', [record('written', '/a', { kept: 'lost', before: plain })], '/a', undefined],
  ['a link', [record('removed', '/a', { kept: 'link', before: { ...plain, mode: 0o120777 } })], '/a', undefined],
  [
    'removed and created again: the first counts',
    [record('removed', '/a', { kept: 'link', number: 1, before: plain }), record('made', '/a')],
    '/a',
    { kept: 1 },
  ],
  [
    'another put in its place',
    [record('renamed', '/t', { other: '/a', kept: 'link', number: 2, before: plain })],
    '/a',
    { kept: 2 },
  ],
  [
    'moved away, then created again: it is under its other name',
    [record('renamed', '/a', { other: '/b' }), record('made', '/a')],
    '/a',
    undefined,
  ],
]

it.each(rows)('%s', (_, records, path, want) => {
  expect(contentsBefore(records).get(path)).toEqual(want)
})
