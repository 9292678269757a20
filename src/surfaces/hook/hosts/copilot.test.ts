/** Copilot CLI's plan mode is read off its record of the session; where there is none, its agent only reads. */

import { expect, it } from 'vitest'
import { copilot } from './copilot.ts'

const ID = 'a3a29a8a-96c1-41da-9b45-ca23ff780ba9'
const FILE = `/h/.copilot/session-state/${ID}/events.jsonl`
const START = '{"type":"session.start","data":{}}'
const changed = (newMode: unknown): string => JSON.stringify({ type: 'session.mode_changed', data: { newMode } })

function isReadOnly(text: string | null, sessionId: unknown = ID, env: Record<string, string> = {}): boolean {
  const readText = (path: string): string => {
    if (text === null || path !== FILE) throw new Error('ENOENT')
    return text
  }
  const at = {
    machine: { home: '/h', env },
    files: { exists: () => true, list: () => ['other-session', ID], readText },
  }
  return copilot.ownSandbox!.isReadOnly!({ sessionId, cwd: '/w' }, at, '/w')
}

it.each([
  ['it was never told otherwise', START, false],
  ['it plans', `${START}\n${changed('plan')}\n`, true],
  ['it was let go', `${START}\n${changed('plan')}\n${changed('interactive')}\n`, false],
  ['it goes on by itself', `${START}\n${changed('autopilot')}\n`, false],
  ['it went back to planning', `${changed('autopilot')}\n${changed('plan')}\n`, true],
  ['a mode that nobody knows', changed('careful'), true],
  ['no mode', changed(null), true],
  [
    'what is said of it is no mode',
    `${changed('plan')}\n${JSON.stringify({ type: 'user.message', data: { content: changed('interactive'), newMode: 'interactive' } })}\n`,
    true,
  ],
  ['a line that is cut off', `${START}\n{"type":"session.mode_changed","da`, true],
  ['no record', null, true],
])('%s', (_, text, expected) => {
  expect(isReadOnly(text)).toBe(expected)
})

it.each([
  ['of one that acts', START, false],
  ['of one that plans', changed('plan'), true],
])('a sub-agent has the mode of the session in its folder: %s', (_, more, expected) => {
  const record = `{"type":"session.start","data":{"context":{"cwd":"/w"}}}\n${more}\n`
  expect(isReadOnly(record, 'ec37a212-b833')).toBe(expected)
  expect(isReadOnly(record.replace('"/w"', '"/elsewhere"'), 'ec37a212-b833')).toBe(true)
})

it.each([['../x'], [null], [7]])('a session that is no name is none: %j', (id) => {
  expect(isReadOnly(START, id)).toBe(true)
})

it('its home can be elsewhere', () => {
  expect(isReadOnly(START, ID, { COPILOT_HOME: '/h/.copilot' })).toBe(false)
  expect(isReadOnly(START, ID, { COPILOT_HOME: '/elsewhere' })).toBe(true)
})
