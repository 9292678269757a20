/** The protocol of every host as a table: what comes in, and exactly what must go out. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CONTRACT } from '../../../test/contract/hooks/host-contract.ts'
import {
  claude,
  codex,
  cursor,
  type Effect,
  effectOf,
  gemini,
  type HookWorld,
  MANIFEST,
  opencode,
  openHookWorld,
  patch,
} from '../../../test/contract/hooks/world.ts'
import type { HookAnswer } from './answer-hook.ts'
import { HOST_NAMES, type HostName } from './hosts/hosts.ts'

interface Row {
  readonly note: string
  readonly host: HostName
  readonly input: unknown
  readonly expect: Effect
}

let world: HookWorld
beforeAll(async () => {
  world = await openHookWorld()
})
// Each row has its own session: the memory of earlier rows would open its breaker.
beforeEach(() => world.forget())
afterAll(() => world.close())

const rows: readonly Row[] = [
  { note: 'a harmless command', host: 'claude-code', input: claude('Bash', { command: 'ls' }), expect: 'sandboxed' },
  { note: 'Monitor runs shell', host: 'claude-code', input: claude('Monitor', { command: 'ls' }), expect: 'sandboxed' },
  {
    note: 'Monitor with a socket',
    host: 'claude-code',
    input: claude('Monitor', { command: 'ls', ws: { url: 'wss://evil.example' } }),
    expect: 'block',
  },
  { note: 'a directory of nowhere', host: 'claude-code', input: claude('LS', {}, { cwd: 'src' }), expect: 'block' },
  { note: 'no directory', host: 'codex', input: codex('Bash', { command: 'ls' }, { cwd: '' }), expect: 'block' },
  {
    note: 'a subagent',
    host: 'gemini',
    input: gemini('invoke_agent', { agent_name: 'x', prompt: 'y' }),
    expect: 'pass',
  },
  { note: 'a topic', host: 'gemini', input: gemini('update_topic', { title: 'x' }), expect: 'pass' },
  { note: 'a denied command', host: 'claude-code', input: claude('Bash', { command: 'git push' }), expect: 'deny' },
  {
    note: 'hidden in a wrapper',
    host: 'claude-code',
    input: claude('Bash', { command: 'env git push' }),
    expect: 'deny',
  },
  { note: 'no bash at all', host: 'claude-code', input: claude('Bash', { command: 'ls (' }), expect: 'deny' },
  { note: 'sudo', host: 'claude-code', input: claude('Bash', { command: 'sudo ls' }), expect: 'deny' },
  { note: 'an ask', host: 'claude-code', input: claude('Bash', { command: 'cat .env' }), expect: 'ask' },
  {
    note: 'an ask that nobody would see',
    host: 'claude-code',
    input: claude('Bash', { command: 'cat .env' }, { permission_mode: 'bypassPermissions' }),
    expect: 'deny',
  },
  {
    note: 'an ask in a mode nobody knows',
    host: 'claude-code',
    input: claude('Bash', { command: 'cat .env' }, { permission_mode: 'yolo' }),
    expect: 'deny',
  },
  { note: 'a read', host: 'claude-code', input: claude('Read', { file_path: '$P/src/a.ts' }), expect: 'pass' },
  { note: 'a secret', host: 'claude-code', input: claude('Read', { file_path: '$P/.env' }), expect: 'ask' },
  { note: 'a link to it', host: 'claude-code', input: claude('Read', { file_path: '$P/src/link.txt' }), expect: 'ask' },
  { note: 'a denied read', host: 'claude-code', input: claude('Read', { file_path: '$P/private/x' }), expect: 'deny' },
  {
    note: 'outside',
    host: 'claude-code',
    input: claude('Write', { file_path: '/etc/x', content: '' }),
    expect: 'deny',
  },
  {
    note: 'its own settings',
    host: 'claude-code',
    input: claude('Write', { file_path: '$P/.claude/settings.local.json', content: '{}' }),
    expect: 'deny',
  },
  { note: 'the manifest', host: 'claude-code', input: claude('Edit', { file_path: '$P/cordon.toml' }), expect: 'deny' },
  {
    note: 'a write',
    host: 'claude-code',
    input: claude('Write', { file_path: '$P/b.ts', content: '' }),
    expect: 'pass',
  },
  {
    note: 'several edits',
    host: 'claude-code',
    input: claude('MultiEdit', { file_path: '$P/src/a.ts', edits: [] }),
    expect: 'pass',
  },
  {
    note: 'a notebook',
    host: 'claude-code',
    input: claude('NotebookEdit', { notebook_path: '/etc/n.ipynb' }),
    expect: 'deny',
  },
  {
    note: 'a search that would read a secret',
    host: 'claude-code',
    input: claude('Grep', { pattern: 'TOKEN' }),
    expect: 'narrowed',
  },
  {
    note: 'a search beside it',
    host: 'claude-code',
    input: claude('Grep', { pattern: 'x', path: '$P/src' }),
    expect: 'pass',
  },
  {
    note: 'a search by its filter',
    host: 'claude-code',
    input: claude('Grep', { pattern: 'x', path: '$P/src', glob: '../secrets/*' }),
    expect: 'narrowed',
  },
  { note: 'names', host: 'claude-code', input: claude('Glob', { pattern: '**/*.ts' }), expect: 'pass' },
  {
    note: 'names elsewhere by the glob',
    host: 'claude-code',
    input: claude('Glob', { pattern: '/root/**' }),
    expect: 'deny',
  },
  { note: 'names elsewhere by ..', host: 'claude-code', input: claude('Glob', { pattern: '../../*' }), expect: 'deny' },
  {
    note: '.. behind a wildcard',
    host: 'claude-code',
    input: claude('Glob', { pattern: '*/../../*' }),
    expect: 'block',
  },
  { note: 'paths in braces', host: 'claude-code', input: claude('Glob', { pattern: '{a,../b}' }), expect: 'block' },
  {
    note: 'a private address',
    host: 'claude-code',
    input: claude('WebFetch', { url: 'http://169.254.169.254/', prompt: '' }),
    expect: 'deny',
  },
  { note: 'no URL', host: 'claude-code', input: claude('WebFetch', { url: 'file:///etc/passwd' }), expect: 'deny' },
  { note: 'talk', host: 'claude-code', input: claude('TodoWrite', { todos: [] }), expect: 'pass' },
  { note: 'an allowed server’s tool', host: 'claude-code', input: claude('mcp__known__list', {}), expect: 'pass' },
  { note: 'a denied server’s tool', host: 'claude-code', input: claude('mcp__known__drop', {}), expect: 'deny' },
  { note: 'an unknown server’s tool', host: 'claude-code', input: claude('mcp__new__x', {}), expect: 'ask' },
  { note: 'a tool of the future', host: 'claude-code', input: claude('Teleport', {}), expect: 'ask' },
  { note: 'a tool named like an object’s own', host: 'claude-code', input: claude('constructor', {}), expect: 'ask' },
  {
    note: 'another event',
    host: 'claude-code',
    input: claude('Bash', { command: 'ls' }, { hook_event_name: 'Stop' }),
    expect: 'block',
  },
  {
    note: 'no event',
    host: 'claude-code',
    input: claude('Bash', { command: 'ls' }, { hook_event_name: undefined }),
    expect: 'block',
  },
  {
    note: 'no tool',
    host: 'claude-code',
    input: claude('Bash', { command: 'ls' }, { tool_name: undefined }),
    expect: 'block',
  },
  { note: 'no input', host: 'claude-code', input: claude('Bash', undefined), expect: 'block' },
  { note: 'input of another type', host: 'claude-code', input: claude('Bash', ['ls']), expect: 'block' },
  { note: 'no command', host: 'claude-code', input: claude('Bash', {}), expect: 'block' },
  {
    note: 'a command of another type',
    host: 'claude-code',
    input: claude('Bash', { command: ['ls'] }),
    expect: 'block',
  },
  {
    note: 'no directory',
    host: 'claude-code',
    input: claude('Bash', { command: 'ls' }, { cwd: undefined }),
    expect: 'block',
  },
  { note: 'a path of another type', host: 'claude-code', input: claude('Read', { file_path: 7 }), expect: 'block' },
  { note: 'half a character', host: 'claude-code', input: claude('Read', { file_path: '\ud800' }), expect: 'deny' },
  { note: 'NUL', host: 'claude-code', input: claude('Read', { file_path: 'a\0b' }), expect: 'deny' },

  { note: 'a harmless command', host: 'codex', input: codex('Bash', { command: 'ls' }), expect: 'sandboxed' },
  { note: 'a denied command', host: 'codex', input: codex('Bash', { command: 'git push' }), expect: 'deny' },
  { note: 'an ask is a denial', host: 'codex', input: codex('Bash', { command: 'cat .env' }), expect: 'deny' },
  {
    note: 'a directory of its choice',
    host: 'codex',
    input: codex('Bash', { command: 'ls' }, { cwd: '/' }),
    expect: 'deny',
  },
  { note: 'a patch', host: 'codex', input: codex('apply_patch', { command: patch('src/n.ts') }), expect: 'pass' },
  { note: 'a patch outside', host: 'codex', input: codex('apply_patch', { command: patch('/etc/n') }), expect: 'deny' },
  { note: 'a patch by ..', host: 'codex', input: codex('apply_patch', { command: patch('../../n') }), expect: 'deny' },
  { note: 'no patch', host: 'codex', input: codex('apply_patch', { command: 'rm -rf /' }), expect: 'block' },
  { note: 'a picture', host: 'codex', input: codex('view_image', { path: '$P/.env' }), expect: 'deny' },
  { note: 'a plan', host: 'codex', input: codex('update_plan', { plan: [] }), expect: 'pass' },
  {
    note: 'a server’s tool that its section allows',
    host: 'claude-code',
    input: claude('mcp__hub__create', { repo: 'acme/site' }),
    expect: 'pass',
  },
  {
    note: 'attack: the same with another argument',
    host: 'claude-code',
    input: claude('mcp__hub__create', { repo: 'evil/site' }),
    expect: 'ask',
  },
  {
    note: 'attack: a server whose name continues the other’s',
    host: 'claude-code',
    input: claude('mcp__hub__x__create', { repo: 'acme/site' }),
    expect: 'ask',
  },
  { note: 'a tool that its section denies', host: 'codex', input: codex('mcp__hub__drop', {}), expect: 'deny' },
  {
    note: 'an allowed tool by the name that the host says beside it',
    host: 'gemini',
    input: gemini('mcp_hub_get_x', {}, { mcp_context: { server_name: 'hub', tool_name: 'get_x' } }),
    expect: 'pass',
  },
  { note: 'an unknown server’s tool', host: 'codex', input: codex('mcp__new__x', {}), expect: 'deny' },
  { note: 'a tool of the future', host: 'codex', input: codex('exec', { code: 'x' }), expect: 'deny' },

  {
    note: 'a harmless command',
    host: 'gemini',
    input: gemini('run_shell_command', { command: 'ls' }),
    expect: 'sandboxed',
  },
  {
    note: 'a denied command',
    host: 'gemini',
    input: gemini('run_shell_command', { command: 'git push' }),
    expect: 'deny',
  },
  {
    note: 'an ask is a denial',
    host: 'gemini',
    input: gemini('run_shell_command', { command: 'cat .env' }),
    expect: 'deny',
  },
  {
    note: 'a directory outside',
    host: 'gemini',
    input: gemini('run_shell_command', { command: 'ls', dir_path: '/' }),
    expect: 'deny',
  },
  { note: 'a read', host: 'gemini', input: gemini('read_file', { file_path: 'src/a.ts' }), expect: 'pass' },
  {
    note: 'a read by the old name',
    host: 'gemini',
    input: gemini('read_file', { absolute_path: '$P/.env' }),
    expect: 'deny',
  },
  { note: 'many files', host: 'gemini', input: gemini('read_many_files', { include: ['src/**'] }), expect: 'pass' },
  {
    note: 'many files with a secret',
    host: 'gemini',
    input: gemini('read_many_files', { include: ['**/*'] }),
    expect: 'deny',
  },
  {
    note: 'a write outside',
    host: 'gemini',
    input: gemini('write_file', { file_path: '/etc/x', content: '' }),
    expect: 'deny',
  },
  { note: 'a replacement', host: 'gemini', input: gemini('replace', { file_path: '$P/src/a.ts' }), expect: 'pass' },
  {
    note: 'a page in a prompt',
    host: 'gemini',
    input: gemini('web_fetch', { prompt: 'see http://127.0.0.1/x' }),
    expect: 'deny',
  },
  {
    note: 'a prompt without a page',
    host: 'gemini',
    input: gemini('web_fetch', { prompt: 'see my router' }),
    expect: 'deny',
  },
  {
    note: 'a server’s tool',
    host: 'gemini',
    input: gemini('mcp_new_x', {}, { mcp_context: { server_name: 'new' } }),
    expect: 'deny',
  },
  {
    note: 'a server’s tool with a known name',
    host: 'gemini',
    input: gemini('write_todos', {}, { mcp_context: {} }),
    expect: 'deny',
  },
  {
    note: 'another event',
    host: 'gemini',
    input: gemini('read_file', {}, { hook_event_name: 'AfterAgent' }),
    expect: 'block',
  },

  {
    note: 'a command before it runs',
    host: 'cursor',
    input: cursor('preToolUse', { tool_name: 'Shell', tool_input: { command: 'ls' } }),
    expect: 'sandboxed',
  },
  {
    note: 'by the older event, which cannot put it into the sandbox',
    host: 'cursor',
    input: cursor('beforeShellExecution', { command: 'ls', cwd: '$P' }),
    expect: 'deny',
  },
  {
    note: 'a denied command',
    host: 'cursor',
    input: cursor('beforeShellExecution', { command: 'git push', cwd: '$P' }),
    expect: 'deny',
  },
  {
    note: 'an ask',
    host: 'cursor',
    input: cursor('beforeShellExecution', { command: 'cat .env', cwd: '' }),
    expect: 'deny',
  },
  {
    note: 'a secret',
    host: 'cursor',
    input: cursor('beforeReadFile', { file_path: '$P/.env', content: '' }),
    expect: 'deny',
  },
  {
    note: 'a write outside',
    host: 'cursor',
    input: cursor('preToolUse', { tool_name: 'Write', tool_input: { file_path: '/etc/x' } }),
    expect: 'deny',
  },
  {
    note: 'a server’s tool',
    host: 'cursor',
    input: cursor('beforeMCPExecution', { tool_name: 'x', tool_input: '{}' }),
    expect: 'ask',
  },
  { note: 'another event', host: 'cursor', input: cursor('stop', {}), expect: 'block' },

  { note: 'a harmless command', host: 'opencode', input: opencode('bash', { command: 'ls' }), expect: 'sandboxed' },
  { note: 'a denied command', host: 'opencode', input: opencode('bash', { command: 'git push' }), expect: 'deny' },
  { note: 'an ask is a denial', host: 'opencode', input: opencode('bash', { command: 'cat .env' }), expect: 'deny' },
  { note: 'a secret', host: 'opencode', input: opencode('read', { filePath: '$P/.env' }), expect: 'deny' },
  { note: 'a write', host: 'opencode', input: opencode('write', { filePath: '$P/b.ts', content: '' }), expect: 'pass' },
  {
    note: 'a write outside',
    host: 'opencode',
    input: opencode('write', { filePath: '/etc/x', content: '' }),
    expect: 'deny',
  },
  {
    note: 'a wrapper of several calls',
    host: 'opencode',
    input: opencode('batch', { tool_calls: [{ tool: 'bash', parameters: { command: 'git push' } }] }),
    expect: 'deny',
  },
  {
    note: 'two names for the file, one of them harmless',
    host: 'gemini',
    input: gemini('read_file', { file_path: 'src/a.ts', absolute_path: '$P/.env' }),
    expect: 'deny',
  },
  {
    note: 'two names for the file, one of them harmless',
    host: 'opencode',
    input: opencode('write', { filePath: '$P/b.ts', path: '/etc/x' }),
    expect: 'deny',
  },
  {
    note: 'two patches, one of them harmless',
    host: 'codex',
    input: codex('apply_patch', { command: patch('src/n.ts'), input: patch('/etc/n') }),
    expect: 'deny',
  },
  { note: 'its own agent', host: 'gemini', input: gemini('delegate_to_agent', {}), expect: 'deny' },
  { note: 'an unknown tool', host: 'opencode', input: opencode('server_tool', {}), expect: 'deny' },
]

