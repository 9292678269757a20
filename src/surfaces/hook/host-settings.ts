/** Where each host keeps its hooks, and its settings with ours among them: files in, files out, nothing written. */

import { join } from 'node:path'
import { HOOK_TIMEOUT_SECONDS, hookCommand, isHookCommand } from './hook-command.ts'
import { type HostName, isObject, type Json } from './host.ts'
import { isOpencodePlugin, opencodePlugin } from './opencode-plugin.ts'

export type Scope = 'project' | 'user'

export interface InstallPlace {
  readonly scope: Scope
  /** Canonical project root. */
  readonly root: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The words that run Cordon. */
  readonly cordon: readonly string[]
}

export interface FileChange {
  readonly path: string
  /** Null when there is no such file. */
  readonly before: string | null
  /** Null when it is to go. */
  readonly after: string | null
}

/** The settings of a host are not as they must be for its hooks to run. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

interface HostSettings {
  readonly file: (place: InstallPlace) => string
  /** The text with our hook in it, or without it (`command` null). */
  readonly edit: (text: string | null, command: string | null, place: InstallPlace) => string | null
}

const SETTINGS: Readonly<Record<HostName, HostSettings>> = {
  'claude-code': {
    file: ({ scope, root, home, env }) =>
      scope === 'project'
        ? join(root, '.claude/settings.local.json')
        : join(env.CLAUDE_CONFIG_DIR ?? join(home, '.claude'), 'settings.json'),
    edit: (text, command) =>
      editJson(text, (settings) => {
        if (command !== null) checkClaude(settings)
        return withEvent(settings, 'PreToolUse', group(command, HOOK_TIMEOUT_SECONDS))
      }),
  },
  codex: {
    file: ({ scope, root, home, env }) =>
      join(scope === 'project' ? join(root, '.codex') : codexHome(home, env), 'hooks.json'),
    edit: (text, command) =>
      editJson(text, (settings) => withEvent(settings, 'PreToolUse', group(command, HOOK_TIMEOUT_SECONDS))),
  },
  gemini: {
    file: ({ scope, root, home }) => join(scope === 'project' ? root : home, '.gemini/settings.json'),
    edit: (text, command) =>
      editJson(text, (settings) => {
        if (command !== null) checkGemini(settings)
        return withEvent(settings, 'BeforeTool', group(command, HOOK_TIMEOUT_SECONDS * 1000))
      }),
  },
  cursor: {
    file: ({ scope, root, home }) => join(scope === 'project' ? root : home, '.cursor/hooks.json'),
    edit: (text, command) =>
      editJson(text, (settings) => {
        const row = command === null ? [] : [{ command, timeout: HOOK_TIMEOUT_SECONDS, failClosed: true }]
        const events = [
          'preToolUse',
          'beforeShellExecution',
          'beforeMCPExecution',
          'beforeReadFile',
          'beforeTabFileRead',
        ]
        return events.reduce((known, event) => withEvent(known, event, row), { version: 1, ...settings } as Json)
      }),
  },
  opencode: {
    file: ({ scope, root, home, env }) =>
      scope === 'project'
        ? join(root, '.opencode/plugins/cordon.js')
        : join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'opencode/plugins/cordon.js'),
    edit: (text, command, place) => {
      if (text !== null && !isOpencodePlugin(text)) throw new SettingsError('it is a plugin of somebody else')
      return command === null ? null : opencodePlugin(bakedRoot(place), place.cordon)
    },
  },
}

/** Where Codex keeps its own. */
export function codexHome(home: string, env: InstallPlace['env']): string {
  return env.CODEX_HOME ?? join(home, '.codex')
}

/** The file that holds a host's hooks. */
export function settingsFile(host: HostName, place: InstallPlace): string {
  return SETTINGS[host].file(place)
}

/** The command line, or for opencode the plugin, that would be installed. */
export function installedCommand(host: HostName, place: InstallPlace): string {
  return hookCommand(host, bakedRoot(place), place.cordon)
}

/** A hook for one project knows its root; one for all of them is told by the host. */
function bakedRoot({ scope, root }: InstallPlace): string | null {
  return scope === 'project' ? root : null
}

