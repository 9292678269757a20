/** Every way in which a host drops a hook without a word is noticed. */

import { expect, it } from 'vitest'
import type { HostName } from '../hosts/host.ts'
import { installedCommand } from './host-settings.ts'
import type { InstallPlace } from './install-place.ts'
import { switchedOff } from './switched-off.ts'

const place: InstallPlace = {
  scope: 'project',
  root: '/w/p',
  home: '/h',
  env: {},
  cordon: ['/opt/node', '/opt/c.cjs'],
  wrapper: '/s/bin/cordon-run',
}
const TRUSTED = { '/h/.gemini/trustedFolders.json': '{"/w/p":"TRUST_FOLDER"}' }
const disabled = JSON.stringify({ hooksConfig: { disabled: [installedCommand('gemini', place)] } })

const whyOff = (agent: HostName, files: Readonly<Record<string, string>>, at: InstallPlace = place): string | null =>
  switchedOff(agent, at, (path) => files[path] ?? null)?.detail ?? null

it.each([
  ['claude-code', '/w/p/.claude/settings.local.json', '{"disableAllHooks":true}'],
  ['claude-code', '/w/p/.claude/settings.json', '{"disableAllHooks":true}'],
  ['claude-code', '/h/.claude/settings.json', '{ "disableAllHooks" : true }'],
  ['claude-code', '/etc/claude-code/managed-settings.json', '{"allowManagedHooksOnly":true}'],
  ['qwen', '/h/.qwen/settings.json', '{ "disableAllHooks": true } // off'],
  ['qwen', '/w/p/.qwen/settings.json', '{"disableAllHooks":true}'],
  ['copilot', '/h/.copilot/settings.json', '{"disableAllHooks":true}'],
  ['copilot', '/w/p/.github/copilot/settings.json', '{ "disableAllHooks": true } // off'],
  ['copilot', '/w/p/.github/copilot/settings.local.json', '{"disableAllHooks":true}'],
  ['gemini', '/h/.gemini/settings.json', '{ // no hooks\n "hooksConfig": { "enabled": false } }'],
  ['gemini', '/w/p/.gemini/settings.json', disabled],
  ['gemini', '/etc/gemini-cli/settings.json', '{"hooksConfig":{"enabled":false}}'],
] as const)('%s: %s says %s', (agent, file, text) => {
  expect(whyOff(agent, { ...TRUSTED, [file]: text })).toContain(file)
  expect(whyOff(agent, { ...TRUSTED, [file]: '{}' })).toBeNull()
  expect(whyOff(agent, { ...TRUSTED, [file]: 'nonsense' })).toBeNull()
})

it.each([
  ['nobody trusts it', '{}', 'project', true],
  ['its folder', '{"/w/p":"TRUST_FOLDER"}', 'project', false],
  ['a folder above', '{"/w":"TRUST_FOLDER"}', 'project', false],
  ['a folder above, but not this one', '{"/w":"TRUST_FOLDER","/w/p":"DO_NOT_TRUST"}', 'project', true],
  ['a folder beside', '{"/w/pp":"TRUST_FOLDER"}', 'project', true],
  ['a hook of the user', '{}', 'user', false],
] as const)('Gemini CLI’s trust: %s', (_, folders, scope, off) => {
  expect(whyOff('gemini', { '/h/.gemini/trustedFolders.json': folders }, { ...place, scope }) !== null).toBe(off)
})

it('believes the environment that trusts everything', () => {
  expect(whyOff('gemini', {}, { ...place, env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' } })).toBeNull()
})
