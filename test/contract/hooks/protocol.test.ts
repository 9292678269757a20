/** What else hosts say: every tool they document, odd characters, sizes, other events and projects without a manifest, always on the closed side. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { HOST_NAMES, type HostName } from '../../../src/surfaces/hook/hosts/hosts.ts'
import { CONTRACT } from './host-contract.ts'
import {
  claude,
  cline,
  codex,
  copilot,
  cursor,
  type Effect,
  effectOf,
  gemini,
  type HookWorld,
  MANIFEST,
  opencode,
  openHookWorld,
  qwen,
} from './world.ts'

let world: HookWorld
beforeAll(async () => {
  world = await openHookWorld()
})
beforeEach(() => world.forget())
afterAll(() => world.close())

const effect = async (host: HostName, input: unknown, inside = false): Promise<Effect> =>
  effectOf(host, await world.ask(host, input, { inside }))

describe.each(HOST_NAMES)('%s: commands', (host) => {
  it.each([
    ['NUL', 'echo a\0b', 'deny'],
    ['an escape sequence', 'echo \u001b[2K', 'deny'],
    ['a right-to-left mark', 'echo \u202etxt', 'deny'],
    ['half a character', 'echo \ud800', 'deny'],
    ['a carriage return', 'echo a\rgit push', 'deny'],
    ['more than the analysis takes', `echo ${'x'.repeat(20_000)}`, 'deny'],
    ['more than an argument takes', `echo ${'x'.repeat(200_000)}`, 'deny'],
    ['nothing', '', 'sandboxed'],
    ['a list', ['ls'], 'block'],
    ['an object', { toString: 'ls' }, 'block'],
    ['several lines', 'ls\nls -l', 'sandboxed'],
    ['a here-document', "cat <<'EOF'\n'\\''$(id)\nEOF", 'sandboxed'],
    ['many kilobytes', `echo ${'x'.repeat(12_000)}`, 'sandboxed'],
    ['in the background', 'sleep 1 &', 'sandboxed'],
    ['a denial in the second line', 'ls\ngit push', 'deny'],
    ['a denial behind a comment', 'ls # x\ngit push', 'deny'],
    ['a denial in a here-document that runs', 'bash <<EOF\ngit push\nEOF', 'deny'],
  ] as const)('%s -> %s', async (_, command, expected) => {
    const given = await effect(host, CONTRACT[host].shell(command))
    // What is asked in one host is denied in another; here nothing may run.
    expect(given === 'ask' && expected === 'deny' ? 'deny' : given).toBe(expected)
  })
})

const TITLE = { title: 'x' }
const BY_SERVER = 'To not be asked again: cordon add tool'
// These hosts' names of tools do not say where the server's name ends.
const BY_NAME = '[permission.tools]'
it.each([
  ['claude-code', claude('mcp__notes__add', TITLE), BY_SERVER],
  ['codex', codex('mcp__notes__add', TITLE), BY_SERVER],
  ['gemini', gemini('mcp_notes_add', TITLE, { mcp_context: { server_name: 'notes', tool_name: 'add' } }), BY_SERVER],
  ['qwen', qwen('mcp__notes__add', TITLE), BY_SERVER],
  ['copilot', copilot('notes-add', TITLE), BY_NAME],
  ['cursor', cursor('preToolUse', { tool_name: 'MCP:add', tool_input: TITLE }), BY_NAME],
  ['opencode', opencode('notes_add', TITLE), BY_NAME],
  ['cline', cline('notes__add', TITLE), BY_NAME],
] as const)('%s: an ask about a server’s tool says how it is not asked again', async (host, input, says) => {
  const { stdout, stderr } = await world.ask(host, input)
  expect(stdout + stderr).toContain(says)
})

interface Row {
  readonly note: string
  readonly host: HostName
  readonly input: object
  readonly expect: Effect
}

const rows: readonly Row[] = [
  // https://code.claude.com/docs/en/hooks, and the tools that 2.1.325 offers
  {
    note: 'a command in the background',
    host: 'claude-code',
    input: claude('Bash', { command: 'ls', run_in_background: true, timeout: 9, dangerouslyDisableSandbox: true }),
    expect: 'sandboxed',
  },
  {
    note: 'a subagent’s command',
    host: 'claude-code',
    input: claude('Bash', { command: 'git push' }, { agent_id: 'a1', agent_type: 'Explore' }),
    expect: 'deny',
  },
  {
    note: 'a subagent',
    host: 'claude-code',
    input: claude('Task', { prompt: 'x', subagent_type: 'y' }),
    expect: 'pass',
  },
  { note: 'a subagent by its new name', host: 'claude-code', input: claude('Agent', { prompt: 'x' }), expect: 'pass' },
  {
    note: 'a subagent in a worktree',
    host: 'claude-code',
    input: claude('Agent', { prompt: 'x', isolation: 'worktree' }),
    expect: 'pass',
  },
  {
    note: 'a subagent on somebody else’s machine',
    host: 'claude-code',
    input: claude('Agent', { prompt: 'x', isolation: 'remote' }),
    expect: 'ask',
  },
  {
    note: 'output of the background',
    host: 'claude-code',
    input: claude('BashOutput', { bash_id: '1' }),
    expect: 'pass',
  },
  { note: 'an end of it', host: 'claude-code', input: claude('KillShell', { shell_id: '1' }), expect: 'pass' },
  { note: 'a definition', host: 'claude-code', input: claude('LSP', { filePath: '/etc/shadow' }), expect: 'deny' },
  { note: 'a plan', host: 'claude-code', input: claude('ExitPlanMode', { plan: 'x' }), expect: 'pass' },
  {
    note: 'a page of a new host, in contained mode',
    host: 'claude-code',
    input: claude('WebFetch', { url: 'https://example.com/' }),
    expect: 'ask',
  },
  {
    note: 'a timer',
    host: 'claude-code',
    input: claude('CronCreate', { cron: '* * * * *', prompt: 'go on' }),
    expect: 'pass',
  },
  {
    note: 'a timer that outlives the session',
    host: 'claude-code',
    input: claude('CronCreate', { cron: '* * * * *', prompt: 'x', durable: true }),
    expect: 'ask',
  },
  {
    note: 'a timer that mentions a secret',
    host: 'claude-code',
    input: claude('CronCreate', { cron: '* * * * *', prompt: 'look at @.env' }),
    expect: 'ask',
  },
  {
    note: 'a wake-up',
    host: 'claude-code',
    input: claude('ScheduleWakeup', { delaySeconds: 60, prompt: 'go on' }),
    expect: 'pass',
  },
  { note: 'a worktree', host: 'claude-code', input: claude('EnterWorktree', { name: 'x' }), expect: 'pass' },
  {
    note: 'leaving a worktree',
    host: 'claude-code',
    input: claude('ExitWorktree', { action: 'keep' }),
    expect: 'pass',
  },
  {
    note: 'throwing a worktree away',
    host: 'claude-code',
    input: claude('ExitWorktree', { action: 'remove', discard_changes: true }),
    expect: 'ask',
  },
  { note: 'a workflow', host: 'claude-code', input: claude('Workflow', { script: 'x' }), expect: 'pass' },
  {
    note: 'a workflow in a file outside',
    host: 'claude-code',
    input: claude('Workflow', { scriptPath: '/etc/shadow' }),
    expect: 'deny',
  },
  {
    note: 'a message to a sub-agent',
    host: 'claude-code',
    input: claude('SendMessage', { to: 'x', message: 'y' }),
    expect: 'pass',
  },
  {
    note: 'a skill whose words mention a secret',
    host: 'claude-code',
    input: claude('Skill', { skill: 'x', args: '@.env' }),
    expect: 'ask',
  },
  {
    note: 'a skill whose words mention a denied file in quotes',
    host: 'claude-code',
    input: claude('Skill', { skill: 'x', args: 'see @"private/a b.txt"' }),
    expect: 'deny',
  },
  {
    note: 'a skill whose words mention a key at home',
    host: 'claude-code',
    input: claude('Skill', { skill: 'x', args: '(@~/.ssh/id_ed25519)' }),
    expect: 'deny',
  },
  {
    note: 'a skill with plain words',
    host: 'claude-code',
    input: claude('Skill', { skill: 'x', args: 'a@b.c @src/a.ts' }),
    expect: 'pass',
  },
  {
    note: 'a sub-agent of opencode whose prompt mentions a secret',
    host: 'opencode',
    input: opencode('task', { prompt: 'read @.env, please', description: 'x', subagent_type: 'general' }),
    expect: 'deny',
  },
  { note: 'a resource of a server', host: 'claude-code', input: claude('ReadMcpResourceTool', {}), expect: 'ask' },
  {
    note: 'fields of the future',
    host: 'claude-code',
    input: claude('Bash', { command: 'git push', later: { a: [1] } }, { later: true, effort: { level: 'high' } }),
    expect: 'deny',
  },
  {
    note: 'an ask with nobody there',
    host: 'claude-code',
    input: claude('Bash', { command: 'cat .env' }, { permission_mode: 'dontAsk' }),
    expect: 'deny',
  },
  {
    note: 'an ask in a mode of another type',
    host: 'claude-code',
    input: claude('Bash', { command: 'cat .env' }, { permission_mode: 7 }),
    expect: 'block',
  },

  // https://developers.openai.com/codex/hooks
  { note: 'its own agent', host: 'codex', input: codex('spawn_agent', { message: 'x' }), expect: 'pass' },
  {
    note: 'an agent that is handed a secret',
    host: 'codex',
    input: codex('spawn_agent', { items: [{ type: 'skill', name: 'x', path: '$P/.env' }] }),
    expect: 'deny',
  },
  {
    note: 'a word to an agent with a file from outside',
    host: 'codex',
    input: codex('send_input', { target: 'x', items: [{ type: 'local_image', path: '/root/x.png' }] }),
    expect: 'deny',
  },
  {
    note: 'what is not a list',
    host: 'codex',
    input: codex('spawn_agent', { items: { path: '/x' } }),
    expect: 'block',
  },
  { note: 'typing into a shell', host: 'codex', input: codex('write_stdin', { chars: 'git push\n' }), expect: 'deny' },
  { note: 'an allowed server’s tool', host: 'codex', input: codex('mcp__known__list', {}), expect: 'pass' },
  { note: 'a denied server’s tool', host: 'codex', input: codex('mcp__known__drop', {}), expect: 'deny' },
  { note: 'a shell by its old name', host: 'codex', input: codex('shell', { command: ['ls'] }), expect: 'deny' },
  {
    note: 'a permission request, which is another event',
    host: 'codex',
    input: codex('Bash', { command: 'ls' }, { hook_event_name: 'PermissionRequest' }),
    expect: 'block',
  },

  // https://geminicli.com/docs/hooks/reference, and the tools that 0.61.0 offers
  {
    note: 'a command in the background',
    host: 'gemini',
    input: gemini('run_shell_command', { command: 'ls', is_background: true }),
    expect: 'sandboxed',
  },
  {
    note: 'two directories, one of them outside',
    host: 'gemini',
    input: gemini('run_shell_command', { command: 'ls', dir_path: 'src', directory: '/' }),
    expect: 'deny',
  },
  { note: 'a memory', host: 'gemini', input: gemini('save_memory', { fact: 'x' }), expect: 'deny' },
  {
    note: 'a secret through a list',
    host: 'gemini',
    input: gemini('read_many_files', { include: ['.env'] }),
    expect: 'deny',
  },
  { note: 'names', host: 'gemini', input: gemini('glob', { pattern: '/root/*' }), expect: 'deny' },
  {
    note: 'an invalid list',
    host: 'gemini',
    input: gemini('read_many_files', { include: 'src' }),
    expect: 'block',
  },

  // https://cursor.com/docs/hooks (hooks.md), 2026.09
  {
    note: 'a directory of its choice',
    host: 'cursor',
    input: cursor('preToolUse', { tool_name: 'Shell', tool_input: { command: 'ls', cwd: '/' } }),
    expect: 'deny',
  },
  {
    note: 'the same by its other name',
    host: 'cursor',
    input: cursor('preToolUse', {
      tool_name: 'Shell',
      tool_input: { command: 'ls', cwd: '$P', working_directory: '/' },
    }),
    expect: 'deny',
  },
  {
    note: 'a server’s tool whose input is a text',
    host: 'cursor',
    input: cursor('preToolUse', { tool_name: 'MCP:drop', tool_input: '{"a":1}' }),
    expect: 'deny',
  },
  {
    note: 'a deletion outside',
    host: 'cursor',
    input: cursor('preToolUse', { tool_name: 'Delete', tool_input: { path: '/etc/hosts' } }),
    expect: 'deny',
  },
  {
    note: 'a search that would read a secret',
    host: 'cursor',
    input: cursor('preToolUse', { tool_name: 'Grep', tool_input: { pattern: 'T' } }),
    expect: 'deny',
  },
  {
    note: 'a read of the tab',
    host: 'cursor',
    input: cursor('beforeTabFileRead', { file_path: '$P/.env', content: 'x' }),
    expect: 'deny',
  },
  {
    note: 'a subagent, which is another event',
    host: 'cursor',
    input: cursor('subagentStart', { subagent_type: 'x' }),
    expect: 'block',
  },
  {
    note: 'an edit that is over',
    host: 'cursor',
    input: cursor('afterFileEdit', { file_path: '$P/src/a.ts', edits: [] }),
    expect: 'block',
  },

  // https://opencode.ai/docs/plugins; the form is our own
  {
    note: 'a directory outside',
    host: 'opencode',
    input: opencode('bash', { command: 'ls', workdir: '/' }),
    expect: 'deny',
  },
  { note: 'a question', host: 'opencode', input: opencode('question', {}), expect: 'pass' },
  {
    note: 'a search that would read a secret',
    host: 'opencode',
    input: opencode('grep', { pattern: 'T' }),
    expect: 'deny',
  },
  {
    note: 'another event',
    host: 'opencode',
    input: { ...opencode('bash', { command: 'ls' }), hook_event_name: 'chat.message' },
    expect: 'block',
  },
  {
    note: 'no directory',
    host: 'opencode',
    input: { ...opencode('bash', { command: 'ls' }), directory: undefined },
    expect: 'block',
  },
  // Command Code 1.64: it appends `args`, reads globs, and shows no call of its sub-agents.
  {
    note: 'attack: words beside the command',
    host: 'command-code',
    input: qwen('shell_command', { command: 'git', args: ['push'] }),
    expect: 'block',
  },
  {
    note: 'a file',
    host: 'command-code',
    input: qwen('read_file', { file_path: '$P/src/a.ts' }),
    expect: 'pass',
  },
  {
    note: 'attack: a secret by a glob',
    host: 'command-code',
    input: qwen('read_file', { file_path: '$P/.en*' }),
    expect: 'deny',
  },
  {
    note: 'attack: a secret by one of several globs',
    host: 'command-code',
    input: qwen('read_file', { paths: ['$P/src/a.ts', '$P/*'] }),
    expect: 'deny',
  },
  {
    note: 'attack: a sub-agent whose calls reach no hook',
    host: 'command-code',
    input: qwen('agent', { prompt: 'x', subagent_type: 'general' }),
    expect: 'block',
  },
  // Grok 1.0.41
  {
    note: 'a sub-agent, whose calls arrive',
    host: 'grok',
    input: qwen('spawn_subagent', { prompt: 'x' }),
    expect: 'pass',
  },
  {
    note: 'attack: an input that was shortened',
    host: 'grok',
    input: qwen('run_terminal_command', { command: 'ls' }, { toolInputTruncated: true }),
    expect: 'block',
  },
  {
    note: 'the same, whole',
    host: 'grok',
    input: qwen('run_terminal_command', { command: 'ls' }, { toolInputTruncated: false }),
    expect: 'sandboxed',
  },
  { note: 'a schedule', host: 'kimi', input: qwen('CronCreate', { cron: '* * * * *', prompt: 'x' }), expect: 'deny' },
]

const newer: readonly Row[] = [
  { note: 'a read', host: 'copilot', input: copilot('view', { path: '$P/src/a.ts' }), expect: 'pass' },
  { note: 'a read of a secret', host: 'copilot', input: copilot('view', { path: '$P/.env' }), expect: 'deny' },
  { note: 'arguments as a text', host: 'copilot', input: copilot('view', '{"path":"$P/.env"}'), expect: 'deny' },
  {
    note: 'a file created outside',
    host: 'copilot',
    input: copilot('create', { path: '/etc/x', file_text: '' }),
    expect: 'deny',
  },
  {
    note: 'an edit',
    host: 'copilot',
    input: copilot('edit', { path: '$P/src/a.ts', old_str: 'a', new_str: 'b' }),
    expect: 'pass',
  },
  {
    note: 'a search in several places',
    host: 'copilot',
    input: copilot('grep', { pattern: 'x', paths: ['$P/src', '/etc'] }),
    expect: 'deny',
  },
  { note: 'a search for names', host: 'copilot', input: copilot('glob', { pattern: '**/*.ts' }), expect: 'pass' },
  { note: 'a tool of a server', host: 'copilot', input: copilot('github-list_issues', {}), expect: 'deny' },
  { note: 'its notes', host: 'copilot', input: copilot('sql', { query: 'UPDATE todos SET done = 1' }), expect: 'pass' },
  { note: 'a database', host: 'copilot', input: copilot('sql', { query: "attach '/x.db' as x" }), expect: 'deny' },
  { note: 'no query', host: 'copilot', input: copilot('sql', {}), expect: 'block' },
  { note: 'a sub-agent', host: 'copilot', input: copilot('task', { prompt: 'x' }), expect: 'pass' },
  { note: 'a read', host: 'pi', input: opencode('read', { path: 'src/a.ts' }), expect: 'pass' },
  { note: 'a read of a secret', host: 'pi', input: opencode('read', { path: '.env' }), expect: 'deny' },
  { note: 'a write outside', host: 'pi', input: opencode('write', { path: '../x', content: '' }), expect: 'deny' },
  { note: 'names', host: 'pi', input: opencode('find', { pattern: '*.ts', path: 'src' }), expect: 'pass' },
  { note: 'a tool of an extension', host: 'pi', input: opencode('deploy', {}), expect: 'deny' },
  { note: 'a read', host: 'qwen', input: qwen('read_file', { file_path: '$P/src/a.ts' }), expect: 'pass' },
  { note: 'a read of a secret', host: 'qwen', input: qwen('read_file', { file_path: '$P/.env' }), expect: 'deny' },
  { note: 'a skill with a secret', host: 'qwen', input: qwen('skill', { skill: 'x', args: '@.env' }), expect: 'deny' },
  {
    note: 'a call of a tool behind another',
    host: 'qwen',
    input: qwen('tool_call', { name: 'x', arguments: {} }),
    expect: 'deny',
  },
  { note: 'reads', host: 'cline', input: cline('read_files', { files: [{ path: '$P/src/a.ts' }] }), expect: 'pass' },
  {
    note: 'reads, one of them a secret',
    host: 'cline',
    input: cline('read_files', { files: [{ path: '$P/src/a.ts' }, { path: '$P/.env' }] }),
    expect: 'deny',
  },
  {
    note: 'a file created outside',
    host: 'cline',
    input: cline('editor', { path: '/etc/x', new_text: '' }),
    expect: 'deny',
  },
  {
    note: 'two commands',
    host: 'cline',
    input: cline('run_commands', { commands: ['ls', 'pwd'] }),
    expect: 'sandboxed',
  },
  {
    note: 'two commands, the second denied',
    host: 'cline',
    input: cline('run_commands', { commands: ['ls', 'git push'] }),
    expect: 'deny',
  },
  {
    note: 'a page',
    host: 'cline',
    input: cline('fetch_web_content', { requests: [{ url: 'http://127.0.0.1/', prompt: 'x' }] }),
    expect: 'deny',
  },
  {
    note: 'a search of all, with secrets in it',
    host: 'cline',
    input: cline('search_codebase', { queries: ['x'] }),
    expect: 'deny',
  },
]

