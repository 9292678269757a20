import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pruneQuarantine, QUARANTINE_LIMITS, QuarantineStore } from './quarantine-store.ts'

const DAY = 24 * 3_600_000
const NOW = Date.UTC(2030, 0, 31)

let state: string
beforeEach(() => {
  state = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-prune-')))
})
afterEach(() => rmSync(state, { recursive: true, force: true }))

function keep(age: number, bytes: number): string {
  const run = `${(NOW - age).toString(36)}-x${bytes}`
  const folder = join(state, 'quarantine', run, '1-.vscode')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'tasks.json'), Buffer.alloc(bytes))
  return run
}

test.each([
  { note: 'what is old goes', ages: [31, 29], bytes: 10, removed: [0] },
  { note: 'the oldest go while there is too much', ages: [5, 4, 3, 2], bytes: 400_000, removed: [1, 0] },
  { note: 'today’s stay, whatever their size', ages: [0, 0.5, 0.9], bytes: 900_000, removed: [] },
])('$note', ({ ages, bytes, removed }) => {
  const runs = ages.map((age) => keep(age * DAY, bytes))
  const limits = { ...QUARANTINE_LIMITS, bytes: 1_000_000 }
  expect(pruneQuarantine(state, NOW, limits)).toEqual(removed.map((index) => runs[index]))
  expect(runs.filter((run) => !existsSync(join(state, 'quarantine', run)))).toHaveLength(removed.length)
})

test('folders that a command closed and names that are not UTF-8 go as well', () => {
  const folder = join(state, 'quarantine', keep(40 * DAY, 1), '1-.vscode')
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])]), '')
  chmodSync(folder, 0)
  expect(pruneQuarantine(state, NOW)).toHaveLength(1)
})

test('something that is not a run of ours is left alone', () => {
  mkdirSync(join(state, 'quarantine/notes'), { recursive: true })
  expect(pruneQuarantine(state, NOW)).toEqual([])
})

test('it is pruned when something comes in', () => {
  const old = `${(Date.now() - 31 * DAY).toString(36)}-x`
  mkdirSync(join(state, 'quarantine', old), { recursive: true })
  writeFileSync(join(state, '.envrc'), '')
  new QuarantineStore(state).take(join(state, '.envrc'), 'a reason')
  expect(existsSync(join(state, 'quarantine', old))).toBe(false)
})
