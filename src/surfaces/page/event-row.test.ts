import { expect, it } from 'vitest'
import { eventRow } from './live-feed.ts'

const line = { v: 1, seq: 3, time: '2026-01-01T00:00:00.000Z', session: 's', type: 'begin', prev: 'x' }

it('has what a list shows, escaped, and nothing absent', () => {
  expect(eventRow(line)).toEqual({ session: 's', seq: 3, time: line.time, type: 'begin' })
  const decision = { verdict: 'deny', reason: 'secret' }
  expect(eventRow({ ...line, tool: 'bash', subject: 'ls \u202e x', decision, hosts: ['a.example'] })).toMatchObject({
    tool: 'bash',
    subject: 'ls \\u{202e} x',
    verdict: 'deny',
    reason: 'secret',
    hosts: 'a.example',
  })
  const changes = { undo: 'u1', made: 2, changed: 1, removed: 0, lost: 0, names: ['+/p/a', '~/p/b'] }
  expect(eventRow({ ...line, type: 'end', changes, duration_ms: 5 })).toMatchObject({
    undo: 'u1',
    changed: 3,
    files: '+/p/a ~/p/b',
    folders: [['/p', 2]],
    ms: 5,
  })
})

it('names a call by its programs, or by what undo knows, where its arguments are not kept', () => {
  expect(eventRow({ ...line, tool: 'bash', summary: 'npm test' })).toMatchObject({ summary: 'npm test' })
  expect(eventRow({ ...line, subject: 'npm test -- a', summary: 'npm test' })).not.toHaveProperty('summary')
  expect(eventRow({ ...line, type: 'end' }, 'npm run fix -- \u202e')).toMatchObject({
    subject: 'npm run fix -- \\u{202e}',
  })
})

it('takes fields of any form', () => {
  for (const odd of [null, 7, 'text', [], {}, [[1]]])
    expect(eventRow({ ...line, decision: odd, changes: odd, hosts: odd, files: odd, tool: odd })).toMatchObject({
      seq: 3,
    })
})
