import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { QuarantineStore } from '../protect/quarantine-store.ts'
import { listQuarantine, restoreQuarantined } from './list.ts'

let base: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-quarantine-')))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

test('what was taken is listed and comes back with its rights, but not over something else', () => {
  const state = join(base, 'state')
  const [file, folder] = [join(base, '.envrc'), join(base, '.vscode')]
  writeFileSync(file, 'text')
  chmodSync(file, 0o755)
  mkdirSync(folder)
  writeFileSync(join(folder, 'tasks.json'), '{}')
  const store = new QuarantineStore(state)
  store.take(file, 'a reason')
  store.take(folder, 'another')
  const [first, second] = listQuarantine(state)
  expect([first?.path, first?.reason, second?.path]).toEqual([file, 'a reason', folder])
  writeFileSync(file, 'mine')
  expect(() => restoreQuarantined(first!, false)).toThrow(/something at/)
  restoreQuarantined(first!, true)
  restoreQuarantined(second!, false)
  expect(readFileSync(file, 'utf8')).toBe('text')
  expect(statSync(file).mode & 0o777).toBe(0o755)
  expect(readFileSync(join(folder, 'tasks.json'), 'utf8')).toBe('{}')
  expect(listQuarantine(state)).toEqual([])
})

test('a list that names something outside the quarantine is not followed', () => {
  const run = join(base, 'state/quarantine/run')
  mkdirSync(run, { recursive: true })
  writeFileSync(
    join(run, 'list.jsonl'),
    `${JSON.stringify({ time: '', path: '/x', kept: '/etc/passwd', reason: '' })}\ngarbage\n`,
  )
  expect(listQuarantine(join(base, 'state'))).toEqual([])
})
