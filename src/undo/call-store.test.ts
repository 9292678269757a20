/** What is kept goes by age and size, and never from a call that is still running. */

import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CallStore } from './call-store.ts'
import { Keeper } from './keeper.ts'

const DAY = 24 * 3_600_000
const LIMITS = { olderThanMs: 7 * DAY, bytes: 10_000, graceMs: DAY }
const now = new Date('2026-03-10T12:00:00Z')

let base: string
let store: CallStore
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-calls-'))
  store = new CallStore(base)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function call(daysAgo: number, bytes: number, ended = true, root = '/p'): string {
  const { id, folder } = store.begin({ roots: [root], what: 'x' }, new Date(now.getTime() - daysAgo * DAY))
  const keeper = new Keeper(folder)
  keeper.willMake('/p/new')
  writeFileSync(join(folder, '1'), Buffer.alloc(bytes, 1))
  if (ended) keeper.close()
  return id
}

it('removes what is too old, and the oldest while there is too much', () => {
  const old = call(8, 10)
  const large = call(3, 8_000)
  const [middle, last] = [call(2, 4_000), call(1, 4_000)]
  expect(store.prune(LIMITS, now)).toEqual([large, old])
  expect(store.list().map(({ id }) => id)).toEqual([last, middle])
  expect(store.prune(LIMITS, now)).toEqual([])
})

it('pushes out nothing of the last day, nor of another project', () => {
  const [other, young] = [call(2, 8_000, true, '/q'), call(0.9, 8_000)]
  const [flood, last] = [call(0.5, 50_000), call(0.1, 10)]
  expect(store.prune(LIMITS, now)).toEqual([])
  expect([store.isFull('/p', LIMITS), store.isFull('/q', LIMITS)]).toEqual([true, false])
  const tomorrow = new Date(now.getTime() + DAY)
  expect(store.prune(LIMITS, tomorrow)).toEqual([flood, young])
  expect(store.list().map(({ id }) => id)).toEqual([last, other])
})

it('leaves a call alone that is under way in a process that lives', () => {
  const running = call(30, 50_000, false)
  expect(store.prune(LIMITS, now)).toEqual([])
  expect(store.list().map(({ id }) => id)).toEqual([running])
})

it('leaves the call of a killed run alone until that is settled', () => {
  const { id } = store.begin({ roots: ['/p'], what: 'x', run: 'r' }, new Date(now.getTime() - 30 * DAY))
  new Keeper(store.folderOf(id)).close()
  mkdirSync(join(base, 'runs'))
  writeFileSync(join(base, 'runs/r.json'), '{}')
  expect(store.prune(LIMITS, now)).toEqual([])
  rmSync(join(base, 'runs/r.json'))
  expect(store.prune(LIMITS, now)).toEqual([id])
})

it('does so by itself, once an hour', () => {
  const first = call(8, 10)
  store.pruneWhenDue(LIMITS, now)
  expect(existsSync(store.folderOf(first))).toBe(false)
  const second = call(8, 10)
  store.pruneWhenDue(LIMITS, new Date(now.getTime() + 1000))
  expect(existsSync(store.folderOf(second))).toBe(true)
  utimesSync(join(base, 'undo/pruned'), 0, 0)
  store.pruneWhenDue(LIMITS, now)
  expect(existsSync(store.folderOf(second))).toBe(false)
})

it('makes nothing where nothing was ever kept', () => {
  store.pruneWhenDue(LIMITS, now)
  expect(existsSync(join(base, 'undo'))).toBe(false)
})
