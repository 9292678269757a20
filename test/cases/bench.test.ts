/** The bench's own arithmetic: what its page and its comparison say. */

import { expect, test } from 'vitest'
import { compareTables } from '../../bench/compare.ts'
import { withGoals } from '../../bench/goals.ts'
import { writePage } from '../../bench/page-of-figures.ts'

const table = (time: string, more: readonly string[][] = []) => ({
  title: 'A table',
  rows: [['', 'time', 'relative', 'goal'], ['a row', time, '1.10x', '<= 1.00x'], ...more],
})

test('a comparison takes medians of each figure that both sides have, and no derived column', () => {
  const before = ['2.0 ms', '4.0 ms', '90 ms'].map((time) => [table(time, [['gone', '1 s', '', '']])])
  const after = ['1.0 ms', '6.0 ms', '2.0 ms'].map((time) => [table(time, [['new', '1,000 /s', '', '']])])
  expect(compareTables(before, after)).toEqual([
    {
      title: 'A table',
      rows: [
        ['', 'before', 'after', 'ratio'],
        ['a row, time', '4 ms', '2 ms', '0.50'],
      ],
    },
  ])
})

test('thousands are numbers, and words are not', () => {
  const side = (rate: string) => [
    [
      {
        title: 't',
        rows: [
          ['', 'events'],
          ['a', rate],
          ['b', 'not installed'],
        ],
      },
    ],
  ]
  expect(compareTables(side('1,000'), side('2,500'))[0]?.rows.slice(1)).toEqual([['a, events', '1000', '2500', '2.50']])
})

test('a page has each part with its load, and escapes what would break a table', () => {
  const rows = [
    ['', 'time'],
    ['a | b', '1 ms'],
  ]
  const page = writePage(
    [{ name: 'scan', load: 0.25, seconds: 7.2, tables: [{ title: 'T', rows }] }],
    'a machine',
    '2026-01-02',
  )
  expect(page).toContain('wrote it on 2026-01-02')
  expect(page).toContain('`npm run bench -- scan`, in 7 s at a load of 0.3.')
  expect(page).toContain('T:\n\n|  | time |\n|---|---|\n| a \\| b | 1 ms |\n')
})

test('every row has a goal, from its part or from the table of goals', () => {
  const rows = [
    ['', 'events a second'],
    ['shared between processes', '1'],
  ]
  expect(withGoals('Events of the audit log', rows)).toEqual([
    ['', 'events a second', 'goal', 'floor'],
    ['shared between processes', '1', '>= 10,000', ''],
  ])
  const own = [
    ['', 'goal', 'x'],
    ['its own row', '<= 7', '3'],
  ]
  expect(withGoals('T', own)[1]).toEqual(['its own row', '3', '<= 7', ''])
  expect(() =>
    withGoals('T', [
      ['', 'x'],
      ['unknown', '3'],
    ]),
  ).toThrow('bench/goals.ts has no goal for "T: unknown"')
})
