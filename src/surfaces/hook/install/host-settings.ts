/** Where each host keeps its hooks, and its settings with ours among them: files in, files out, nothing written. */

import { join } from 'node:path'
import { HOOK_TIMEOUT_SECONDS, hookCommand, isHookCommand, resultCommand } from '../hook-command.ts'
import { type HostName, isObject, type Json } from '../hosts/host.ts'
import { isOpencodePlugin, opencodePlugin } from '../hosts/opencode-plugin.ts'

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
  /** The text with our hooks in it, or without them (`commands` null). */
  readonly edit: (text: string | null, commands: Commands | null, place: InstallPlace) => string | null
}

/** The command lines before a call and after it. */
interface Commands {
  readonly call: string
  readonly result: string
}

const SETTINGS: Readonly<Record<HostName, HostSettings>> = {
  'claude-code': {
    file: ({ scope, root, home, env }) =>
      scope === 'project'
        ? join(root, '.claude/settings.local.json')
        : join(env.CLAUDE_CONFIG_DIR ?? join(home, '.claude'), 'settings.json'),
    edit: (text, commands) =>
      editJson(text, (settings) => {
        if (commands !== null) checkClaude(settings)
        return withCommands(settings, ['PreToolUse', 'PostToolUse'], commands, HOOK_TIMEOUT_SECONDS)
      }),
  },
  codex: {
    file: ({ scope, root, home, env }) =>
      join(scope === 'project' ? join(root, '.codex') : codexHome(home, env), 'hooks.json'),
    edit: (text, commands) =>
      editJson(text, (settings) =>
        withCommands(settings, ['PreToolUse', 'PostToolUse'], commands, HOOK_TIMEOUT_SECONDS),
      ),
  },
  gemini: {
    file: ({ scope, root, home }) => join(scope === 'project' ? root : home, '.gemini/settings.json'),
    edit: (text, commands) =>
      editJson(text, (settings) => {
        if (commands !== null) checkGemini(settings)
        const known = commands === null ? settings : withoutLocalEnv(settings)
        return withCommands(known, ['BeforeTool', 'AfterTool'], commands, HOOK_TIMEOUT_SECONDS * 1000)
      }),
  },
  cursor: {
    file: ({ scope, root, home }) => join(scope === 'project' ? root : home, '.cursor/hooks.json'),
    edit: (text, commands) =>
      editJson(text, (settings) => {
        const timeout = HOOK_TIMEOUT_SECONDS
        const row = commands === null ? [] : [{ command: commands.call, timeout, failClosed: true }]
        const after = commands === null ? [] : [{ command: commands.result, timeout }]
        const events = [
          'preToolUse',
          'beforeShellExecution',
          'beforeMCPExecution',
          'beforeReadFile',
          'beforeTabFileRead',
        ]
        const before = events.reduce((known, event) => withEvent(known, event, row), {
          version: 1,
          ...settings,
        } as Json)
        return withEvent(before, 'postToolUse', after)
      }),
  },
  opencode: {
    file: ({ scope, root, home, env }) =>
      scope === 'project'
        ? join(root, '.opencode/plugins/cordon.js')
        : join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'opencode/plugins/cordon.js'),
    edit: (text, commands, place) => {
      if (text !== null && !isOpencodePlugin(text)) throw new SettingsError('it is a plugin of somebody else')
      return commands === null ? null : opencodePlugin(bakedRoot(place), place.cordon)
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

/** The command line that would be installed for results. */
export function installedResultCommand(host: HostName, place: InstallPlace): string {
  return resultCommand(host, bakedRoot(place), place.cordon)
}

function commandsOf(host: HostName, place: InstallPlace): Commands {
  return { call: installedCommand(host, place), result: installedResultCommand(host, place) }
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
        : SETTINGS[host].edit(before, uninstall ? null : commandsOf(host, place), place)
    return { path, before, after: uninstall && isEmpty(after) && !isEmpty(before) ? null : after }
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    throw new SettingsError(`${path} cannot take the hook: ${error.message}`)
  }
}

/** True for settings in which nothing is left: such a file goes. */
function isEmpty(text: string | null): boolean {
  return text !== null && /^\{\s*(?:"version":\s*1\s*)?\}\s*$/.test(text)
}

/** The table and the key by which Gemini CLI leaves the .env of a project alone. */
export const LOCAL_ENV = { table: 'advanced', key: 'ignoreLocalEnv' } as const

/**
 * Gemini CLI takes what the .env of a trusted project says into its own environment and that of everything it starts, this hook
 * included: LD_PRELOAD, NODE_OPTIONS, XDG_STATE_HOME. An agent may write such a file.
 */
function withoutLocalEnv(settings: Json): Json {
  const { table, key } = LOCAL_ENV
  const known = settings[table] ?? {}
  if (!isObject(known)) throw new SettingsError(`"${table}" is not an object`)
  return known[key] === true ? settings : { ...settings, [table]: { ...known, [key]: true } }
}

/** Where Gemini CLI keeps which folders it trusts. */
export function trustedFoldersFile({ env, home }: Pick<InstallPlace, 'env' | 'home'>): string {
  return env.GEMINI_CLI_TRUSTED_FOLDERS_PATH ?? join(home, '.gemini/trustedFolders.json')
}

/** Gemini CLI loads a project's hooks only in a folder that it trusts. */
export function planGeminiTrust(place: InstallPlace, read: (path: string) => string | null): FileChange {
  const path = trustedFoldersFile(place)
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

/**
 * The settings with these rows last under an event, and without older ones of ours; what others put there stays. Last, because
 * hosts take the last of two rewrites, and because Codex knows the hooks that it trusts by their place.
 */
function withEvent(settings: Json, event: string, rows: readonly Json[]): Json {
  const hooks = settings.hooks ?? {}
  if (!isObject(hooks)) throw new SettingsError('"hooks" is not an object')
  const known = hooks[event] ?? []
  if (!Array.isArray(known)) throw new SettingsError(`"hooks.${event}" is not a list`)
  const others = known.map(withoutOurs).filter((row) => row !== null)
  const { [event]: _, ...rest } = hooks
  const events = [...others, ...rows].length === 0 ? rest : { ...rest, [event]: [...others, ...rows] }
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

/** The settings with our command under the event before a call, and the other one under the event after it. */
function withCommands(
  settings: Json,
  [call, result]: readonly [string, string],
  commands: Commands | null,
  timeout: number,
): Json {
  const group = (command: string): Json => ({ matcher: '*', hooks: [{ type: 'command', command, timeout }] })
  const before = withEvent(settings, call, commands === null ? [] : [group(commands.call)])
  return withEvent(before, result, commands === null ? [] : [group(commands.result)])
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
