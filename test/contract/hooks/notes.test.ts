/** What is dangerous about a set-up is reported to the person by hooks as well, once a session (P5). */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { answerHook } from '../../../src/surfaces/hook/answer-hook.ts'
import { findHost, type HostName } from '../../../src/surfaces/hook/hosts/hosts.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { claude, codex, gemini, type HookWorld, MANIFEST, opencode, openHookWorld } from './world.ts'

const NOTES = 'mode "auto"'

let world: HookWorld
beforeAll(async () => {
  world = await openHookWorld(MANIFEST.replace('"contained"', '"auto"'))
})
beforeEach(() => world.forget())
afterAll(() => world.close())

const inSession = (session: string): Readonly<Partial<Record<HostName, object>>> => ({
  'claude-code': claude('Bash', { command: 'ls' }, { session_id: session }),
  codex: codex('Bash', { command: 'ls' }, { session_id: session }),
  gemini: gemini('run_shell_command', { command: 'ls' }, { session_id: session }),
})

it.each(['claude-code', 'codex', 'gemini'] as const)('%s shows them beside its answer', async (host) => {
  const first = await world.ask(host, inSession('a')[host]!)
  const { systemMessage, ...answer } = JSON.parse(first.stdout)
  expect([first.exitCode, first.stderr]).toEqual([0, ''])
  expect(systemMessage).toMatch(/^cordon: /)
  expect(systemMessage).toContain(NOTES)
  // The answer is the one that it would have been.
  const second = await world.ask(host, inSession('a')[host]!)
  expect(JSON.parse(second.stdout)).toEqual(answer)
  const other = await world.ask(host, inSession('b')[host]!)
  expect(JSON.parse(other.stdout).systemMessage).toContain(NOTES)
})

it('a host that has no word for its person finds them among what hooks complain of', async () => {
  const input = opencode('bash', { command: 'ls' })
  const first = await world.ask('opencode', input)
  expect([first.exitCode, first.stderr]).toEqual([0, expect.stringContaining(NOTES)])
  expect(JSON.parse(first.stdout)).not.toHaveProperty('systemMessage')
  expect((await world.ask('opencode', input)).stderr).toBe('')
})

it('they are repeated when they change', async () => {
  await world.ask('codex', inSession('a').codex!)
  writeFileSync(
    join(world.project, 'cordon.toml'),
    `${MANIFEST.replace('"contained"', '"auto"')}[http]\nallow_private_hosts = true\n`,
  )
  await world.sign()
  const { stdout } = await world.ask('codex', inSession('a').codex!)
  expect(stdout).toContain('private and internal hosts')
})

it('root is reported', async () => {
  const setting = {
    files: machineFiles,
    root: world.project,
    cordon: ['/opt/cordon'],
    inside: false,
    commandLines: () => [],
  }
  const text = JSON.stringify(inSession('r').codex).replaceAll('$P', world.project)
  const ask = (isRoot: boolean) =>
    answerHook(findHost('codex')!, text, { ...setting, machine: { ...world.machine, isRoot } })
  expect((await ask(false)).stdout).not.toContain('as root')
  expect((await ask(true)).stdout).toContain('Cordon runs as root')
})
