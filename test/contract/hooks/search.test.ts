/** Searches of the hosts' own tools: what may not be read is left out of them, and they go on. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { HostName } from '../../../src/surfaces/hook/hosts/hosts.ts'
import {
  claude,
  cline,
  copilot,
  type Effect,
  effectOf,
  gemini,
  type HookWorld,
  opencode,
  openHookWorld,
  qwen,
} from './world.ts'

let world: HookWorld

beforeAll(async () => {
  world = await openHookWorld()
  writeFileSync(join(world.project, 'private/notes.md'), 'x\n')
  mkdirSync(join(world.project, 'odd name'))
  writeFileSync(join(world.project, 'odd name/.env'), 'TOKEN=1\n')
  writeFileSync(join(world.project, 'odd name/a.ts'), 'export {}\n')
})
afterAll(() => world.close())

const ALL = ['.env', 'private/**', 'odd*name/.env', 'secrets/**']
const narrowing = (tool: string, args: object): object => ({ ...opencode(tool, args), narrows: true })

interface Row {
  readonly note: string
  readonly host: HostName
  readonly input: object
  readonly expect: Effect
}

const ROWS: readonly Row[] = [
  { note: 'all of the project', host: 'claude-code', input: claude('Grep', { pattern: 'T' }), expect: 'narrowed' },
  {
    note: 'a filter that could reach them',
    host: 'claude-code',
    input: claude('Grep', { pattern: 'T', glob: '.*' }),
    expect: 'narrowed',
  },
  {
    note: 'a filter by another ending',
    host: 'claude-code',
    input: claude('Grep', { pattern: 'T', glob: '**/*.{ts,tsx}' }),
    expect: 'pass',
  },
  {
    note: 'the secret itself',
    host: 'claude-code',
    input: claude('Grep', { pattern: 'T', path: '.env' }),
    expect: 'ask',
  },
  { note: 'outside', host: 'claude-code', input: claude('Grep', { pattern: 'T', path: '/root' }), expect: 'deny' },
  { note: 'all of the project', host: 'gemini', input: gemini('grep_search', { pattern: 'T' }), expect: 'narrowed' },
  {
    note: 'its own filter, which is one glob',
    host: 'gemini',
    input: gemini('grep_search', { pattern: 'T', include_pattern: '.*' }),
    expect: 'deny',
  },
  {
    note: 'the ending of a secret',
    host: 'gemini',
    input: gemini('grep_search', { pattern: 'T', include_pattern: '*.ENV' }),
    expect: 'deny',
  },
  {
    note: 'another ending',
    host: 'gemini',
    input: gemini('grep_search', { pattern: 'T', include_pattern: '*.ts' }),
    expect: 'pass',
  },
  { note: 'all of the project', host: 'opencode', input: narrowing('grep', { pattern: 'T' }), expect: 'narrowed' },
  { note: 'a plugin of an earlier build', host: 'opencode', input: opencode('grep', { pattern: 'T' }), expect: 'deny' },
  { note: 'all of the project', host: 'pi', input: narrowing('grep', { pattern: 'T' }), expect: 'narrowed' },
  { note: 'another ending', host: 'qwen', input: qwen('grep_search', { pattern: 'T', glob: '*.ts' }), expect: 'pass' },
  { note: 'all of the project', host: 'qwen', input: qwen('grep_search', { pattern: 'T' }), expect: 'deny' },
  { note: 'all of the project', host: 'copilot', input: copilot('grep', { pattern: 'T' }), expect: 'narrowed' },
  {
    note: 'all of the project, by its other name, in several places',
    host: 'copilot',
    input: copilot('rg', { pattern: 'T', paths: ['src', 'odd name'] }),
    expect: 'narrowed',
  },
  {
    note: 'its own filter, which is one glob',
    host: 'copilot',
    input: copilot('rg', { pattern: 'T', glob: '.*' }),
    expect: 'deny',
  },
  { note: 'the secret itself', host: 'copilot', input: copilot('rg', { pattern: 'T', paths: '.env' }), expect: 'deny' },
  {
    note: 'the secret itself among places',
    host: 'copilot',
    input: copilot('rg', { pattern: 'T', paths: ['src', '.env'] }),
    expect: 'deny',
  },
  { note: 'all of the project', host: 'cline', input: cline('search_codebase', { queries: ['T'] }), expect: 'deny' },
]

it.each(ROWS)('$host: $note', async ({ host, input, expect: effect }) => {
  const answer = await world.ask(host, input)
  expect([effectOf(host, answer), answer.stdout]).toEqual([effect, expect.anything()])
})

it('Claude Code: the globs come after the agent’s own, and it is said', async () => {
  const { stdout } = await world.ask('claude-code', claude('Grep', { pattern: 'T', glob: '.env' }))
  const { updatedInput, additionalContext } = JSON.parse(stdout).hookSpecificOutput
  const [first, ...excluded] = updatedInput.glob.split(' ')
  expect(first).toBe('.env')
  expect(excluded.toSorted()).toEqual(ALL.map((glob) => `!**/${glob}`).toSorted())
  expect(additionalContext).toContain('left out of this search')
})

it('hosts with one glob have all of them in it', async () => {
  const { stdout } = await world.ask('gemini', gemini('grep_search', { pattern: 'T' }))
  const { include_pattern } = JSON.parse(stdout).hookSpecificOutput.tool_input
  const [, inside] = /^!\*\*\/\{(.*)\}$/.exec(include_pattern)!
  expect(inside!.split(',').toSorted()).toEqual(ALL.toSorted())
})
