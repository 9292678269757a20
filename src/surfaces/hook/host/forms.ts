/** Parts that most hosts' installations share: rows of settings, our own files, and a switch for all hooks. */

import { parseToml, tomlText } from '../../../agents/settings/toml-text.ts'
import { HOOK_MARK, HOOK_TIMEOUT_SECONDS } from './hook-command.ts'
import { editRows, type RowSettings } from './hook-rows.ts'
import type { Json } from './host.ts'
import type { Edit, HookCommands, SwitchedOff } from './host-install.ts'
import { type InstallPlace, SettingsError } from './install-place.ts'

export type Events = Readonly<Record<string, keyof HookCommands | ((commands: HookCommands) => string)>>

export const USE_EVENTS: Events = { PreToolUse: 'call', PostToolUse: 'result' }
export const PROMPT_EVENTS: Events = { ...USE_EVENTS, UserPromptSubmit: 'call' }

/** A host's shell call for testing our hook, in the usual form. */
export function testCall(event: string, tool: string): (cwd: string, command: string) => Json {
  return (cwd, command) => ({
    hook_event_name: event,
    session_id: 'cordon-self-test',
    cwd,
    tool_name: tool,
    tool_input: { command },
  })
}

/** Rows in Claude Code's form. */
export function groupedRows(
  events: Events,
  settings: Omit<RowSettings, 'paths'> & { /** How long the host waits, in its own unit. */ readonly timeout?: number },
): (...args: Parameters<Edit>) => string {
  const { timeout = HOOK_TIMEOUT_SECONDS, ...rest } = settings
  const paths = Object.keys(events).map((event) => ['hooks', event])
  return (text, commands, _, original) => {
    const rows =
      commands &&
      Object.entries(events).map(([event, which]) => ({
        path: ['hooks', event],
        item: {
          matcher: '*',
          hooks: [
            { type: 'command', command: typeof which === 'function' ? which(commands) : commands[which], timeout },
          ],
        },
      }))
    return editRows(text, rows, original, { paths, ...rest })
  }
}

/** Blocks of hooks in TOML, each with its event. Ours come last, and are known by their command. */
export function tomlRows(events: Events): Edit {
  return (text, commands) => {
    const others = withoutOwnBlocks(text ?? '')
    const blocks =
      commands &&
      Object.entries(events).map(([event, which]) => {
        const command = typeof which === 'function' ? which(commands) : commands[which]
        return `[[hooks]]\nevent = ${tomlText(event)}\ncommand = ${tomlText(command)}\ntimeout = ${HOOK_TIMEOUT_SECONDS}\n`
      })
    const end = others === '' || others.endsWith('\n') ? '' : '\n'
    const after = blocks === null ? others : `${others}${end}${blocks.join('')}`
    parseToml(after, 'its settings')
    return after
  }
}

function withoutOwnBlocks(text: string): string {
  const block = /^[ \t]*\[\[[ \t]*hooks[ \t]*\]\][ \t]*\n(?:[ \t]*\w+[ \t]*=.*(?:\n|$))+/gm
  return text.replace(block, (own) => (own.includes(HOOK_MARK) ? '' : own))
}

export function ownFile(
  isOwn: (text: string) => boolean,
  wanted: (commands: HookCommands, place: InstallPlace) => string,
): Edit {
  return (text, commands, place) => {
    if (text !== null && !isOwn(text)) {
      if (commands === null) return text
      throw new SettingsError('it is somebody else’s')
    }
    return commands && wanted(commands, place)
  }
}

/** The first of these files that disables all hooks, by the usual setting or a host's own. */
export function allHooksOff(
  files: readonly string[],
  settings: (file: string) => Json,
  own: (said: Json) => string | null = () => null,
): SwitchedOff | null {
  for (const file of files) {
    const said = settings(file)
    const what = said.disableAllHooks === true ? '"disableAllHooks": true' : own(said)
    if (what !== null) return offBy(file, what)
  }
  return null
}

export function offBy(file: string, what: string): SwitchedOff {
  return { detail: `${file} says ${what}`, remedy: 'Remove that line.' }
}
