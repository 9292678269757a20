/** The circuit breaker of a host's session (P8), kept between hooks that their own are processes. */

import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { runHookCommand } from '../../../src/agents/hook/run.ts'
import { breakerOpenFor, hookMemory, noteCall, noteLoose } from '../../../src/agents/hook/session.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { claude, codex, effectOf, type HookWorld, MANIFEST, openHookWorld } from './world.ts'

const BREAKER = { failures: 3, cooldown: 30 }

let world: HookWorld
beforeAll(async () => {
  world = await openHookWorld(`${MANIFEST}[rings.breaker]\nfailures = 3\ncooldown = "70s"\n`)
})
beforeEach(() => world.forget())
afterAll(() => world.close())

const key = (session: string | null, root = '/p') => ({
  directory: join(world.machine.stateDir, 'hook-sessions'),
  host: 'codex',
  session,
  root,
})
const push = (session: string): object => codex('Bash', { command: 'git push' }, { session_id: session })
const list = (session: string): object => codex('Bash', { command: 'ls' }, { session_id: session })
const effect = async (input: object) => effectOf('codex', await world.ask('codex', input))

it('opens after a run of denials, for that session alone', async () => {
  for (let count = 0; count < 3; count++) await effect(push('a'))
  const answer = await world.ask('codex', list('a'))
  expect(effectOf('codex', answer)).toBe('deny')
  expect(answer.stdout).toMatch(/circuit breaker is open for (?:70|6\d) s/)
  expect(await effect(list('b'))).toBe('sandboxed')
})

/** Runs what the hook put into the sandbox. */
async function runs(command: string, session: string): Promise<number | string> {
  const { machine, project: root } = world
  const io = { stdout: 'capture', stderr: 'capture' } as const
  const result = await runHookCommand({ machine, files: machineFiles, host: 'codex', root, session, command, io })
  return 'denied' in result ? result.denied : result.exitCode
}

it('is closed by a command that goes well in between, and then nothing is kept', async () => {
  for (let round = 0; round < 3; round++) {
    for (let count = 0; count < 2; count++) await effect(push('a'))
    expect(await effect(list('a'))).toBe('sandboxed')
    expect(await runs('ls', 'a')).toBe(0)
  }
  expect(existsSync(key('a').directory)).toBe(false)
})

it('does not count commands that fail: mending tests is ordinary work', async () => {
  for (const command of ['false', 'exit 3', 'grep -q nothing src/a.ts', 'false', 'false']) {
    expect(await effect(list('a'))).toBe('sandboxed')
    expect(await runs(command, 'a')).toBeGreaterThan(0)
  }
  expect(await effect(list('a'))).toBe('sandboxed')
})

it('does not count asks, which say nothing about the agent', async () => {
  const ask = claude('Bash', { command: 'cat .env' })
  for (let count = 0; count < 5; count++)
    expect(effectOf('claude-code', await world.ask('claude-code', ask))).toBe('ask')
  expect(existsSync(key('a').directory)).toBe(false)
})

it('writes nothing for a session without a denial', async () => {
  await effect(list('a'))
  expect(existsSync(key('a').directory)).toBe(false)
})

it('lets one probe through after the pause; a denied one opens it again', () => {
  for (let count = 0; count < 3; count++) noteCall(key('a'), BREAKER, 'bad', 1000)
  expect(breakerOpenFor(hookMemory(key('a')), 1000)).toBe(30)
  expect(breakerOpenFor(hookMemory(key('a')), 31_000)).toBeNull()
  noteCall(key('a'), BREAKER, 'bad', 31_000)
  expect(breakerOpenFor(hookMemory(key('a')), 32_000)).toBe(29)
  noteCall(key('a'), BREAKER, 'good', 62_000)
  expect(existsSync(key('a').directory)).toBe(false)
})

it('is not kept open by what it turned away', () => {
  for (let count = 0; count < 3; count++) noteCall(key('a'), BREAKER, 'bad', 0)
  noteCall(key('a'), BREAKER, 'bad', 29_000)
  expect(breakerOpenFor(hookMemory(key('a')), 30_000)).toBeNull()
})

it('keeps projects, sessions and hosts apart, whatever they are called', () => {
  const keys = [
    key('a'),
    key('b'),
    key(null),
    key('null'),
    key('../a'),
    key('a', '/q'),
    { ...key('a'), host: 'gemini' },
  ]
  noteLoose(keys[0]!, 'x', 0)
  expect(keys.map((one) => hookMemory(one).loose !== undefined)).toEqual([
    true,
    false,
    false,
    false,
    false,
    false,
    false,
  ])
})

it('forgets sessions that ended long ago', () => {
  noteLoose(key('old'), 'x', 0)
  noteLoose(key('new'), 'x', Date.now() + 8 * 24 * 3600 * 1000)
  expect(hookMemory(key('old')).loose).toBeUndefined()
})

it('blocks when what is remembered makes no sense', async () => {
  for (let count = 0; count < 3; count++) await effect(push('a'))
  const [name] = readdirSync(key('a').directory)
  writeFileSync(join(key('a').directory, name!), '{"version":1,"breaker":{"inARow":"0","openUntil":null}}')
  expect(await effect(list('a'))).toBe('block')
})
