/** Tools that agents got after their row was written: they ask, and the paths and hosts in their input are judged as in any other call. */

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { unknownTools } from '../../../src/agents/hook/unknown-tools.ts'
import type { HostName } from '../../../src/surfaces/hook/hosts/hosts.ts'
import {
  claude,
  codex,
  copilot,
  type Effect,
  effectOf,
  type HookWorld,
  MANIFEST,
  opencode,
  openHookWorld,
  patch,
} from '../../contract/hooks/world.ts'

let world: HookWorld
beforeAll(async () => {
  world = await openHookWorld(
    MANIFEST.replace('[permission.tools]', '[permission.tools]\nGranted = "allow"').concat(
      '\n[security]\ndeny_domains = ["shut.example"]\n',
    ),
  )
})
beforeEach(() => world.forget())
afterAll(() => world.close())

interface Row {
  readonly note: string
  readonly host: HostName
  readonly input: object
  readonly expect: Effect
}

const unknown = (input: object): Pick<Row, 'host' | 'input'> => ({
  host: 'claude-code',
  input: claude('NewTool', input),
})

const server = (input: object): Pick<Row, 'host' | 'input'> => ({
  host: 'claude-code',
  input: claude('mcp__known__list', input),
})

const rows: readonly Row[] = [
  {
    note: 'an allowed tool of a server, the control',
    ...server({ path: 'src/a.ts', body: 'a private/x' }),
    expect: 'pass',
  },
  { note: 'an allowed tool of a server, a denied file', ...server({ path: 'private/x' }), expect: 'deny' },
  { note: 'the same by a path that climbs', ...server({ at: [{ file: ' src/../private/x ' }] }), expect: 'deny' },
  { note: 'the same as an escaped address', ...server({ uri: 'file://$P/private%2Fx' }), expect: 'deny' },
  { note: 'an allowed tool of a server, a denied host', ...server({ url: 'https://shut.example/x' }), expect: 'deny' },
  {
    note: 'the same with a login and capitals',
    ...server({ to: ['HTTPS://good.example@Shut.Example./'] }),
    expect: 'deny',
  },
  { note: 'the same in two readings', ...server({ url: 'https://shut.example\\@good.example/' }), expect: 'deny' },
  { note: 'another host', ...server({ url: 'https://good.example/?from=shut.example' }), expect: 'pass' },
  { note: 'the control: nothing in it that a rule is about', ...unknown({ words: 'a b' }), expect: 'ask' },
  { note: 'a file of the project', ...unknown({ path: 'src/a.ts' }), expect: 'ask' },
  { note: 'a denied file', ...unknown({ path: 'private/x' }), expect: 'deny' },
  { note: 'a denied file in an unheard-of field', ...unknown({ where: { it: ['./private/x'] } }), expect: 'deny' },
  { note: 'a denied file as an address', ...unknown({ uri: 'file://$P/private/x' }), expect: 'deny' },
  { note: 'a denied file by a name in camel case', ...unknown({ targetFile: 'private/x' }), expect: 'deny' },
  { note: 'a denied file by a path that climbs', ...unknown({ file: 'src/../private/x' }), expect: 'deny' },
  { note: 'what git runs', ...unknown({ path: '.git/hooks/pre-commit' }), expect: 'deny' },
  {
    note: 'what git runs, by a name that reads',
    host: 'claude-code',
    input: claude('get_file_contents', { path: '.git/hooks/pre-commit' }),
    expect: 'ask',
  },
  {
    note: 'what git runs, by a name that reads and writes',
    host: 'claude-code',
    input: claude('readAndWrite', { path: '.git/hooks/pre-commit' }),
    expect: 'deny',
  },
  { note: 'a denied command', ...unknown({ command: 'git push' }), expect: 'deny' },
  { note: 'a denied command in words', ...unknown({ argv: ['git', 'push'] }), expect: 'deny' },
  { note: 'a denied command among several', ...unknown({ commands: ['ls', 'git push'] }), expect: 'deny' },
  { note: 'an address of the cloud', ...unknown({ target: 'http://169.254.169.254/' }), expect: 'deny' },
  { note: 'a patch', ...unknown({ text: patch('.git/hooks/pre-commit') }), expect: 'deny' },
  { note: 'more than can be judged', ...unknown({ list: Array.from({ length: 600 }, () => 'x') }), expect: 'block' },
  {
    note: 'a level that allows it, and a denied file',
    host: 'claude-code',
    input: claude('Granted', { path: 'private/x' }),
    expect: 'deny',
  },
  {
    note: 'a level that allows it, the control',
    host: 'claude-code',
    input: claude('Granted', { path: 'src/a.ts' }),
    expect: 'pass',
  },
  { note: 'a tool of a plugin', host: 'opencode', input: opencode('deploy', { dir: 'private' }), expect: 'deny' },
  // Codex 0.169 with gpt-6.1-sol: a namespace and a name in one word.
  { note: 'a clock', host: 'codex', input: codex('clockcurr_time', {}), expect: 'pass' },
  { note: 'a pause', host: 'codex', input: codex('clocksleep', { duration_ms: 10 }), expect: 'pass' },
  {
    note: 'a sub-agent',
    host: 'codex',
    input: codex('collaborationspawn_agent', { task_name: 'x', message: 'hello' }),
    expect: 'pass',
  },
  {
    note: 'a message to one',
    host: 'codex',
    input: codex('collaborationsend_message', { target: 'x', message: 'hello' }),
    expect: 'pass',
  },
  {
    note: 'a sub-agent that is handed a secret',
    host: 'codex',
    input: codex('collaborationspawn_agent', { task_name: 'x', message: 'y', items: [{ path: '.env' }] }),
    expect: 'deny',
  },
  { note: 'a question', host: 'codex', input: codex('request_user_input_async', { questions: [] }), expect: 'pass' },
  // Copilot CLI 1.0.102 on the wire of responses: the patch is not JSON.
  {
    note: 'a patch as plain text',
    host: 'copilot',
    input: copilot('apply_patch', patch('src/new.ts')),
    expect: 'pass',
  },
  {
    note: 'a patch as plain text of a protected file',
    host: 'copilot',
    input: copilot('apply_patch', patch('.git/hooks/pre-commit')),
    expect: 'deny',
  },
  {
    note: 'a patch as plain text, outside',
    host: 'copilot',
    input: copilot('apply_patch', patch('/etc/x')),
    expect: 'deny',
  },
  { note: 'plain text that is not a patch', host: 'copilot', input: copilot('apply_patch', 'hello'), expect: 'block' },
  { note: 'plain text of another tool', host: 'copilot', input: copilot('create', 'hello'), expect: 'block' },
]

it.each(rows)('$host: $note -> $expect', async ({ host, input, expect: expected }) => {
  expect(effectOf(host, await world.ask(host, input))).toBe(expected)
})

it('keeps the names for doctor: of tools without a row, once each, and not of servers’', async () => {
  for (const name of ['NewTool', 'Other\nTool', 'mcp__server__thing', 'Read']) {
    await world.ask('claude-code', claude(name, { path: 'src/a.ts' }))
  }
  expect(unknownTools(world.machine.stateDir, 'claude-code')).toEqual(expect.arrayContaining(['NewTool', 'Other Tool']))
  expect(unknownTools(world.machine.stateDir, 'claude-code').join()).not.toMatch(/mcp__|Read,/)
  appendFileSync(join(world.machine.stateDir, 'unknown-tools/claude-code'), 'NewTool\n')
  expect(unknownTools(world.machine.stateDir, 'claude-code').filter((name) => name === 'NewTool')).toHaveLength(1)
})
