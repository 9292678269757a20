/** Command rules of the form `Tool(text)`, which most agent hosts have. */

import { recordOf } from '../../system/json.ts'
import { type CommandWord, listed, unreadable } from './command-words.ts'
import type { Verdict } from './rules.ts'

/** Claude Code's settings. */
export function claudeCommands(settings: unknown): readonly CommandWord[] {
  return permissionsOf(settings, CLAUDE_SHELLS, CLAUDE_FILES)
}

/** Qwen Code's, with older lists that it still reads. */
export function qwenCommands(settings: unknown): readonly CommandWord[] {
  const { tools, excludeTools } = recordOf(settings)
  return [
    ...permissionsOf(settings, QWEN_SHELLS, QWEN_FILES),
    ...excludedCommands(recordOf(tools).exclude, QWEN_SHELLS),
    ...excludedCommands(excludeTools, QWEN_SHELLS),
  ]
}

/** Cursor's: `Shell(git)` names a program, `Shell(npm:install*)` its arguments as well. */
export function cursorCommands(settings: unknown): readonly CommandWord[] {
  return listed(recordOf(recordOf(settings).permissions).deny, 'permissions.deny', (rule) =>
    inBrackets(rule, 'deny', CURSOR_SHELLS, 'words').map((word) => ({
      ...word,
      text: word.text.replace(/^([^\s:]+):(?!\*$)/, '$1 '),
    })),
  )
}

/** Copilot CLI's --deny-tool: names a command by its first words, separated by commas. */
export function copilotCommands(given: unknown): readonly CommandWord[] {
  if (typeof given !== 'string') return [unreadable('--deny-tool')]
  const rules = given.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? []
  return rules.flatMap((rule) => inBrackets(rule, 'deny', COPILOT_SHELLS, 'words'))
}

/** Kimi Code's: `[[permission.rules]]`, or lists by verdict, each with a pattern or a tool and its match. */
export function kimiCommands(settings: unknown): readonly CommandWord[] {
  const { rules, deny, ask } = recordOf(recordOf(settings).permission)
  return [
    ...tabled(rules, null, ({ decision }) => decision),
    ...tabled(deny, 'deny', () => 'deny'),
    ...tabled(ask, 'ask', () => 'ask'),
  ]
}

/** Grok's: `[permission]` as lists or as rules, and Claude Code's settings. */
export function grokCommands(settings: unknown): readonly CommandWord[] {
  const { rules, deny, ask } = recordOf(recordOf(settings).permission)
  return [
    ...claudeCommands(settings),
    ...claudeCommands({ permissions: { deny, ask } }),
    ...tabled(rules, null, ({ action }) => action),
  ]
}

/** Droid's: commands by their first words. */
export function droidCommands(settings: unknown): readonly CommandWord[] {
  const { commandBlocklist, commandDenylist } = recordOf(settings)
  const word = (verdict: Verdict) => (text: string) => [{ verdict, form: 'words', text, said: text } as const]
  return [
    ...listed(commandBlocklist, 'commandBlocklist', word('deny')),
    ...listed(commandDenylist, 'commandDenylist', word('ask')),
  ]
}

/** Rules as tables; a verdict that is not known asks about every command. */
function tabled(
  value: unknown,
  verdict: Verdict | null,
  verdictOf: (rule: Readonly<Record<string, unknown>>) => unknown,
): CommandWord[] {
  if (value === undefined) return []
  const rules = Array.isArray(value) ? value : [value]
  return rules.flatMap((one: unknown) => {
    const rule = typeof one === 'string' ? { pattern: one } : recordOf(one)
    const { tool, pattern, match = pattern } = rule as Readonly<Record<string, unknown>>
    const found = verdict ?? verdictOf(rule)
    if (found === 'allow') return []
    if (found !== 'deny' && found !== 'ask') return [unreadable('a rule')]
    const said = typeof tool === 'string' ? `${tool}${typeof match === 'string' ? `(${match})` : ''}` : pattern
    return typeof said === 'string' ? inBrackets(said, found, TABLED_SHELLS, 'glob') : [unreadable('a rule')]
  })
}

/** A list of excluded tools that names commands by their first words. */
export function excludedCommands(value: unknown, shells: ReadonlySet<string>): CommandWord[] {
  return listed(value, 'excluded tools', (rule) => inBrackets(rule, 'deny', shells, 'words'))
}

const CLAUDE_SHELLS: ReadonlySet<string> = new Set(['Bash', 'Monitor'])
const QWEN_SHELLS: ReadonlySet<string> = new Set('Bash Shell ShellTool run_shell_command Monitor monitor'.split(' '))
const TABLED_SHELLS: ReadonlySet<string> = new Set(['Bash', 'bash'])
const CURSOR_SHELLS: ReadonlySet<string> = new Set(['Shell'])
const COPILOT_SHELLS: ReadonlySet<string> = new Set(['shell', 'bash'])

/** File tools whose rules the host also applies to commands. */
type FileTools = Readonly<Record<string, 'read' | 'write'>>
const CLAUDE_FILES: FileTools = { Read: 'read', Edit: 'write', Write: 'write' }
const QWEN_FILES: FileTools = {
  ...CLAUDE_FILES,
  ...{ ReadFile: 'read', read_file: 'read' },
  ...{ EditFile: 'write', edit: 'write', WriteFile: 'write', write_file: 'write' },
}

function permissionsOf(settings: unknown, shells: ReadonlySet<string>, files: FileTools): readonly CommandWord[] {
  const permissions = recordOf(recordOf(settings).permissions)
  return (['deny', 'ask'] as const).flatMap((verdict) =>
    listed(permissions[verdict], `permissions.${verdict}`, (rule) => [
      ...inBrackets(rule, verdict, shells, 'glob'),
      ...aboutFiles(rule, verdict, files),
    ]),
  )
}

/** `Read(./.env)`; the host itself enforces a rule about all files. */
function aboutFiles(rule: string, verdict: Verdict, files: FileTools): CommandWord[] {
  const [, tool = '', text = ''] = /^\s*(\w+)\s*\((.+)\)\s*$/s.exec(rule) ?? []
  if (!Object.hasOwn(files, tool) || /^\s*\**\s*$/.test(text)) return []
  return [{ verdict, form: files[tool]!, text, said: rule }]
}

/** `Bash(git push:*)`; empty for a tool that runs no commands. */
function inBrackets(
  rule: string,
  verdict: Verdict,
  shells: ReadonlySet<string>,
  form: 'words' | 'glob',
): CommandWord[] {
  const [, tool = '', inside] = /^\s*([^\s(]+)\s*(?:\((.*)\))?\s*$/s.exec(rule) ?? []
  if (tool === '') return [...shells].some((shell) => rule.includes(shell)) ? [unreadable(rule)] : []
  if (!shells.has(tool)) return []
  const every = inside === undefined || /^\s*:?\**\s*$/.test(inside)
  return [{ verdict, form: every ? 'every' : form, text: inside ?? '', said: rule }]
}
