/** What a host keeps for its agent (saved output, background output) can be read, in this session alone. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { runHookCommand } from '../../../src/agents/hook/run.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { claude, effectOf, gemini, type HookWorld, openHookWorld } from './world.ts'

const SESSION = '751cf2be-7369-4ae9-8587-875939e4e370'
const OTHER = '00000000-7369-4ae9-8587-875939e4e370'

let world: HookWorld
beforeAll(async () => {
  world = await openHookWorld()
  for (const session of [SESSION, OTHER]) {
    put(join(claudeFolder(session), 'tool-results/a.txt'), 'saved\n')
    put(join(geminiFolder(session), 'a.txt'), 'saved\n')
  }
  put(join(world.machine.home, '.ssh/id_ed25519'), 'secret\n')
  symlinkSync(join(world.machine.home, '.ssh/id_ed25519'), join(claudeFolder(SESSION), 'tool-results/link.txt'))
})
afterAll(() => world.close())
beforeEach(() => world.forget())

const claudeFolder = (session: string): string => join(world.machine.home, '.claude/projects/-p', session)
const geminiFolder = (session: string): string =>
  join(world.machine.home, '.gemini/tmp/p/tool-outputs', `session-${session}`)

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const inClaude = (tool: string, input: object) =>
  claude(tool, input, {
    session_id: SESSION,
    transcript_path: `${claudeFolder(SESSION)}.jsonl`,
    permission_mode: 'bypassPermissions',
  })
const inGemini = (tool: string, input: object) =>
  gemini(tool, input, { session_id: SESSION, transcript_path: join(dirname(geminiFolder('')), '../chats/x.json') })

it.each([
  ['what was saved', () => join(claudeFolder(SESSION), 'tool-results/a.txt'), 'pass'],
  ['what another session saved', () => join(claudeFolder(OTHER), 'tool-results/a.txt'), 'deny'],
  ['what a link there points to', () => join(claudeFolder(SESSION), 'tool-results/link.txt'), 'deny'],
  ['what lies beside it', () => join(claudeFolder(SESSION), '../secrets.txt'), 'deny'],
])('Claude Code reads %s: %s', async (_, path, effect) => {
  expect(effectOf('claude-code', await world.ask('claude-code', inClaude('Read', { file_path: path() })))).toBe(effect)
})

it('only to read', async () => {
  const input = inClaude('Write', { file_path: join(claudeFolder(SESSION), 'tool-results/a.txt'), content: 'x' })
  expect(effectOf('claude-code', await world.ask('claude-code', input))).toBe('deny')
})

it.each([
  ['what was saved', SESSION, 'pass'],
  ['what another session saved', OTHER, 'deny'],
])('Gemini CLI reads %s', async (_, session, effect) => {
  const input = inGemini('read_file', { file_path: join(geminiFolder(session), 'a.txt') })
  expect(effectOf('gemini', await world.ask('gemini', input))).toBe(effect)
})

it('a command finds it as well, and cannot change it', async () => {
  const run = async (command: string, folders: readonly string[]) => {
    const stdout = new PassThrough()
    const result = await runHookCommand({
      machine: world.machine,
      files: machineFiles,
      host: 'claude-code',
      session: SESSION,
      root: world.project,
      folders,
      command,
      io: { stdin: 'none', stdout, stderr: 'discard' },
    })
    stdout.end()
    const said = Buffer.concat(await stdout.toArray()).toString()
    return 'denied' in result ? result.denied : `${result.exitCode} ${said}`
  }
  const file = join(claudeFolder(SESSION), 'tool-results/a.txt')
  expect(await run(`cat ${file}`, [claudeFolder(SESSION)])).toBe('0 saved\n')
  expect(await run(`cat ${file}`, [])).toContain('outside the project')
  expect(await run(`cp ${file} ${file}.2`, [claudeFolder(SESSION)])).toContain('is protected')
})
