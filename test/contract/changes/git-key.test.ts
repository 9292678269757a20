/** The init judges git's settings as the shell analysis does: one table of cases for both. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gitKeyLines } from '../../../src/files/git-keys.ts'
import { gitKeyCases } from '../../cases/git-key-cases.ts'

/** The init always knows the value. */
const cases = gitKeyCases.flatMap(([key, value, harmless, note]) =>
  value === undefined ? [] : [{ key, value, harmless, note }],
)

let folder: string
let answers: readonly string[]
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cordon-git-key-'))
  const judge = join(folder, 'judge')
  const sources = [join(import.meta.dirname, 'git-key-judge.c'), 'native/broker/git-key.c']
  execFileSync('cc', ['-std=gnu11', '-O1', '-Wall', '-Wextra', '-Werror', '-o', judge, ...sources])
  const words = cases.flatMap(({ key, value }) => [folded(key), value])
  const said = execFileSync(judge, [...gitKeyLines(['example.com']), '--', ...words], { encoding: 'utf8' })
  answers = said.trimEnd().split('\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(cases.map((row, index) => ({ ...row, index })))('$key = $value is harmless: $harmless ($note)', (row) => {
  expect(answers[row.index]).toBe(row.harmless ? '1' : '0')
})

test('every case has an answer', () => {
  expect(answers).toHaveLength(cases.length)
})

/** As the parser of configurations hands a key on: in lower case but for its middle. */
function folded(key: string): string {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')]
  return key.slice(0, first).toLowerCase() + key.slice(first, last) + key.slice(last).toLowerCase()
}
