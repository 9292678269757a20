import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { QuarantineStore } from '../sandbox/protect/quarantine-store.ts'
import { listQuarantine, restoreQuarantined } from './quarantine.ts'

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

test.each([false, true])(
  'nothing is restored or removed behind a link that took the place of its folder (force: %j)',
  (force) => {
    const state = join(base, 'state')
    for (const folder of ['sub', 'victim']) mkdirSync(join(base, folder))
    writeFileSync(join(base, 'sub/.npmrc'), 'planted')
    new QuarantineStore(state).take(join(base, 'sub/.npmrc'), 'a reason')
    const [entry] = listQuarantine(state)
    rmSync(join(base, 'sub'), { recursive: true })
    writeFileSync(join(base, 'victim/theirs'), 'theirs')
    symlinkSync('victim', join(base, 'sub'))
    expect(() => restoreQuarantined(entry!, force)).toThrow(/is a link now/)
    expect([existsSync(join(base, 'victim/.npmrc')), readFileSync(join(base, 'victim/theirs'), 'utf8')]).toEqual([
      false,
      'theirs',
    ])
    rmSync(join(base, 'sub'))
    expect(() => restoreQuarantined(entry!, force)).toThrow(/does not exist any more/)
    mkdirSync(join(base, 'sub'))
    restoreQuarantined(entry!, force)
    expect(readFileSync(join(base, 'sub/.npmrc'), 'utf8')).toBe('planted')
  },
)

test('a list that names something outside the quarantine is not followed', () => {
  const run = join(base, 'state/quarantine/run')
  mkdirSync(run, { recursive: true })
  writeFileSync(
    join(run, 'list.jsonl'),
    `${JSON.stringify({ time: '', path: '/x', kept: '/etc/passwd', reason: '' })}\ngarbage\n`,
  )
  expect(listQuarantine(join(base, 'state'))).toEqual([])
})
