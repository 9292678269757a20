/** What Claude Code drops without a word is named by the installation, and noticed afterwards. */

import { expect, it } from 'vitest'
import type { InstallPlace } from '../host/install-place.ts'
import { checkAgent } from '../install/check.ts'
import { planSettings } from '../install/host-settings.ts'
import { whyDropped } from './claude-settings.ts'
import { installOf } from './hosts.ts'

const place: InstallPlace = {
  scope: 'user',
  root: '/w/p',
  home: '/h',
  env: {},
  cordon: ['/opt/none/node', '/opt/none/cordon.cjs'],
  wrapper: '/s/bin/cordon-run',
}

/** Each as it is dropped, and as it is taken. */
const WRONGLY_TYPED: readonly (readonly [key: string, wrong: unknown, right: unknown])[] = [
  ['model', 5, 'claude-sonnet-4-5'],
  ['apiKeyHelper', ['helper'], 'helper'],
  ['outputStyle', 1, 'plain'],
  ['language', { name: 'de' }, 'de'],
  ['plansDirectory', false, 'plans'],
  ['awsAuthRefresh', true, 'aws sso login'],
  ['cleanupPeriodDays', '30', 30],
  ['includeCoAuthoredBy', 'no', false],
  ['enableAllProjectMcpServers', 'true', true],
  ['spinnerTipsEnabled', 0, false],
  ['alwaysThinkingEnabled', 'yes', true],
  ['respectGitignore', 1, true],
  ['skipWebFetchPreflight', null, true],
  ['disableSkillShellExecution', 'true', true],
  ['statusLine', 'x', { type: 'command', command: 'x' }],
  ['sandbox', true, { enabled: true }],
  ['attribution', 'none', { commit: '' }],
  ['fileSuggestion', [], { type: 'command', command: 'x' }],
  ['enabledPlugins', ['x@y'], { 'x@y': true }],
  ['permissions', [], { defaultMode: 'plan' }],
  ['companyAnnouncements', 'hello', ['hello']],
  ['permissions.allow', { allow: 'Bash' }, { allow: ['Bash(ls)'] }],
  ['permissions.deny', { deny: [7] }, { deny: ['Read(x)'] }],
  ['permissions.ask', { ask: {} }, { ask: [] }],
  ['permissions.additionalDirectories', { additionalDirectories: '..' }, { additionalDirectories: ['..'] }],
  ['env', { A: 1 }, { A: '1' }],
  ['hooks', [], {}],
]

it.each(WRONGLY_TYPED)('%s: %j', async (key, wrong, right) => {
  const name = key.split('.')[0]!
  const host = await installOf('claude-code')
  expect(whyDropped({ [name]: right })).toBeNull()
  expect(whyDropped({ [name]: wrong })).toContain(`"${key}"`)
  // The installation refuses it, and a file that was changed afterwards is not called working.
  expect(() => planSettings(host, place, () => JSON.stringify({ [name]: wrong }), false)).toThrow(`"${key}"`)
  const installed = planSettings(host, place, () => null, false)
  const changed = JSON.stringify({ ...(JSON.parse(installed.after!) as object), [name]: wrong }, null, 2)
  const { status } = await checkAgent(
    'claude-code',
    place,
    (path) => (path === installed.path ? changed : null),
    true,
    false,
  )
  expect(['silent', 'stale', 'removed']).toContain(status)
})

it.each([
  ['a matcher that is not a text', { matcher: 1, hooks: [] }],
  ['hooks that are no list', { matcher: '*', hooks: {} }],
  ['a hook without a type', { matcher: '*', hooks: [{ command: 'x' }] }],
  ['a row that is not an object', 'x'],
])('one malformed hook of somebody else takes ours along: %s', (_, row) => {
  const fine = { matcher: '*', hooks: [{ type: 'command', command: 'x' }] }
  expect(whyDropped({ hooks: { Stop: [fine] } })).toBeNull()
  expect(whyDropped({ hooks: { Stop: [fine, row] } })).toContain('"hooks.Stop"')
})
