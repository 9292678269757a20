import { expect, it } from 'vitest'
import type { EventRow } from '../live-feed.ts'
import {
  answerOf,
  filtered,
  filterLink,
  filterOf,
  NO_FILTER,
  type RecordFilter,
  RecordRows,
  subjectOf,
  valuesOf,
} from './record-rows.ts'

const event = (fields: Partial<EventRow>): EventRow => ({
  session: 's',
  seq: 1,
  time: '2026-01-01',
  type: 'begin',
  ...fields,
})

it('a call is one row, whatever lines it has', () => {
  const record = new RecordRows()
  record.add([
    event({ seq: 0, type: 'session', by: 'person', project: '/p/work' }),
    event({ call: 'a', tool: 'bash', agent: 'codex' }),
    event({ seq: 2, call: 'a', type: 'approval', verdict: 'deny', by: 'page' }),
    event({ seq: 3, type: 'mode' }),
  ])
  record.add([event({ seq: 4, call: 'a', type: 'end', outcome: 'ok' }), event({ seq: 5, call: 'z', type: 'end' })])
  expect(record.rows.map((row) => [row.begin.type, row.end?.outcome, answerOf(row)])).toEqual([
    ['begin', 'ok', 'no, by page'],
    ['mode', undefined, ''],
  ])
  expect([record.nameOf('s'), record.nameOf('unknown')]).toEqual(['codex in work', 'unknown'])
  expect(record.running(new Set(['s']))).toEqual([])
  record.add([event({ seq: 6, call: 'b', tool: 'bash' })])
  expect(record.running(new Set(['s'])).map(({ begin }) => begin.call)).toEqual(['b'])
  expect(record.running(new Set())).toEqual([])
})

const rows = (() => {
  const record = new RecordRows()
  record.add([
    event({
      seq: 1,
      time: '2',
      tool: 'bash',
      subject: 'npm test',
      verdict: 'allow',
      project: '/a',
      hosts: 'registry.example',
      by: 'grant:g1',
    }),
    event({ seq: 2, time: '1', tool: 'read', subject: 'src/a.ts', verdict: 'deny', project: '/b', files: 'src/a.ts' }),
  ])
  record.sort()
  return record.rows
})()

const filters: readonly { filter: Partial<RecordFilter>; found: readonly number[]; note: string }[] = [
  { filter: {}, found: [1, 2], note: 'the newest first' },
  { filter: { text: 'NPM bash' }, found: [1], note: 'every word, in any field, in any case' },
  { filter: { text: 'npm read' }, found: [], note: 'all of them' },
  { filter: { verdict: 'deny' }, found: [2], note: '' },
  { filter: { tool: 'bash', project: '/b' }, found: [], note: 'every field' },
  { filter: { host: 'registry' }, found: [1], note: 'part of a host' },
  { filter: { file: 'a.ts' }, found: [2], note: 'part of a file' },
  { filter: { since: '2' }, found: [1], note: 'from a time on' },
  { filter: { until: '2' }, found: [2], note: 'before a time' },
  { filter: { by: 'yes, by a saved answer' }, found: [1], note: 'who answered, also in advance' },
]

it.each(filters)('finds $filter', ({ filter, found }) => {
  const whole = { ...NO_FILTER, ...filter }
  expect(filtered(rows, whole).map(({ begin }) => begin.seq)).toEqual(found)
  expect(filterOf(filterLink(whole))).toEqual(whole)
})

it('a call without arguments is found by what undo knows of it, and named by it', () => {
  const record = new RecordRows()
  record.add([event({ call: 'a', tool: 'bash', summary: 'npm run' })])
  expect(record.rows.map(subjectOf)).toEqual(['npm run'])
  record.add([event({ seq: 2, call: 'a', type: 'end', subject: 'npm run fix' })])
  expect(record.rows.map(subjectOf)).toEqual(['npm run fix'])
  expect(filtered(record.rows, { ...NO_FILTER, text: 'fix' })).toHaveLength(1)
})

it('lists what can be chosen, the most frequent first, and keeps only so many rows', () => {
  const record = new RecordRows()
  for (let at = 0; at < 115_000; at += 1000)
    record.add(
      Array.from({ length: 1000 }, (_, index) => event({ seq: at + index, tool: index % 3 ? 'bash' : 'read' })),
    )
  expect(record.rows.length).toBeLessThanOrEqual(110_000)
  expect(record.rows.at(-1)!.begin.seq).toBe(114_999)
  expect(valuesOf(record.rows, 'tool')).toEqual(['bash', 'read'])
})
