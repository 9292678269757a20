/** What in a host's settings keeps our hook from running, although it is there: hosts say nothing about it. */

import { dirname, join } from 'node:path'
import { isHookCommand } from '../hook-command.ts'
import { type HostName, isObject, type Json } from '../hosts/host.ts'
import { whyDropped } from './claude-settings.ts'
import { trustedFoldersFile } from './gemini-settings.ts'
import { installedCommand, settingsFile } from './host-settings.ts'
import type { InstallPlace } from './install-place.ts'
import { parseSettings } from './settings-json.ts'

/** Reads a file; null when there is none. */
type Read = (path: string) => string | null

/** Why the host does not run the hook, and what to do; null when nothing speaks against it. */
export interface SwitchedOff {
  readonly detail: string
  readonly remedy: string
}

/** Looks through the settings of every scope, since each can switch the hooks of all. */
export function switchedOff(agent: HostName, place: InstallPlace, read: Read): SwitchedOff | null {
  if (agent === 'claude-code') return claudeOff(place, read)
  if (agent === 'qwen' || agent === 'copilot') return allOff(agent, place, read)
  return agent === 'gemini' ? (geminiOff(place, read) ?? distrusted(place, read)) : null
}

const MANAGED = '/etc/claude-code/managed-settings.json'

function claudeOff(place: InstallPlace, read: Read): SwitchedOff | null {
  const { root, home, env } = place
  const own = settingsFile('claude-code', place)
  const files = [
    join(root, '.claude/settings.local.json'),
    join(root, '.claude/settings.json'),
    join(env.CLAUDE_CONFIG_DIR ?? join(home, '.claude'), 'settings.json'),
    MANAGED,
  ]
  for (const file of files) {
    const settings = settingsOf(file, read)
    if (settings.disableAllHooks === true) return said(file, '"disableAllHooks": true')
    const why = file === own ? whyDropped(settings) : null
    if (why !== null) return { detail: `${file}: ${why}`, remedy: 'Put that right, then run cordon doctor again.' }
    if (file === MANAGED && settings.allowManagedHooksOnly === true) return said(file, '"allowManagedHooksOnly": true')
  }
  return null
}

function allOff(agent: 'qwen' | 'copilot', place: InstallPlace, read: Read): SwitchedOff | null {
  const { root, home, env } = place
  const copilot = env.COPILOT_HOME ?? join(home, '.copilot')
  const files =
    agent === 'qwen'
      ? [join(root, '.qwen/settings.json'), settingsFile('qwen', { ...place, scope: 'user' })]
      : [
          join(root, '.github/copilot/settings.local.json'),
          join(root, '.github/copilot/settings.json'),
          join(copilot, 'settings.json'),
          join(copilot, 'config.json'),
        ]
  const file = files.find((path) => settingsOf(path, read).disableAllHooks === true)
  return file === undefined ? null : said(file, '"disableAllHooks": true')
}

function geminiOff(place: InstallPlace, read: Read): SwitchedOff | null {
  const { root, env } = place
  const files = [
    join(root, '.gemini/settings.json'),
    settingsFile('gemini', { ...place, scope: 'user' }),
    env.GEMINI_CLI_SYSTEM_SETTINGS_PATH ?? '/etc/gemini-cli/settings.json',
  ]
  const command = installedCommand('gemini', place)
  for (const file of files) {
    const { hooksConfig } = settingsOf(file, read)
    if (!isObject(hooksConfig)) continue
    if (hooksConfig.enabled === false) return said(file, '"hooksConfig.enabled": false')
    if (Array.isArray(hooksConfig.disabled) && hooksConfig.disabled.includes(command))
      return said(file, 'that this hook is disabled ("hooksConfig.disabled")')
  }
  return null
}

/** A project's hooks load in a trusted folder alone. */
function distrusted(place: InstallPlace, read: Read): SwitchedOff | null {
  if (place.scope !== 'project' || place.env.GEMINI_CLI_TRUST_WORKSPACE === 'true') return null
  const folders = settingsOf(trustedFoldersFile(place), read)
  let at = place.root
  if (folders[at] !== 'DO_NOT_TRUST') {
    for (;;) {
      if (folders[at] === 'TRUST_FOLDER') return null
      if (dirname(at) === at) break
      at = dirname(at)
    }
  }
  return {
    detail: `Gemini CLI does not trust ${place.root}, so it loads no hooks of it`,
    remedy: 'cordon install gemini --project writes the trust down.',
  }
}

function said(file: string, what: string): SwitchedOff {
  return { detail: `${file} says ${what}`, remedy: 'Remove that line.' }
}

/** The settings in a file, which may hold comments; nothing when it cannot be read, which the host cannot either. */
function settingsOf(file: string, read: Read): Json {
  try {
    const settings = parseSettings(read(file) ?? '{}')
    return isObject(settings) ? settings : {}
  } catch {
    return {}
  }
}

/** Files of the host that hold hooks of others before a call. */
export function otherHooks(agent: HostName, place: InstallPlace, read: Read): readonly string[] {
  const { root, home, env } = place
  const [project, user] = (['project', 'user'] as const).map((scope) => settingsFile(agent, { ...place, scope })) as [
    string,
    string,
  ]
  const places: Readonly<Partial<Record<HostName, readonly [event: string, ...files: string[]]>>> = {
    'claude-code': [
      'PreToolUse',
      join(root, '.claude/settings.local.json'),
      join(root, '.claude/settings.json'),
      join(env.CLAUDE_CONFIG_DIR ?? join(home, '.claude'), 'settings.json'),
    ],
    codex: ['PreToolUse', project, user],
    gemini: ['BeforeTool', project, user],
    qwen: ['PreToolUse', project, user],
  }
  const [event = '', ...files] = places[agent] ?? []
  return [...new Set(files)].filter((file) => {
    const { hooks } = settingsOf(file, read)
    const rows: unknown = isObject(hooks) ? hooks[event] : []
    if (!Array.isArray(rows)) return false
    const commands = rows.flatMap((row: unknown) => (isObject(row) && Array.isArray(row.hooks) ? row.hooks : []))
    return commands.some((hook: unknown) => isObject(hook) && !isHookCommand(hook.command))
  })
}