it.each([...rows, ...newer])('$host: $note -> $expect', async (row) => {
  expect(await effect(row.host, row.input)).toBe(row.expect)
})

it('a page of a public host, where mode is not contained and no host is listed -> pass', async () => {
  const open = await openHookWorld(MANIFEST.replace('mode = "contained"', 'mode = "default"'))
  try {
    const page = claude('WebFetch', { url: 'https://example.com/' })
    expect(effectOf('claude-code', await open.ask('claude-code', page))).toBe('pass')
  } finally {
    open.close()
  }
})

describe('Cursor, by the hooks of Claude Code', () => {
  const through = async (input: object) => world.ask('claude-code', { ...input, cursor_version: '2026.09.18-9a7762b' })

  it('is answered in its own form', async () => {
    const denied = await through(CONTRACT.cursor.shell('git push'))
    expect(effectOf('cursor', denied)).toBe('deny')
    expect(JSON.parse(denied.stdout).permission).toBe('deny')
    expect(effectOf('cursor', await through(CONTRACT.cursor.shell('ls')))).toBe('sandboxed')
  })

  it('is blocked when it says something else', async () => {
    expect(effectOf('cursor', await through(claude('Bash', { command: 'ls' })))).toBe('block')
  })
})

describe.each(HOST_NAMES)('%s: the project', (host) => {
  it('without a manifest is quiet: commands run in the sandbox, and denials are enforced (M3)', async () => {
    rmSync(join(world.project, 'cordon.toml'))
    try {
      expect(await effect(host, CONTRACT[host].shell('ls'))).toBe('sandboxed')
      expect(await effect(host, CONTRACT[host].shell('sudo ls'))).toBe('deny')
      // Where the host asks no one, what the sandbox hides or keeps offline needs no answer.
      const asks = await effect(host, CONTRACT[host].shell('curl https://example.com'))
      expect(asks).toBe(host === 'claude-code' ? 'ask' : 'sandboxed')
      // A change on another machine is never the sandbox's to answer.
      const pushes = {
        'claude-code': 'ask',
        qwen: 'sandboxed',
        kimi: 'sandboxed',
        'command-code': 'sandboxed',
      } as Partial<Record<HostName, Effect>>
      expect(await effect(host, CONTRACT[host].shell('git push'))).toBe(pushes[host] ?? 'deny')
      expect(['ask', 'deny']).toContain(await effect(host, CONTRACT[host].write('/srv/outside', 'x')))
    } finally {
      writeFileSync(join(world.project, 'cordon.toml'), MANIFEST)
    }
  })

  it.each([
    ['unsigned', `${MANIFEST}[limits]\nprocesses = 7\n`],
    ['broken', 'schema_version = 1\nnonsense = true\n'],
    ['no TOML', '\0'],
  ])('with a manifest that is %s denies everything', async (_, text) => {
    writeFileSync(join(world.project, 'cordon.toml'), text)
    try {
      expect(['deny', 'block']).toContain(await effect(host, CONTRACT[host].shell('ls')))
    } finally {
      writeFileSync(join(world.project, 'cordon.toml'), MANIFEST)
    }
  })
})

