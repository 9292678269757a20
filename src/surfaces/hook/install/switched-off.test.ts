/** Every setting that silently disables a hook is noticed. */

import { expect, it } from 'vitest'
import type { InstallPlace } from '../host/install-place.ts'
import { type HostName, installOf } from '../hosts/hosts.ts'
import { switchedOff } from './check.ts'
import { installedCommands } from './host-settings.ts'

const place: InstallPlace = {
  scope: 'project',
  root: '/w/p',
  home: '/h',
  env: {},
  cordon: ['/opt/node', '/opt/c.cjs'],
  wrapper: '/s/bin/cordon-run',
}
const TRUSTED = { '/h/.gemini/trustedFolders.json': '{"/w/p":"TRUST_FOLDER"}' }
const disabled = JSON.stringify({ hooksConfig: { disabled: [installedCommands('gemini', place).call] } })

const whyOff = async (agent: HostName, files: Readonly<Record<string, string>>, at: InstallPlace = place) =>
  switchedOff(await installOf(agent), at, (path) => files[path] ?? null)?.detail ?? null

it.each([
  ['claude-code', '/w/p/.claude/settings.local.json', '{"disableAllHooks":true}'],
  ['claude-code', '/w/p/.claude/settings.json', '{"disableAllHooks":true}'],
  ['claude-code', '/h/.claude/settings.json', '{ "disableAllHooks" : true }'],
  ['claude-code', '/etc/claude-code/managed-settings.json', '{"allowManagedHooksOnly":true}'],
  ['claude-code', '/etc/claude-code/managed-settings.json', '{"strictPluginOnlyCustomization":["skills","hooks"]}'],
  ['qwen', '/h/.qwen/settings.json', '{"tools":{"executionSandbox":{"filesystem":"read-only","network":"closed"}}}'],
  ['qwen', '/etc/qwen-code/settings.json', '{"disableAllHooks":true}'],
  ['qwen', '/etc/qwen-code/system-defaults.json', '{"disableAllHooks":true}'],
  ['copilot', '/h/.copilot/settings.json', '{"disabledHooks":["3f2a"]}'],
  ['qwen', '/h/.qwen/settings.json', '{ "disableAllHooks": true } // off'],
  ['qwen', '/w/p/.qwen/settings.json', '{"disableAllHooks":true}'],
  ['copilot', '/h/.copilot/settings.json', '{"disableAllHooks":true}'],
  ['copilot', '/w/p/.github/copilot/settings.json', '{ "disableAllHooks": true } // off'],
  ['copilot', '/w/p/.github/copilot/settings.local.json', '{"disableAllHooks":true}'],
  ['gemini', '/h/.gemini/settings.json', '{ // no hooks\n "hooksConfig": { "enabled": false } }'],
  ['gemini', '/w/p/.gemini/settings.json', disabled],
  ['gemini', '/etc/gemini-cli/settings.json', '{"hooksConfig":{"enabled":false}}'],
] as const)('%s: %s says %s', async (agent, file, text) => {
  expect(await whyOff(agent, { ...TRUSTED, [file]: text })).toContain(file)
  expect(await whyOff(agent, { ...TRUSTED, [file]: '{}' })).toBeNull()
  expect(await whyOff(agent, { ...TRUSTED, [file]: 'nonsense' })).toBeNull()
})

it.each([
  ['nobody trusts it', '{}', 'project', true],
  ['its folder', '{"/w/p":"TRUST_FOLDER"}', 'project', false],
  ['a folder above', '{"/w":"TRUST_FOLDER"}', 'project', false],
  ['a folder above, but not this one', '{"/w":"TRUST_FOLDER","/w/p":"DO_NOT_TRUST"}', 'project', true],
  ['a folder beside', '{"/w/pp":"TRUST_FOLDER"}', 'project', true],
  ['a hook of the user', '{}', 'user', false],
] as const)('Gemini CLI’s trust: %s', async (_, folders, scope, off) => {
  expect((await whyOff('gemini', { '/h/.gemini/trustedFolders.json': folders }, { ...place, scope })) !== null).toBe(
    off,
  )
})

it('believes the environment that trusts everything', async () => {
  expect(await whyOff('gemini', {}, { ...place, env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' } })).toBeNull()
})
