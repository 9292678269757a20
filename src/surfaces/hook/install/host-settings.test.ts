/** Settings of hosts with and without our hook: installed once, taken out without a trace, refused where they would be dropped. */

import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { tomlValue, withoutTomlValue, withTomlValue } from '../../../agents/settings/toml-text.ts'
import { lineDiff } from '../../terminal/line-diff.ts'
import { hookCommand, resultCommand } from '../host/hook-command.ts'
import { SettingsError } from '../host/install-place.ts'
import { type TrustEntry, withoutTrust } from '../host/installed-trust.ts'
import { LOCAL_ENV } from '../hosts/gemini-settings.ts'
import { HOST_NAMES, installOf } from '../hosts/hosts.ts'
import { planSettings } from './host-settings.ts'

const place = {
  scope: 'project',
  root: '/p',
  home: '/h',
  env: {},
  cordon: ['/opt/node', '/opt/cordon.cjs'],
  wrapper: '/s/bin/cordon-run',
} as const

/** What an installation has to take out of Gemini CLI's settings beside its hooks, which it remembers elsewhere. */
const localEnv: TrustEntry = {
  agent: 'gemini',
  scope: 'project',
  root: '/p',
  path: '/p/.gemini/settings.json',
  ...LOCAL_ENV,
  before: null,
  after: 'true',
}
/** A file with that text, and no backup of it. */
const reading =
  (text: string | null) =>
  (path: string): string | null =>
    path.endsWith('.cordon-backup') ? null : text
const takenBack = (text: string | null): string | null => text && withoutTrust(text, [localEnv])

it.each(HOST_NAMES)('%s: installs once, and takes it out again', async (name) => {
  const host = await installOf(name)
  const first = planSettings(host, place, () => null, false)
  expect(first.before).toBeNull()
  const again = planSettings(host, place, reading(first.after), false)
  expect(again.after).toBe(first.after)
  const moved = planSettings(host, { ...place, cordon: ['/other/node', '/x'] }, reading(first.after), false)
  expect(moved.after).not.toContain('/opt/cordon.cjs')
  const out = planSettings(host, place, reading(first.after), true)
  expect(out.after ?? '{}').not.toContain('cordon.cjs')
})

it.each(['claude-code', 'codex', 'gemini'] as const)('%s: leaves what others wrote', async (name) => {
  const host = await installOf(name)
  const event = name === 'gemini' ? 'BeforeTool' : 'PreToolUse'
  const theirs = { matcher: 'Bash', hooks: [{ type: 'command', command: 'mine' }] }
  const before = JSON.stringify({ theme: 'dark', hooks: { [event]: [theirs], Stop: [theirs] } })
  const { after } = planSettings(host, place, reading(before), false)
  const settings = JSON.parse(after!)
  expect(settings.theme).toBe('dark')
  expect(settings.hooks.Stop).toEqual([theirs])
  expect(settings.hooks[event]).toHaveLength(2)
  // Ours comes last: hosts take the last of two rewrites, and Codex knows what it trusts by its place.
  expect(settings.hooks[event][0]).toEqual(theirs)
  const out = planSettings(host, place, reading(after), true)
  expect(JSON.parse(takenBack(out.after)!)).toEqual(JSON.parse(before))
})

it('keeps Gemini CLI from taking a .env that its agent can write, whatever was set before', async () => {
  const gemini = await installOf('gemini')
  for (const text of ['{}', '{"advanced":{"ignoreLocalEnv":false,"x":1}}', '{"advanced":{"ignoreLocalEnv":true}}']) {
    const { after } = planSettings(gemini, place, reading(text), false)
    expect(JSON.parse(after!).advanced).toMatchObject({ ignoreLocalEnv: true })
  }
  expect(() => planSettings(gemini, place, () => '{"advanced":7}', false)).toThrow(SettingsError)
})

it.each([
  ['claude-code', 'no JSON', '{ // comment\n}'],
  ['claude-code', 'hooks of another type', '{"hooks":[]}'],
  ['claude-code', 'an event of another type', '{"hooks":{"PreToolUse":{}}}'],
  ['claude-code', 'permissions.allow as a text, which drops hooks silently', '{"permissions":{"allow":"Bash"}}'],
  ['claude-code', 'env with a number', '{"env":{"A":1}}'],
  ['claude-code', 'hooks switched off', '{"disableAllHooks":true}'],
  ['gemini', 'hooks switched off', '{"hooksConfig":{"enabled":false}}'],
  ['codex', 'a list', '[]'],
  ['opencode', 'a plugin of somebody else', 'export const X = 1'],
] as const)('%s: refuses %s', async (name, _, text) => {
  const host = await installOf(name)
  expect(() => planSettings(host, place, reading(text), false)).toThrow(SettingsError)
})