describe.each(HOST_NAMES)('%s', (host) => {
  it.each(rows.filter((row) => row.host === host))('$note -> $expect', async (row) => {
    expect(effectOf(host, await world.ask(host, row.input))).toBe(row.expect)
  })

  it.each([
    ['nothing', ''],
    ['no JSON', 'ls'],
    ['half of it', '{"hook_event_name":'],
    ['a list', '[]'],
    ['a number', '7'],
    ['null', 'null'],
    ['two objects', '{}{}'],
    ['an empty object', '{}'],
    ['a prototype', '{"__proto__":{"hook_event_name":"PreToolUse"}}'],
  ])('blocks %s', async (_, input) => {
    expect(effectOf(host, await world.ask(host, input))).toBe('block')
  })

  it('takes an input of many megabytes', async () => {
    const big = 'x'.repeat(8 * 1024 * 1024)
    expect(effectOf(host, await world.ask(host, CONTRACT[host].write('/etc/x', big)))).toBe('deny')
  })
})

describe('the manifest', () => {
  const call = claude('Read', { file_path: '$P/src/a.ts' })

  it('denies everything while it is not signed, and says how', async () => {
    writeFileSync(join(world.project, 'cordon.toml'), `${MANIFEST}[limits]\nprocesses = 7\n`)
    try {
      const answer = await world.ask('claude-code', call)
      expect(effectOf('claude-code', answer)).toBe('deny')
      expect(answer.stdout).toContain('cordon sign')
    } finally {
      writeFileSync(join(world.project, 'cordon.toml'), MANIFEST)
    }
    expect(effectOf('claude-code', await world.ask('claude-code', call))).toBe('pass')
  })

  it('denies everything while it does not load', async () => {
    writeFileSync(join(world.project, 'cordon.toml'), 'schema_version = 1\nnonsense = true\n')
    try {
      expect(effectOf('codex', await world.ask('codex', codex('Bash', { command: 'ls' })))).toBe('deny')
    } finally {
      writeFileSync(join(world.project, 'cordon.toml'), MANIFEST)
    }
  })

  it('applies to the project although the agent picks another directory', async () => {
    const elsewhere = join(world.base, 'elsewhere')
    mkdirSync(elsewhere, { recursive: true })
    const answer = await world.ask('codex', codex('apply_patch', { command: patch('x') }, { cwd: elsewhere }))
    expect(effectOf('codex', answer)).toBe('deny')
  })

  it('blocks where the project cannot be known', async () => {
    expect(effectOf('codex', await world.ask('codex', codex('Bash', { command: 'ls' }), { root: null }))).toBe('block')
  })

  it('knows a Codex session’s project by its record', async () => {
    const record = join(world.base, 'record.jsonl')
    writeFileSync(record, `${JSON.stringify({ type: 'session_meta', payload: { cwd: world.project } })}\n{}\n`)
    const input = codex('Bash', { command: 'git push' }, { transcript_path: record })
    expect(effectOf('codex', await world.ask('codex', input, { root: null }))).toBe('deny')
  })
})

