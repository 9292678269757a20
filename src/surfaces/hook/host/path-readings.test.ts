/** Spellings by which the real hosts open another file than the one that is written: each was seen to work without this. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  claude,
  codex,
  cursor,
  type Effect,
  effectOf,
  gemini,
  type HookWorld,
  opencode,
  openHookWorld,
} from '../../../../test/contract/hooks/world.ts'
import type { HostName } from '../hosts/hosts.ts'
import { decodes, dropsAt, pathForms, trims } from './path-readings.ts'

const MANIFEST = `schema_version = 1
[permission]
mode = "contained"
[capabilities.deny.read]
paths = ["private/**", "café/**"]
[capabilities.deny.write]
paths = ["private/**"]
[permission.tools]
glob = "deny"
[http]
allowed_hosts = ["good.example"]
`

let world: HookWorld
beforeAll(async () => {
  world = await openHookWorld(MANIFEST)
  const { project } = world
  mkdirSync(join(project, 'src/a/b'), { recursive: true })
  mkdirSync(join(project, '~'))
  writeFileSync(join(project, 'private/x.txt'), 'x\n')
  writeFileSync(join(project, 'src/here.txt'), 'x\n')
  symlinkSync('../src/a/b', join(project, 'private/down'))
  symlinkSync('src/a/b', join(project, 'down'))
  symlinkSync('/etc', join(project, '~/outside'))
})
beforeEach(() => world.forget())
afterAll(() => world.close())

const wrapped = (before: string, header: string, after = ''): string =>
  `${before}*** Begin Patch\n${header}\n+x\n*** End Patch\n${after}`
const diff = '--- a/ok.txt\n+++ b/ok.txt\n@@ -1 +1 @@\n-a\n+b\n'

const rows: readonly { note: string; host: HostName; input: object; expect: Effect }[] = [
  {
    note: '".." behind a link, taken away by the letters',
    host: 'gemini',
    input: gemini('read_file', { file_path: 'private/down/../x.txt' }),
    expect: 'deny',
  },
  {
    note: 'the same in opencode',
    host: 'opencode',
    input: opencode('read', { filePath: 'private/down/../x.txt' }),
    expect: 'deny',
  },
  {
    note: 'the same in a patch',
    host: 'codex',
    input: codex('apply_patch', { command: wrapped('', '*** Add File: private/down/../y.txt') }),
    expect: 'deny',
  },
  {
    note: 'out of the project behind a link',
    host: 'codex',
    input: codex('apply_patch', { command: wrapped('', '*** Add File: down/../../out.txt') }),
    expect: 'deny',
  },
  {
    note: 'a move out of it',
    host: 'codex',
    input: codex('apply_patch', {
      command:
        '*** Begin Patch\n*** Update File: src/a.ts\n*** Move to: down/../../out.txt\n@@\n-a\n+b\n*** End Patch\n',
    }),
    expect: 'deny',
  },
  {
    note: 'a directory for a command',
    host: 'gemini',
    input: gemini('run_shell_command', { command: 'ls', dir_path: 'down/../..' }),
    expect: 'deny',
  },
  {
    note: 'a search behind a link',
    host: 'gemini',
    input: gemini('grep_search', { pattern: 'x', dir_path: 'private/down/..' }),
    expect: 'deny',
  },
  {
    note: 'a link that stays inside',
    host: 'gemini',
    input: gemini('read_file', { file_path: 'down/../here.txt' }),
    expect: 'pass',
  },
  {
    note: 'a mark before the name',
    host: 'gemini',
    input: gemini('read_file', { file_path: '@private/x.txt' }),
    expect: 'deny',
  },
  {
    note: 'and one with a slash',
    host: 'gemini',
    input: gemini('read_file', { file_path: '@/private/x.txt' }),
    expect: 'deny',
  },
  {
    note: 'percent signs',
    host: 'gemini',
    input: gemini('read_file', { file_path: 'private%2fx.txt' }),
    expect: 'deny',
  },
  { note: 'twice', host: 'gemini', input: gemini('read_file', { file_path: 'private%252fx.txt' }), expect: 'deny' },
  { note: 'an address', host: 'gemini', input: gemini('read_file', { file_path: 'file://$P/.env' }), expect: 'deny' },
  { note: 'NUL', host: 'gemini', input: gemini('read_file', { file_path: 'pri\0vate/x.txt' }), expect: 'deny' },
  {
    note: 'a percent sign that means nothing',
    host: 'gemini',
    input: gemini('read_file', { file_path: 'src/100%.txt' }),
    expect: 'pass',
  },
  {
    note: 'a package of a scope',
    host: 'gemini',
    input: gemini('read_file', { file_path: '@types/a.ts' }),
    expect: 'pass',
  },
  {
    note: 'an edit of a name that is looked for everywhere',
    host: 'gemini',
    input: gemini('replace', { file_path: 'x.txt', old_string: 'a', new_string: 'b' }),
    expect: 'block',
  },
  {
    note: 'an edit of a name that is there',
    host: 'gemini',
    input: gemini('replace', { file_path: 'src/here.txt', old_string: 'a', new_string: 'b' }),
    expect: 'pass',
  },
  {
    note: 'an edit that makes a file, by its whole path',
    host: 'gemini',
    input: gemini('replace', { file_path: '$P/src/new.txt', old_string: '', new_string: 'b' }),
    expect: 'pass',
  },
  { note: 'names of files', host: 'claude-code', input: claude('Glob', { pattern: '*' }), expect: 'deny' },
  { note: 'a directory', host: 'claude-code', input: claude('LS', { path: '$P/src' }), expect: 'pass' },
  { note: 'blanks before', host: 'claude-code', input: claude('Read', { file_path: ' $P/.env' }), expect: 'ask' },
  { note: 'blanks behind', host: 'claude-code', input: claude('Read', { file_path: '$P/.env\n' }), expect: 'ask' },
  {
    note: 'letters in two pieces',
    host: 'claude-code',
    input: claude('Read', { file_path: '$P/cafe\u0301/x' }),
    expect: 'deny',
  },
  {
    note: 'a folder called ~',
    host: 'opencode',
    input: opencode('read', { filePath: '~/outside/passwd' }),
    expect: 'deny',
  },
  {
    note: 'the directory of the host itself',
    host: 'opencode',
    input: opencode('read', { filePath: '/proc/self/cwd/src/a.ts' }),
    expect: 'deny',
  },
  {
    note: 'a blank that only Rust takes away',
    host: 'codex',
    input: codex('apply_patch', { command: wrapped('', '*** Update File: cordon.toml\u0085\n@@\n-x') }),
    expect: 'deny',
  },
  {
    note: 'words before the patch, and a diff behind it',
    host: 'opencode',
    input: opencode('apply_patch', {
      patchText: wrapped('words\n', '*** Add File: .git/hooks/pre-push', diff),
    }),
    expect: 'block',
  },
  {
    note: 'a patch in a here-document',
    host: 'codex',
    input: codex('apply_patch', {
      command: wrapped('<<EOF\n', `*** Add File: .git/hooks/pre-push\n+x\n*** Update File: ok.txt\n@@\n${diff}`, 'EOF'),
    }),
    expect: 'block',
  },
  { note: 'a diff', host: 'codex', input: codex('apply_patch', { command: diff }), expect: 'block' },
  {
    note: 'a patch with blanks around it',
    host: 'codex',
    input: codex('apply_patch', { command: `\n ${wrapped('', '*** Add File: src/b.ts')}` }),
    expect: 'pass',
  },
  {
    note: 'a name before a bracket that is not a host',
    host: 'gemini',
    input: gemini('web_fetch', { prompt: 'read https://good.example(@evil.example/' }),
    expect: 'deny',
  },
  {
    note: 'one slash, and the two elsewhere',
    host: 'gemini',
    input: gemini('web_fetch', { prompt: 'read https://good.example http:/evil.example/x://' }),
    expect: 'deny',
  },
  {
    note: 'a page in brackets',
    host: 'gemini',
    input: gemini('web_fetch', { prompt: 'read (https://good.example/a)' }),
    expect: 'pass',
  },
  {
    note: 'an address for Cursor, whose habits nobody knows',
    host: 'cursor',
    input: cursor('beforeReadFile', { file_path: 'file://$P/private/x.txt', content: '' }),
    expect: 'deny',
  },
]

describe('a path is judged as its host will read it', () => {
  it.each(rows)('$host: $note', async ({ host, input, expect: expected }) => {
    const answer = await world.ask(host, input)
    expect(effectOf(host, answer), answer.stdout || answer.stderr).toBe(expected)
  })
})

describe('the forms of a path', () => {
  const place = { cwd: '/p', home: '/h', habits: [trims, dropsAt, decodes] }
  it.each([
    ['src/a.ts', ['src/a.ts']],
    [' @%2eenv ', [' @%2eenv ', '@%2eenv', '%2eenv', ' @.env ', '@.env', '.env']],
    ['a/../b', ['a/../b', '/p/b']],
    ['~/a', ['~/a', '/p/~/a']],
    ['~/../a', ['~/../a', '/p/a', '/a']],
    ['  ', ['  ', '/p']],
    ['@', ['@']],
    ['/proc/self/cwd/a', ['/proc/self/cwd/a', '/proc/1']],
    ['/procs/a', ['/procs/a']],
  ])('%j', (path, forms) => {
    expect(pathForms(path, place)).toEqual(forms)
  })
})