it.each([
  ['no such program', ['/nowhere/node', '/nowhere/cordon.cjs']],
  ['no such client', ['/nowhere/cordon-client-x64', '/nowhere/node', '/nowhere/cordon.cjs']],
  ['a crash', ['/bin/sh', '-c', 'kill -9 $$']],
  ['its own exit code', ['/bin/sh', '-c', 'echo "{}"; exit 3']],
  ['a runaway', ['/bin/sh', '-c', 'ulimit -t 1; while :; do :; done']],
])('the command line blocks on %s', (_, cordon) => {
  const run = spawnSync('/bin/sh', ['-c', hookCommand('codex', '/p', cordon)], { encoding: 'utf8', input: '{}' })
  expect(run.status).toBe(2)
  expect(run.stdout).toBe('')
  expect(run.stderr).toContain('blocked')
})

it('looks for the client before it names it: fish ends a line at a program that is not there, with 127', () => {
  const client = '/nowhere/cordon-client-x64'
  expect(hookCommand('codex', null, [client, 'node', 'cordon.cjs'])).toMatch(`test -x ${client} && ${client} `)
})

it.each([
  ['no such program', ['/nowhere/node']],
  ['a crash', ['/bin/sh', '-c', 'kill -9 $$']],
  ['noise on stderr', ['/bin/sh', '-c', 'echo x >&2; exit 3']],
])('the command line for results is silent on %s', (_, cordon) => {
  const run = spawnSync('/bin/sh', ['-c', resultCommand('codex', '/p', cordon)], { encoding: 'utf8', input: '{}' })
  expect([run.status, run.stdout, run.stderr]).toEqual([0, '', ''])
})

it('leaves no file behind in which nothing is left, and keeps one that was empty before', async () => {
  for (const name of HOST_NAMES) {
    const host = await installOf(name)
    const { after } = planSettings(host, place, () => null, false)
    const out = planSettings(host, place, reading(after), true).after
    expect([name, name === 'gemini' ? takenBack(out) : out]).toEqual([name, null])
  }
  expect(planSettings(await installOf('claude-code'), place, reading('{}\n'), true).after).toBe('{}\n')
})

it('takes a value out of a TOML table, and the table when nothing else is in it', () => {
  const config = 'model = "x"\n\n[a]\nb = 1\n\n[c]\nd = 2\n'
  const with2 = withTomlValue(withTomlValue(config, 'p."/x"', 'k', 'v'), 'a', 'k', 'w')
  expect([tomlValue(with2, 'p."/x"', 'k'), tomlValue(with2, 'a', 'k'), tomlValue(with2, 'a', 'b')]).toEqual([
    'v',
    'w',
    null,
  ])
  expect(withoutTomlValue(withoutTomlValue(with2, 'p."/x"', 'k'), 'a', 'k')).toBe(config)
  expect(withoutTomlValue(config, 'a', 'k')).toBe(config)
  const between = config.replace('[c]', '[p]\nk = "v"\n\n[c]')
  expect(withoutTomlValue(between, 'p', 'k')).toBe(config)
})

it('writes a value into a TOML table, and nothing else', () => {
  const config = 'model = "x"\n\n[projects."/p"]\ntrust_level = "untrusted"\nother = 1\n\n[b]\nc = 2\n'
  const changed = withTomlValue(config, 'projects."/p"', 'trust_level', 'trusted')
  expect(changed).toBe(config.replace('"untrusted"', '"trusted"'))
  expect(withTomlValue(changed, 'projects."/p"', 'trust_level', 'trusted')).toBe(changed)
  expect(withTomlValue('a = 1', 'b', 'c', 'd')).toBe('a = 1\n\n[b]\nc = "d"\n')
})

it('writes nothing that Cursor takes for a comment: it cuts its file at two slashes', async () => {
  expect(planSettings(await installOf('cursor'), place, () => null, false).after).not.toContain('//')
})

it('shows what changes between two texts', () => {
  const shown = lineDiff(['a', 'b', 'c'], ['a', 'x', 'c']).map(({ sign, text }) => sign + text)
  expect(shown).toEqual([' a', '-b', '+x', ' c'])
})
