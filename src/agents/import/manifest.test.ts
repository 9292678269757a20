/** Settings of other agents as manifests: what comes over, what is said, and that nothing gets wider. */

import { expect, it } from 'vitest'
import { openChecker } from '../../call/decide/check-call.ts'
import { loadPolicy } from '../../project/load/load.ts'
import { machineFiles } from '../../system/files.ts'
import { thisMachine } from '../../system/machine.ts'
import { parseToml } from '../settings/toml-text.ts'
import { IMPORTERS } from './agents.ts'
import { commandPattern } from './draft.ts'
import { importManifest } from './manifest.ts'

const machine = { ...thisMachine(), cwd: '/srv/project', home: '/home/someone' }

async function imported(
  agent: string,
  settings: Record<string, unknown>,
): Promise<{ text: string; notes: readonly string[] }> {
  return importManifest(IMPORTERS[agent]!(settings), machine, machineFiles)
}

/** What the imported manifest decides. */
async function decided(
  agent: string,
  settings: Record<string, unknown>,
  tool: string,
  input: unknown,
): Promise<string> {
  const { text } = await imported(agent, settings)
  const object = parseToml(text, 'test')
  const outcome = await loadPolicy({
    machine,
    files: machineFiles,
    root: '/srv/project',
    choice: { kind: 'object', object },
  })
  if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
  const checker = await openChecker(outcome.loaded, machine, machineFiles)
  return checker.check({ tool, input, cwd: '/srv/project' }).decision.decision
}

const claude = (permissions: object): Record<string, unknown> => ({ permissions })

it.each([
  ['a prefix', 'claude-code', claude({ allow: ['Bash(npm test:*)'] }), 'bash', { command: 'npm test -- a' }, 'allow'],
  [
    'a prefix with a space',
    'claude-code',
    claude({ allow: ['Bash(npm test *)'] }),
    'bash',
    { command: 'npm test a' },
    'allow',
  ],
  ['an exact command', 'claude-code', claude({ allow: ['Bash(npm test)'] }), 'bash', { command: 'npm test' }, 'allow'],
  ['one word more', 'claude-code', claude({ allow: ['Bash(npm test)'] }), 'bash', { command: 'npm test x' }, 'ask'],
  ['all of Bash', 'claude-code', claude({ allow: ['Bash'] }), 'bash', { command: 'ls' }, 'ask'],
  [
    'a wildcard in the middle',
    'claude-code',
    claude({ allow: ['Bash(git * main)'] }),
    'bash',
    { command: 'git push main' },
    'ask',
  ],
  ['an interpreter', 'claude-code', claude({ allow: ['Bash(python3:*)'] }), 'bash', { command: 'python3 -c 1' }, 'ask'],
  ['a denied command', 'claude-code', claude({ deny: ['Bash(git push)'] }), 'bash', { command: 'git push -f' }, 'deny'],
  [
    'deny before allow',
    'claude-code',
    claude({ allow: ['Bash(git push:*)'], deny: ['Bash(git push:*)'] }),
    'bash',
    { command: 'git push' },
    'deny',
  ],
  [
    'an asked command',
    'claude-code',
    claude({ ask: ['Bash(npm publish:*)'] }),
    'bash',
    { command: 'npm publish' },
    'ask',
  ],
  ['a denied file', 'claude-code', claude({ deny: ['Read(./secrets/**)'] }), 'read', { path: 'secrets/a' }, 'deny'],
  [
    'a denied name anywhere',
    'claude-code',
    claude({ deny: ['Read(passwords.txt)'] }),
    'read',
    { path: 'a/b/passwords.txt' },
    'deny',
  ],
  [
    'a denied directory',
    'claude-code',
    claude({ deny: ['Edit(/infra)'] }),
    'write',
    { path: 'infra/a', content: '' },
    'deny',
  ],
  ['a denied tool', 'claude-code', claude({ deny: ['WebFetch'] }), 'webfetch', { url: 'https://example.com/' }, 'deny'],
  [
    'a denied host',
    'claude-code',
    claude({ deny: ['WebFetch(domain:example.com)'] }),
    'webfetch',
    { url: 'https://example.com/' },
    'deny',
  ],
  [
    'another host than the allowed',
    'claude-code',
    claude({ allow: ['WebFetch(domain:example.com)'] }),
    'webfetch',
    { url: 'https://example.org/' },
    'deny',
  ],
  ['plan mode', 'claude-code', claude({ defaultMode: 'plan' }), 'write', { path: 'a', content: '' }, 'deny'],
  ['bypass', 'claude-code', claude({ defaultMode: 'bypassPermissions' }), 'bash', { command: 'ls' }, 'ask'],
  ['an edit in a mode nobody set', 'claude-code', claude({}), 'write', { path: 'a', content: '' }, 'ask'],
  [
    'an edit after acceptEdits',
    'claude-code',
    claude({ defaultMode: 'acceptEdits' }),
    'write',
    { path: 'a', content: '' },
    'allow',
  ],
  ['a page nobody allowed', 'claude-code', claude({}), 'webfetch', { url: 'https://example.com/' }, 'ask'],
  [
    'a page that was allowed',
    'claude-code',
    claude({ allow: ['WebFetch(domain:example.com)'] }),
    'webfetch',
    { url: 'https://example.com/' },
    'allow',
  ],
  ['a page in Gemini', 'gemini', {}, 'webfetch', { url: 'https://example.com/' }, 'ask'],
  ['a page where srt has no host', 'srt', {}, 'webfetch', { url: 'https://example.com/' }, 'deny'],
  [
    'a page of a host of srt',
    'srt',
    { network: { allowedDomains: ['example.com'] } },
    'webfetch',
    { url: 'https://example.com/' },
    'allow',
  ],
  [
    'a page where no host of the list loads',
    'srt',
    { network: { allowedDomains: ['*.com'] } },
    'webfetch',
    { url: 'https://example.com/' },
    'deny',
  ],
  [
    'a page where no host of the list loads',
    'claude-code',
    claude({ allow: ['WebFetch(domain:*.com)'] }),
    'webfetch',
    { url: 'https://example.org/' },
    'deny',
  ],
  ['a write where srt names none', 'srt', {}, 'write', { path: 'a', content: '' }, 'deny'],
  [
    'a write where no path of the list loads',
    'srt',
    { filesystem: { allowWrite: ['[a'] } },
    'write',
    { path: 'a', content: '' },
    'deny',
  ],
  ['read-only Codex', 'codex', { sandbox_mode: 'read-only' }, 'write', { path: 'a', content: '' }, 'deny'],
  [
    'Codex with full access',
    'codex',
    { sandbox_mode: 'danger-full-access' },
    'write',
    { path: '/etc/a', content: '' },
    'deny',
  ],
  [
    'an allowed prefix of Gemini',
    'gemini',
    { tools: { allowed: ['run_shell_command(git status)'] } },
    'bash',
    { command: 'git status -s' },
    'allow',
  ],
  ['an excluded tool of Gemini', 'gemini', { excludeTools: ['run_shell_command'] }, 'bash', { command: 'ls' }, 'deny'],
  [
    'an excluded command of Gemini',
    'gemini',
    { tools: { exclude: ['run_shell_command(rm)'] } },
    'bash',
    { command: 'rm a' },
    'deny',
  ],
  [
    'an allowed command of opencode',
    'opencode',
    { permission: { bash: { 'git status*': 'allow' } } },
    'bash',
    { command: 'git status' },
    'allow',
  ],
  [
    'a denied command of opencode',
    'opencode',
    { permission: { bash: { '*': 'allow', 'rm *': 'deny' } } },
    'bash',
    { command: 'rm a' },
    'deny',
  ],
  [
    'edits denied in opencode',
    'opencode',
    { permission: { edit: 'deny' } },
    'write',
    { path: 'a', content: '' },
    'deny',
  ],
  [
    'a write that srt allows',
    'srt',
    { filesystem: { allowWrite: ['out'] } },
    'write',
    { path: 'out/a', content: '' },
    'allow',
  ],
  [
    'a write that srt does not',
    'srt',
    { filesystem: { allowWrite: ['out'] } },
    'write',
    { path: 'src/a', content: '' },
    'ask',
  ],
  ['a read that srt denies', 'srt', { filesystem: { denyRead: ['private'] } }, 'read', { path: 'private/a' }, 'deny'],
] as const)('%s', async (_, agent, settings, tool, input, verdict) => {
  expect(await decided(agent, settings, tool, input)).toBe(verdict)
})