it('without a manifest Claude Code decides by its own mode whether to ask', async () => {
  rmSync(join(world.project, 'cordon.toml'))
  try {
    const said = async (mode: string, command: string) => {
      const input = claude('Bash', { command }, { permission_mode: mode })
      return JSON.parse((await world.ask('claude-code', input)).stdout).hookSpecificOutput
    }
    expect(await said('default', 'curl https://example.com')).toMatchObject({ permissionDecision: 'ask' })
    const left = await said('bypassPermissions', 'curl https://example.com')
    expect(left).not.toHaveProperty('permissionDecision')
    expect(left.updatedInput.command).toContain('curl')
    expect(await said('bypassPermissions', 'sudo ls')).toMatchObject({ permissionDecision: 'deny' })
    expect(await said('default', 'ls')).toMatchObject({ permissionDecision: 'allow' })
    const mine = join(dirname(world.project), 'home/.config/cordon/cordon.toml')
    mkdirSync(dirname(mine), { recursive: true })
    writeFileSync(mine, 'schema_version = 1\n[permission.tools]\nbash = "ask"\n')
    try {
      expect(await said('bypassPermissions', 'ls')).toMatchObject({ permissionDecision: 'deny' })
    } finally {
      rmSync(mine)
    }
  } finally {
    writeFileSync(join(world.project, 'cordon.toml'), MANIFEST)
  }
})

describe('inside cordon run', () => {
  it.each([
    ['an allowed command is in the sandbox already', CONTRACT.codex.shell('ls'), 'pass'],
    ['a denied one stays denied', CONTRACT.codex.shell('git push'), 'deny'],
    ['no one can be asked', CONTRACT.codex.shell('cat .env'), 'deny'],
    ['a read outside', codex('view_image', { path: '/root/x' }), 'deny'],
  ] as const)('%s', async (_, input, expected) => {
    expect(await effect('codex', input, true)).toBe(expected)
  })

  it('Claude Code’s person is still asked, about the command as it is', async () => {
    const answer = await world.ask('claude-code', CONTRACT['claude-code'].shell('cat .env'), { inside: true })
    expect(JSON.parse(answer.stdout).hookSpecificOutput).toMatchObject({ permissionDecision: 'ask' })
    expect(answer.stdout).not.toContain('updatedInput')
  })

  it('Cursor’s older event is not asked to wrap the command', async () => {
    const input = cursor('beforeShellExecution', { command: 'ls', cwd: '$P' })
    expect(await effect('cursor', input, true)).toBe('pass')
  })
})
