/** The readers of other people's output, and the page: a suite that breaks must not look like one that passes. */

import { expect, test } from 'vitest'
import { ltpCases, tapCases } from '../suites/cases.ts'
import { type Line, writePage } from '../suites/page.ts'

const results = (cases: ReturnType<typeof tapCases>): string =>
  cases.map(({ name, result }) => `${name} ${result}`).join(', ')

test.each([
  ['1..2\nok 1\nok 2 - b\n', '1 passed, 2 passed, end passed', 'a whole plan'],
  ['1..3\nok 1\nnot ok 2 - b\n', '1 passed, 2 failed, end failed', 'it stopped before its end'],
  ['ok 1\n', '1 passed, end failed', 'no plan: it may have stopped'],
  [
    'ok 1 - a # skip no tty\nnot ok 2 # TODO known\n1..2\n',
    '1 skipped, end passed',
    'what is expected to fail says nothing',
  ],
  ['sh: not found\n', 'end failed', 'nothing ran'],
  ['1..0 # SKIP no cvs\n', '', 'the whole script is skipped'],
])('%j reads as %s: %s', (output, expected) => {
  expect(results(tapCases(output))).toBe(expected)
})

test.each([
  ['a.c:1: TPASS: x\na.c:2: TFAIL: y: EPERM (1)\na.c:3: TCONF: z\n', '1 passed, 2 failed, 3 skipped'],
  ['a.c:1: TBROK: mkdir failed\n', '1 failed'],
  ['', 'end failed'],
])('LTP: %j reads as %s', (output, expected) => {
  expect(results(ltpCases(output))).toBe(expected)
})

test('the page counts what differs, and shows what is not explained', () => {
  const counts = { tests: 2, every: 3, cases: 9, outside: 8, bubblewrap: 7, cordon: 5 }
  const line: Line = {
    ...{ name: 'a suite', from: 'somewhere', version: '1', date: '2026-01-01', ...counts },
    ...{ reasons: { 'must differ': 2 }, unexplained: ['x.t 3: failed: EROFS'] },
  }
  const page = writePage([line])
  expect(page).toContain('| a suite | 1 | 2026-01-01 | 2, one in 3 | 9 | 8 | 7 | 5 | 3 |')
  expect(page).toContain('- 2: must differ\n- not explained: x.t 3: failed: EROFS')
})