/** The change that installs our hook, or takes it out. Throws a `SettingsError` when the file stands in the way. */
export function planSettings(
  host: HostName,
  place: InstallPlace,
  read: (path: string) => string | null,
  uninstall: boolean,
): FileChange {
  const path = settingsFile(host, place)
  const before = read(path)
  try {
    const after =
      before === null && uninstall
        ? null
        : SETTINGS[host].edit(before, uninstall ? null : installedCommand(host, place), place)
    return { path, before, after }
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    throw new SettingsError(`${path} cannot take the hook: ${error.message}`)
  }
}

/** Gemini CLI loads a project's hooks only in a folder that it trusts. */
export function planGeminiTrust(place: InstallPlace, read: (path: string) => string | null): FileChange {
  const path = place.env.GEMINI_CLI_TRUSTED_FOLDERS_PATH ?? join(place.home, '.gemini/trustedFolders.json')
  const before = read(path)
  return { path, before, after: editJson(before, (folders) => ({ ...folders, [place.root]: 'TRUST_FOLDER' })) }
}

function editJson(text: string | null, edit: (settings: Json) => Json): string {
  let settings: unknown = {}
  if (text !== null && text.trim() !== '') {
    try {
      settings = JSON.parse(text)
    } catch (error) {
      throw new SettingsError(`it is not plain JSON (${error instanceof Error ? error.message : error})`)
    }
  }
  if (!isObject(settings)) throw new SettingsError('it is not a JSON object')
  return `${JSON.stringify(edit(settings), null, 2)}\n`
}

/** The settings with these rows first under an event, and without older ones of ours; what others put there stays. */
function withEvent(settings: Json, event: string, rows: readonly Json[]): Json {
  const hooks = settings.hooks ?? {}
  if (!isObject(hooks)) throw new SettingsError('"hooks" is not an object')
  const known = hooks[event] ?? []
  if (!Array.isArray(known)) throw new SettingsError(`"hooks.${event}" is not a list`)
  const others = known.map(withoutOurs).filter((row) => row !== null)
  const { [event]: _, ...rest } = hooks
  const events = [...rows, ...others].length === 0 ? rest : { ...rest, [event]: [...rows, ...others] }
  if (Object.keys(events).length > 0) return { ...settings, hooks: events }
  const { hooks: __, ...without } = settings
  return without
}

function withoutOurs(row: unknown): unknown {
  if (!isObject(row)) return row
  if (isHookCommand(row.command)) return null
  if (!Array.isArray(row.hooks)) return row
  const hooks = row.hooks.filter((hook) => !(isObject(hook) && isHookCommand(hook.command)))
  return hooks.length === row.hooks.length ? row : hooks.length === 0 ? null : { ...row, hooks }
}

function group(command: string | null, timeout: number): readonly Json[] {
  return command === null ? [] : [{ matcher: '*', hooks: [{ type: 'command', command, timeout }] }]
}

/** Claude Code drops all hooks of a file in which one value has the wrong type, without a word. */
function checkClaude(settings: Json): void {
  if (settings.disableAllHooks === true) throw new SettingsError('"disableAllHooks" is true, so no hook would run')
  const { permissions = {} } = settings
  if (!isObject(permissions)) throw new SettingsError('"permissions" is not an object, so Claude Code drops its hooks')
  for (const name of ['allow', 'deny', 'ask', 'additionalDirectories']) {
    const list = permissions[name] ?? []
    if (!Array.isArray(list) || list.some((entry) => typeof entry !== 'string')) {
      throw new SettingsError(`"permissions.${name}" is not a list of texts, so Claude Code drops its hooks`)
    }
  }
  const { env = {} } = settings
  if (!isObject(env) || Object.values(env).some((value) => typeof value !== 'string')) {
    throw new SettingsError('"env" is not an object of texts, so Claude Code drops its hooks')
  }
}

function checkGemini(settings: Json): void {
  const { hooksConfig = {} } = settings
  if (isObject(hooksConfig) && hooksConfig.enabled === false) {
    throw new SettingsError('"hooksConfig.enabled" is false, so no hook would run')
  }
}