it.each([
  ['claude-code', claude({ allow: ['Bash(*)', 'mcp__Git_Hub', 'Bash(python3:*)', 'Teleport'] }), 4],
  ['claude-code', claude({ deny: ['Bash(git * --force)'] }), 1],
  ['codex', { sandbox_mode: 'workspace-write', sandbox_workspace_write: { network_access: true } }, 1],
  ['srt', { network: { allowUnixSockets: ['/x'], allowedDomains: ['*.com'] } }, 3],
])('%s: says what has no equivalent', async (agent, settings, count) => {
  const { notes } = await imported(agent, settings)
  expect(notes).toHaveLength(count)
})

it.each([
  ['git log:*', 'git log:*'],
  ['git log *', 'git log:*'],
  ['git log*', 'git log:*'],
  ['git log', 'git log'],
  ['*', null],
  [':*', null],
  ['git * x', null],
  ['a && b', null],
  ['echo $HOME', null],
  ["echo 'x'", null],
])('pattern %j -> %j', (rule, pattern) => {
  expect(commandPattern(rule)).toBe(pattern)
})

it('maps permissions for MCP servers of Claude Code and VS Code to their sections', async () => {
  const claude = await imported('claude-code', {
    permissions: { allow: ['mcp__issues__get_*', 'mcp__docs'], deny: ['mcp__issues__delete_*'] },
  })
  expect(claude.text).toMatch(/\[mcp\.issues\][\s\S]*delete_\*[\s\S]*deny/)
  expect(claude.text).toMatch(/get_\*/)
  const vscode = await imported('vscode', {
    'chat.tools.global.autoApprove': true,
    'chat.tools.terminal.autoApprove': { 'git status': true, '/rm/': false },
    'chat.tools.eligibleForAutoApproval': { 'issues/close': false, 'issues/list': true },
    servers: { docs: { autoApprove: ['search'] } },
  })
  expect(vscode.text).toMatch(/\[mcp\.issues\][\s\S]*close/)
  expect(vscode.text).not.toContain('"list"')
  expect(vscode.text).toMatch(/\[mcp\.docs\][\s\S]*search/)
  expect(vscode.notes.join()).toMatch(/global\.autoApprove allows everything/)
})
