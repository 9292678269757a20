/** Where each host keeps its hooks, and its settings with ours among them: files in, files out, nothing written. */

import { join } from 'node:path'
import {
  HOOK_MARK,
  HOOK_TIMEOUT_SECONDS,
  hookCommand,
  hookProgram,
  isHookProgram,
  resultCommand,
  resultProgram,
} from '../hook-command.ts'
import { CODEX_RULES, codexHome, codexRules, isCodexRules } from '../hosts/codex-rules.ts'
import type { HostName, Json } from '../hosts/host.ts'
import { isOpencodePlugin, opencodePlugin } from '../hosts/opencode-plugin.ts'
import { isPiExtension, piExtension } from '../hosts/pi-extension.ts'
import { checkClaude, withDenials } from './claude-settings.ts'
import { checkGemini, withoutLocalEnv } from './gemini-settings.ts'
import { editRows, type Row } from './hook-rows.ts'
import type { FileChange, InstallPlace } from './install-place.ts'
import { hasPath, withValue } from './jsonc-text.ts'
import { SettingsError } from './settings-error.ts'

interface HostSettings {
  readonly file: (place: InstallPlace) => string
  /** The text with our hooks in it, or without them (`commands` null); `original` is what stood there before ours. */
  readonly edit: (
    text: string | null,
    commands: Commands | null,
    place: InstallPlace,
    original: string | null,
  ) => string | null
  /** A second file: for results where a host keeps each hook in one, or for what its own sandbox leaves alone. */
  readonly second?: Pick<HostSettings, 'file' | 'edit'>
  /** How a project's own hook can be missed by the host: the user's settings are where ours goes unless it is said. */
  readonly missed: string
  /** The files are programs. */
  readonly isProgram?: true
}

/** The command lines before a call and after it. */
interface Commands {
  readonly call: string
  readonly result: string
}

const clineHooks = ({ scope, root, home, env }: InstallPlace): string =>
  scope === 'project' ? join(root, '.clinerules/hooks') : join(env.CLINE_DIR ?? join(home, '.cline'), 'hooks')

