/** Copilot CLI's plan mode is read off its record of the session, once that has come to the call; else its agent only reads. */

import { appendFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { isActing } from './copilot-record.ts'

const home = mkdtempSync(join(tmpdir(), 'cordon-copilot-'))
afterAll(() => rmSync(home, { recursive: true }))

const ID = 'a3a29a8a-96c1-41da-9b45-ca23ff780ba9'
const SUB = 'f2c9051c-386e-4014-817c-2fc6c2fbd526'
const DEEP = '07d64fc3-c051-485e-bce6-b0da0322e2df'
const OTHER = '5e0fe697-897d-4cae-9099-703f31ab2bea'

type Event = readonly [type: string, data: Readonly<Record<string, unknown>>, agentId?: string]
const line = ([type, data, agentId]: Event): string =>
  `${JSON.stringify({ type, data, ...(agentId && { agentId }) })}\n`
const START: Event = ['session.start', {}]
const mode = (newMode: unknown, agent?: string): Event => ['session.mode_changed', { newMode }, agent]
const turn = (agent?: string): Event => ['assistant.turn_start', {}, agent]
const begun = (id: string, sessionId = ID, name = 'bash'): Event => [
  'hook.start',
  { hookInvocationId: id, hookType: 'preToolUse', input: { sessionId, toolCalls: [{ name: 'view' }, { name }] } },
]
const over = (id: string): Event => ['hook.end', { hookInvocationId: id, hookType: 'preToolUse' }]
const CALL = begun('h1')
const said = (content: string): Event => ['user.message', { content, newMode: 'interactive', agentMode: 'interactive' }]

function write(events: readonly (Event | string)[], session = ID): string {
  const file = join(home, '.copilot/session-state', session, 'events.jsonl')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, events.map((event) => (typeof event === 'string' ? event : line(event))).join(''))
  return file
}

const acts = (more: Readonly<Record<string, unknown>> = {}, env: Record<string, string> = {}): Promise<boolean> =>
  isActing({ sessionId: ID, toolName: 'bash', timestamp: Date.now(), ...more }, { home, env })

it.each([
  ['its mode was never changed', [START, turn(), CALL], true],
  ['it plans', [START, mode('plan'), turn(), CALL], false],
  ['it was let go', [START, mode('plan'), mode('interactive'), turn(), CALL], true],
  ['it goes on by itself', [mode('autopilot'), turn(), CALL], true],
  ['it went back to planning', [mode('autopilot'), mode('plan'), turn(), CALL], false],
  ['it plans from now on', [turn(), CALL, mode('plan')], false],
  ['a mode that nobody knows', [mode('careful'), turn(), CALL], false],
  ['no mode', [mode(null), turn(), CALL], false],
  ['a sub-agent’s own mode', [mode('plan'), mode('interactive', SUB), turn(), CALL], false],
  ['a quoted mode line is not a mode', [mode('plan'), said(line(mode('interactive'))), turn(), CALL], false],
  ['a line that is not JSON', [mode('plan'), '{"type":"session.mode_changed"\n', turn(), CALL], false],
  [
    'long before the call',
    [mode('plan'), ...Array.from({ length: 40 }, () => said('x'.repeat(70_000))), turn(), CALL],
    false,
  ],
  ['never, and it is long', [START, ...Array.from({ length: 40 }, () => said('x'.repeat(70_000))), turn(), CALL], true],
])('%s', async (_, events, expected) => {
  write(events)
  expect(await acts()).toBe(expected)
})

it.each<[string, readonly (Event | string)[], readonly (Event | string)[]]>([
  ['it is empty', [], [START, mode('plan'), turn(), CALL]],
  ['the call is not there yet', [START, turn()], [mode('plan'), CALL]],
  ['a call of before is over', [turn(), CALL, over('h1')], [mode('plan'), turn(), begun('h2')]],
  ['a call of before was broken off', [turn(), CALL, turn()], [mode('plan'), begun('h2')]],
  ['another tool’s', [turn(), begun('h1', ID, 'grep')], [mode('plan'), begun('h2')]],
  ['another agent’s', [turn(), begun('h1', SUB)], [mode('plan'), begun('h2')]],
  ['a line without an end', [turn(), line(CALL).trimEnd()], ['\n', mode('plan')]],
])('a record that is behind the call is waited for: %s', async (_, events, more) => {
  const file = write(events)
  const answer = acts()
  appendFileSync(file, more.map((event) => (typeof event === 'string' ? event : line(event))).join(''))
  expect(await answer).toBe(false)
})

it.each([
  ['of one that acts', START, true],
  ['of one that plans', mode('plan'), false],
])('a sub-agent, and one below it, has the mode of the session: %s', async (_, first, expected) => {
  const old = new Date(Date.now() - 60_000)
  const stale = write([mode(expected ? 'plan' : 'interactive'), turn(DEEP), begun('h1', DEEP)], OTHER)
  utimesSync(stale, old, old)
  write([first, turn(), turn(SUB), begun('h1', SUB), turn(DEEP), begun('h2', DEEP)])
  expect(await acts({ sessionId: SUB, agentId: SUB, parentAgentId: ID })).toBe(expected)
  expect(await acts({ sessionId: DEEP, agentId: DEEP, parentAgentId: SUB })).toBe(expected)
})

it.each([['../x'], [null], [7]])('an invalid session name only reads: %j', async (sessionId) => {
  write([START, turn(), CALL])
  expect(await acts({ sessionId })).toBe(false)
})

it('its home can be elsewhere', async () => {
  write([START, turn(), CALL])
  expect(await acts({}, { COPILOT_HOME: join(home, '.copilot') })).toBe(true)
  expect(await acts({}, { COPILOT_HOME: '/elsewhere' })).toBe(false)
})
