/** Undo beside other calls: what a later one changed as well is not taken from it, and one that still runs is left alone. */

import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CallStore } from './call-store.ts'
import { UNJUDGED } from './conflicts.ts'
import { formatEnd } from './journal.ts'
import { Keeper } from './keeper.ts'
import { undoCall } from './undo.ts'

let base: string
let file: string
let store: CallStore
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-later-')))
  file = join(base, 'project/f')
  mkdirSync(join(base, 'project'))
  writeFileSync(file, 'first')
  store = new CallStore(join(base, 'state'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function begin(secondsAgo: number): { readonly id: string; write(text: string): void; close(): void } {
  const about = { roots: [join(base, 'project')], what: `${secondsAgo} s ago` }
  const { id, folder } = store.begin(about, new Date(Date.now() - secondsAgo * 1000))
  const keeper = new Keeper(folder)
  return {
    id,
    write: (text) => {
      keeper.willWrite(file)
      writeFileSync(file, text)
    },
    close: () => keeper.close(),
  }
}

it('does not take away what a call that began meanwhile changed as well', () => {
  const [long, short] = [begin(9), begin(5)]
  long.write('long')
  short.write('short')
  short.close()
  long.close()
  expect(undoCall(store, UNJUDGED, long.id)).toMatchObject({
    id: null,
    conflicts: [{ path: file, what: 'changed by a later call as well' }],
  })
  expect(readFileSync(file, 'utf8')).toBe('short')
  const undone = undoCall(store, UNJUDGED, short.id)
  expect([undone.conflicts, readFileSync(file, 'utf8')]).toEqual([[], 'long'])
  expect(undoCall(store, UNJUDGED, undone.id!).conflicts).toEqual([])
  expect(readFileSync(file, 'utf8')).toBe('short')
})

it('puts the later one back first, and then the other', () => {
  const [long, short] = [begin(9), begin(5)]
  long.write('long')
  short.write('short')
  short.close()
  long.close()
  expect(undoCall(store, UNJUDGED, short.id, { force: true }).failed).toEqual([])
  expect(undoCall(store, UNJUDGED, long.id, { force: true }).failed).toEqual([])
  expect(readFileSync(file, 'utf8')).toBe('first')
})

it('leaves a call alone that still runs, whatever is said', () => {
  const running = begin(3)
  running.write('half')
  for (const force of [false, true])
    expect(undoCall(store, UNJUDGED, running.id, { force })).toMatchObject({
      id: null,
      conflicts: [{ what: 'still running' }],
    })
  expect(readFileSync(file, 'utf8')).toBe('half')
  running.close()
  expect(undoCall(store, UNJUDGED, running.id)).toMatchObject({ conflicts: [], failed: [] })
  expect(readFileSync(file, 'utf8')).toBe('first')
})

it('a call whose keeper was killed is over when it is settled', () => {
  const broken = begin(3)
  broken.write('half')
  appendFileSync(join(store.folderOf(broken.id), 'journal'), Buffer.alloc(4096))
  expect(store.settle(broken.id).ended).toBeNull()
  expect(store.journalOf(broken.id)).toMatchObject({ records: [{ op: 'written' }], ended: {} })
  expect(undoCall(store, UNJUDGED, broken.id)).toMatchObject({ conflicts: [], failed: [] })
  expect(readFileSync(file, 'utf8')).toBe('first')
})

it('does not take what it cannot read for all there was', () => {
  const odd = begin(3)
  odd.write('much')
  const record = formatEnd({ seconds: 0n, nanoseconds: 0 })
  record[4] = '?'.charCodeAt(0)
  appendFileSync(join(store.folderOf(odd.id), 'journal'), record)
  odd.close()
  expect(store.journalOf(odd.id)).toMatchObject({ whole: false, records: [{ op: 'written' }] })
})

it('says when more was changed than is written down', () => {
  const churning = begin(3)
  churning.write('much')
  const mark = formatEnd({ seconds: 0n, nanoseconds: 0 })
  mark[4] = 'o'.charCodeAt(0)
  appendFileSync(join(store.folderOf(churning.id), 'journal'), mark)
  churning.close()
  expect(store.journalOf(churning.id)).toMatchObject({ whole: false, ended: {} })
  const what = 'more changes than were recorded'
  expect(undoCall(store, UNJUDGED, churning.id)).toMatchObject({ id: null, conflicts: [{ path: file, what }] })
  expect(undoCall(store, UNJUDGED, churning.id, { force: true }).failed).toEqual([])
  expect(readFileSync(file, 'utf8')).toBe('first')
})