const SETTINGS: Readonly<Record<HostName, HostSettings>> = {
  'claude-code': {
    file: ({ scope, root, home, env }) =>
      scope === 'project'
        ? join(root, '.claude/settings.local.json')
        : join(env.CLAUDE_CONFIG_DIR ?? join(home, '.claude'), 'settings.json'),
    missed:
      'Claude Code does not find a project’s hooks from a sub-directory outside git, nor with --setting-sources user',
    edit: (text, commands, { wrapper }, original) =>
      withDenials(
        editRows(text, commands && groups(commands, CLAUDE_EVENTS, HOOK_TIMEOUT_SECONDS), original, {
          paths: CLAUDE_EVENTS.map(([event]) => ['hooks', event]),
          comments: false,
          check: checkClaude,
        }),
        commands !== null,
        original,
        wrapper,
      ),
  },
  codex: {
    file: ({ scope, root, home, env }) =>
      join(scope === 'project' ? join(root, '.codex') : codexHome({ home, env }), 'hooks.json'),
    second: {
      file: ({ scope, root, home, env }) =>
        join(scope === 'project' ? join(root, '.codex') : codexHome({ home, env }), CODEX_RULES),
      edit: (text, commands, { wrapper }) => whole(text, isCodexRules, commands && codexRules(wrapper)),
    },
    missed: 'Codex has no project hooks in `exec --worktree`, nor in a sub-directory outside git',
    edit: (text, commands, _, original) =>
      editRows(text, commands && groups(commands, USE_EVENTS, HOOK_TIMEOUT_SECONDS), original, {
        paths: USE_EVENTS.map(([event]) => ['hooks', event]),
        comments: false,
      }),
  },
  gemini: {
    file: ({ scope, root, home, env }) =>
      join(scope === 'user' ? (env.GEMINI_CLI_HOME ?? home) : root, '.gemini/settings.json'),
    missed: 'Gemini CLI finds a project’s hooks from the project’s own folder alone',
    edit: (text, commands, _, original) => {
      const edited = editRows(
        text,
        commands && groups(commands, GEMINI_EVENTS, HOOK_TIMEOUT_SECONDS * 1000),
        original,
        {
          paths: GEMINI_EVENTS.map(([event]) => ['hooks', event]),
          comments: true,
          check: checkGemini,
        },
      )
      return commands === null || edited === null ? edited : withoutLocalEnv(edited)
    },
  },
  cursor: {
    file: ({ scope, root, home }) => join(scope === 'user' ? home : root, '.cursor/hooks.json'),
    missed: 'Cursor loads a project’s hooks in a trusted workspace alone, and a worktree has none',
    edit: (text, commands, _, original) => {
      const timeout = HOOK_TIMEOUT_SECONDS
      const before = CURSOR_EVENTS.map((event) => ({
        path: ['hooks', event],
        item: { command: commands?.call, timeout, failClosed: true },
      }))
      const after = { path: ['hooks', 'postToolUse'], item: { command: commands?.result, timeout } }
      const versioned = commands !== null && !hasPath(text, ['version']) ? withValue(text, ['version'], 1) : text
      return editRows(versioned, commands && [...before, after], original, {
        paths: [...before, after].map(({ path }) => path),
        comments: true,
      })
    },
  },
  opencode: {
    file: ({ scope, root, home, env }) =>
      scope === 'project'
        ? join(root, '.opencode/plugins/cordon.js')
        : join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'opencode/plugins/cordon.js'),
    missed: 'opencode finds a project’s plugins neither in a worktree nor with OPENCODE_DISABLE_PROJECT_CONFIG',
    edit: (text, commands, place) =>
      whole(text, isOpencodePlugin, commands && opencodePlugin(bakedRoot(place), place.cordon)),
  },
  copilot: {
    file: ({ scope, root, home, env }) =>
      scope === 'project'
        ? join(root, '.github/hooks/cordon.json')
        : join(env.COPILOT_HOME ?? join(home, '.copilot'), 'hooks/cordon.json'),
    missed: 'Copilot CLI finds a project’s hooks in a trusted folder alone, and not in a worktree',
    edit: (text, commands) => {
      const row = (bash: string): Json => ({ type: 'command', bash, timeoutSec: HOOK_TIMEOUT_SECONDS })
      const hooks = commands && { preToolUse: [row(commands.call)], postToolUse: [row(commands.result)] }
      return whole(
        text,
        (known) => known.includes(HOOK_MARK),
        hooks && `${JSON.stringify({ version: 1, hooks }, null, 2)}\n`,
      )
    },
  },
  pi: {
    file: ({ scope, root, home, env }) =>
      scope === 'project'
        ? join(root, '.pi/extensions/cordon.ts')
        : join(env.PI_CODING_AGENT_DIR ?? join(home, '.pi/agent'), 'extensions/cordon.ts'),
    missed: 'pi finds a project’s extensions from the project’s own folder alone',
    edit: (text, commands, place) =>
      whole(text, isPiExtension, commands && piExtension(bakedRoot(place), place.cordon)),
  },
  qwen: {
    file: ({ scope, root, home, env }) =>
      scope === 'project'
        ? join(root, '.qwen/settings.json')
        : join(env.QWEN_HOME ?? join(home, '.qwen'), 'settings.json'),
    missed: 'Qwen Code finds a project’s hooks from the project’s own folder alone, and in a trusted one',
    edit: (text, commands, _, original) =>
      editRows(text, commands && groups(commands, PROMPT_EVENTS, HOOK_TIMEOUT_SECONDS), original, {
        paths: PROMPT_EVENTS.map(([event]) => ['hooks', event]),
        comments: true,
      }),
  },
  cline: {
    file: (place) => join(clineHooks(place), 'PreToolUse'),
    missed: 'Cline finds a project’s hooks from the project’s own folder alone, and not with --worktree',
    edit: (text, commands) => whole(text, isHookProgram, commands && hookProgram(commands.call)),
    second: {
      file: (place) => join(clineHooks(place), 'PostToolUse'),
      edit: (text, commands) => whole(text, isHookProgram, commands && resultProgram(commands.result)),
    },
    isProgram: true,
  },
}