it('does not wait for a record that nobody writes', async () => {
  const record = join(world.base, 'record.fifo')
  expect(spawnSync('mkfifo', [record]).status).toBe(0)
  const input = codex('Bash', { command: 'ls' }, { transcript_path: record })
  expect(effectOf('codex', await world.ask('codex', input, { root: null }))).toBe('block')
})

describe('the rewrite', () => {
  it('is not wrapped twice, and is judged by what is inside', async () => {
    const first = JSON.parse((await world.ask('codex', codex('Bash', { command: "echo 'a b'" }))).stdout)
    const { command } = first.hookSpecificOutput.updatedInput
    expect(command).toMatch(/cordon-run [0-9a-f]{12} 'echo '"'"'a b'"'"''$/)
    expect(effectOf('codex', await world.ask('codex', codex('Bash', { command })))).toBe('pass')
    const forged = command.replace(/echo.*/, "git push'")
    expect(effectOf('codex', await world.ask('codex', codex('Bash', { command: forged })))).toBe('deny')
    const longer = `${command}; git push`
    expect(effectOf('codex', await world.ask('codex', codex('Bash', { command: longer })))).toBe('deny')
  })

  it('is judged where it would run', async () => {
    const first = JSON.parse((await world.ask('gemini', gemini('run_shell_command', { command: 'ls' }))).stdout)
    const { command } = first.hookSpecificOutput.tool_input
    const there = async (dir_path: string): Promise<Effect> =>
      effectOf('gemini', await world.ask('gemini', gemini('run_shell_command', { command, dir_path })))
    expect(await there('src')).toBe('pass')
    expect(await there('/etc')).toBe('deny')
  })

  it('is what Cursor’s older event takes, and nothing else', async () => {
    const shown = async (command: string): Promise<HookAnswer> =>
      world.ask('cursor', cursor('beforeShellExecution', { command, cwd: '$P' }))
    const wrapped = async (command: string): Promise<string> => {
      const { agent_message } = JSON.parse((await shown(command)).stdout)
      return /say so itself: (.*)$/s.exec(agent_message)![1]!
    }
    expect(effectOf('cursor', await shown(await wrapped('ls')))).toBe('pass')
    expect(effectOf('cursor', await shown(await wrapped('cat .env')))).toBe('ask')
  })

  it('keeps the other fields of the input', async () => {
    const input = claude('Bash', { command: 'ls', timeout: 5, run_in_background: true })
    const { updatedInput } = JSON.parse((await world.ask('claude-code', input)).stdout).hookSpecificOutput
    expect(updatedInput).toMatchObject({ timeout: 5, run_in_background: true })
  })

  it('runs a command read-only in Claude Code’s plan mode', async () => {
    const answer = await world.ask('claude-code', claude('Bash', { command: 'ls' }, { permission_mode: 'plan' }))
    const { permissionDecision, updatedInput } = JSON.parse(answer.stdout).hookSpecificOutput
    expect(permissionDecision).toBe('allow')
    expect(updatedInput.command).toMatch(/cordon-run [0-9a-f]{12}\+read 'ls'$/)
  })
})
