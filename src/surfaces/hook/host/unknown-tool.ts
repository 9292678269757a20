/** A tool that its host's table lacks. It asks, and everything its input names is judged with it. */

import type { ForeignCall, HookCall } from '../../../agents/hook/judge.ts'
import { isObject, type Json, ProtocolError } from './host.ts'
import { quoteIfNeeded } from './sandboxed-command.ts'

type Actions = NonNullable<ForeignCall['actions']>

/** Fields whose text is always a path or a command. */
const PATH_FIELD = /(?:^|_)(?:paths?|files?|filenames?|dirs?|directory|directories|folders?|cwd|workdir)$/i
const COMMAND_FIELD = /^(?:commands?|cmds?|shell_command|argv)$/i
const PATH_TEXT = /^(?:~?\/|\.\.?\/|file:\/\/\/)[^\n\0]*$/
const URL_TEXT = /^(?:https?|wss?):\/\//i
const PATCH_TEXT = /^\s*\*\*\* Begin Patch[^\S\n]*\n/

/** Words in the name of a tool that only reads; other tools may write. */
const READER = /(?:^|_)(?:get|list|read|view|show|search|find|query|fetch|grep|glob)(?:_|$)/i
const WRITER =
  /(?:^|_)(?:write|edit|create|add|delete|remove|move|rename|update|set|put|patch|apply|replace|insert|save|run|exec)(?:_|$)/i

/** More than any known tool names; longer inputs are not judged in part. */
const MOST_TEXTS = 500

/** The calls of an unknown tool: each path may be read or written, each command run and each address fetched. */
export function unknownTool(tool: string, input: Json): readonly HookCall[] {
  const texts = textsOf(input)
  if (texts.length > MOST_TEXTS) throw new ProtocolError(`the input of ${tool} is too long to be judged`)
  const paths = new Set<string>()
  const single: Actions[] = []
  const patches: HookCall[] = []
  for (const { field, text } of texts) {
    if (PATCH_TEXT.test(text)) patches.push({ kind: 'tool', tool: 'apply_patch', input: { patch: text } })
    else if (URL_TEXT.test(text)) single.push({ url: text })
    else if (COMMAND_FIELD.test(field)) single.push({ command: text })
    else if (text !== '' && (PATH_FIELD.test(camelToSnake(field)) || PATH_TEXT.test(text)))
      paths.add(text.replace(/^file:\/\//, ''))
  }
  const named = [...paths]
  const words = camelToSnake(tool.replace(/[^a-zA-Z0-9]+/g, '_'))
  const touched: Actions =
    READER.test(words) && !WRITER.test(words) ? { reads: named } : { reads: named, writes: named }
  const actions: Actions[] = [...(named.length === 0 ? [] : [touched]), ...single]
  return [
    { kind: 'foreign', tool, isUnknown: true },
    ...actions.map((actions) => ({ kind: 'foreign', tool, actions }) as const),
    ...patches,
  ]
}

interface NamedText {
  readonly field: string
  readonly text: string
}

/** Every text with its field. The words of a command are one text. */
function textsOf(value: unknown, field = ''): readonly NamedText[] {
  if (typeof value === 'string') return [{ field, text: value }]
  if (Array.isArray(value)) {
    const words = value.length > 0 && COMMAND_FIELD.test(field) && value.every((word) => typeof word === 'string')
    if (!words) return value.flatMap((item) => textsOf(item, field))
    // One command in words, or several commands: judge both.
    return [...value.map((text) => ({ field, text })), { field, text: value.map(quoteIfNeeded).join(' ') }]
  }
  return isObject(value) ? Object.entries(value).flatMap(([name, item]) => textsOf(item, name)) : []
}

function camelToSnake(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2')
}