type Which = keyof Commands
const USE_EVENTS: readonly (readonly [string, Which])[] = [
  ['PreToolUse', 'call'],
  ['PostToolUse', 'result'],
]
const PROMPT_EVENTS: readonly (readonly [string, Which])[] = [...USE_EVENTS, ['UserPromptSubmit', 'call']]
const CLAUDE_EVENTS: readonly (readonly [string, Which])[] = [...PROMPT_EVENTS, ['PostToolUseFailure', 'result']]
const GEMINI_EVENTS: readonly (readonly [string, Which])[] = [
  ['BeforeTool', 'call'],
  ['AfterTool', 'result'],
  ['BeforeAgent', 'call'],
]
const CURSOR_EVENTS: readonly string[] = [
  'preToolUse',
  'beforeShellExecution',
  'beforeMCPExecution',
  'beforeReadFile',
  'beforeTabFileRead',
]

/** Why a project's hook can be missed by this host. */
export function missedInProject(host: HostName): string {
  return SETTINGS[host].missed
}

/** Whether the host's hooks are files that it runs. */
export function isProgramHook(host: HostName): boolean {
  return SETTINGS[host].isProgram === true
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

/** Whether a text holds a hook of ours, or is one. */
export function isOwnText(text: string): boolean {
  return text.includes(HOOK_MARK) || text.includes('Written by cordon install')
}

/** Where what stood in a file before ours is kept. */
export function backupOf(path: string): string {
  return `${path}.cordon-backup`
}

/** The changes that install our hook, or take it out; the host's own file first. Throws a `SettingsError` when one stands in the way. */
export function planSettings(
  host: HostName,
  place: InstallPlace,
  read: (path: string) => string | null,
  uninstall: boolean,
): FileChange {
  return planFile(SETTINGS[host], host, place, read, uninstall)
}

/** The change of the second file, for hosts that have one. */
export function planSecondFile(
  host: HostName,
  place: InstallPlace,
  read: (path: string) => string | null,
  uninstall: boolean,
): FileChange | null {
  const { second } = SETTINGS[host]
  return second ? planFile(second, host, place, read, uninstall) : null
}

function planFile(
  { file, edit }: Pick<HostSettings, 'file' | 'edit'>,
  host: HostName,
  place: InstallPlace,
  read: (path: string) => string | null,
  uninstall: boolean,
): FileChange {
  const path = file(place)
  const before = read(path)
  const original = read(backupOf(path))
  try {
    const after =
      before === null && uninstall ? null : edit(before, uninstall ? null : commandsOf(host, place), place, original)
    if (!uninstall || before === null || after === before) return { path, before, after }
    // What differs by nothing but its last line end is what stood there.
    if (original !== null && after !== null && original.trimEnd() === after.trimEnd())
      return { path, before, after: original }
    return { path, before, after: isEmpty(after) && original === null ? null : after }
  } catch (error) {
    if (!(error instanceof SettingsError || error instanceof TypeError || error instanceof SyntaxError)) throw error
    throw new SettingsError(`${path} cannot take the hook: ${error.message}`)
  }
}

/** True for settings in which nothing is left: such a file goes. */
function isEmpty(text: string | null): boolean {
  return text !== null && /^\{\s*(?:"version":\s*1\s*)?\}\s*$/.test(text)
}

/** The rows for Claude Code's form and its like. */
function groups(commands: Commands, events: readonly (readonly [string, Which])[], timeout: number): readonly Row[] {
  return events.map(([event, which]) => ({
    path: ['hooks', event],
    item: { matcher: '*', hooks: [{ type: 'command', command: commands[which], timeout }] },
  }))
}

/** A file that is ours as a whole. */
function whole(text: string | null, isOwn: (text: string) => boolean, wanted: string | null): string | null {
  if (text !== null && !isOwn(text)) {
    if (wanted === null) return text
    throw new SettingsError('it is somebody else’s')
  }
  return wanted
}
