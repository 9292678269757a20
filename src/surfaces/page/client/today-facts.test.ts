import { expect, it } from 'vitest'
import type { EventRow } from '../live-feed.ts'
import { RecordRows } from './record-rows.ts'
import { todayFacts } from './today-facts.ts'

const HOUR = 3_600_000

it('counts what happened in a time, by hour, host, folder and answer, and nothing beyond it', () => {
  const record = new RecordRows()
  const at = (hours: number) => new Date(hours * HOUR).toISOString()
  const call = (id: string, hours: number, verdict: string, end: Partial<EventRow> = {}, by?: string) => {
    const own = { session: 's', seq: 1, call: id }
    record.add([{ ...own, time: at(hours), type: 'begin', tool: 'bash', project: '/p', verdict }])
    if (by) record.add([{ ...own, time: at(hours), type: 'approval', verdict: 'deny', by }])
    record.add([{ ...own, time: at(hours), type: 'end', ...end }])
  }
  call('a', 1, 'allow', {
    hosts: 'x.example y.example',
    changed: 3,
    folders: [
      ['/p/src/a/deep', 2],
      ['/p', 1],
    ],
  })
  call('b', 2.5, 'ask', { refused: 'x.example', folders: [['/elsewhere', 1]], changed: 1 }, 'page')
  call('c', 2.9, 'deny')
  call('d', 3, 'allow')
  call('e', 4, 'allow')
  call('__proto__', 1, 'allow')
  record.add([{ session: 's', seq: 9, time: at(1), type: 'mode' }])
  const { buckets, ...facts } = todayFacts(record.rows, HOUR, 4 * HOUR, 3)
  expect(buckets.map(({ allow, ask, deny }) => [allow, ask, deny])).toEqual([
    [2, 0, 0],
    [0, 1, 1],
    [1, 0, 0],
  ])
  expect(facts).toEqual({
    ...{ calls: 5, asked: 1, refused: 2, changed: 4 },
    hosts: [
      { name: 'x.example', count: 2, refused: 1 },
      { name: 'y.example', count: 1, refused: 0 },
    ],
    folders: [
      { name: 'src/a', count: 2, refused: 0 },
      { name: '/elsewhere', count: 1, refused: 0 },
      { name: 'the project’s own folder', count: 1, refused: 0 },
    ],
    answers: [{ name: 'no, by page', count: 1, refused: 1 }],
  })
})
