/** What the input of a tool names, of which only its fields are known: paths, addresses, commands and patches. PURE. */

export interface NamedValues {
  readonly paths: readonly string[]
  readonly urls: readonly string[]
  readonly commands: readonly string[]
  readonly patches: readonly string[]
  /** More than any known tool names: only some of it would be judged. */
  readonly isTooMuch: boolean
}

/** Fields whose text is always a path or a command. */
const PATH_FIELD =
  /(?:^|_)(?:(?:file)?paths?|pathname|files?|filenames?|dirs?|directory|directories|folders?|cwd|workdir|source|destination|src|dst|dest|target)$/i
const COMMAND_FIELD = /^(?:commands?|cmds?|shell_command|argv)$/i
/** Also a hidden file, and a word with a slash: `x/../../etc/passwd`. */
const PATH_TEXT = /^(?:~?\/|\.\.?\/|file:\/\/\/)[^\n\0]*$|^\.[^\s\0]+$|^[^\s\0]+\/[^\s\0]*$/i
const URL_TEXT = /^(?:https?|wss?):\/\//i
const PATCH_TEXT = /^\s*\*\*\* Begin Patch[^\S\n]*\n/

/** Words in the name of a tool that only reads; other tools may write. */
const READER = /(?:^|_)(?:get|list|read|view|show|search|find|query|fetch|grep|glob)(?:_|$)/i
const WRITER =
  /(?:^|_)(?:write|edit|create|add|delete|remove|move|rename|update|set|put|patch|apply|replace|insert|save|run|exec)(?:_|$)/i

const MOST_TEXTS = 500

/** What a text is, as far as its field and its form say it. */
export function namedValues(input: unknown, quote: (word: string) => string = (word) => word): NamedValues {
  const texts = textsOf(input, quote)
  const [paths, urls, commands, patches] = [new Set<string>(), new Set<string>(), new Set<string>(), new Set<string>()]
  for (const { field, text: given } of texts) {
    const text = given.trim()
    if (PATCH_TEXT.test(text)) patches.add(text)
    else if (URL_TEXT.test(text)) urls.add(text)
    else if (COMMAND_FIELD.test(field)) commands.add(text)
    else if (text !== '' && (PATH_FIELD.test(camelToSnake(field)) || PATH_TEXT.test(text)))
      for (const path of readingsOf(text)) paths.add(path)
  }
  const isTooMuch = texts.length > MOST_TEXTS
  return { paths: [...paths], urls: [...urls], commands: [...commands], patches: [...patches], isTooMuch }
}

/** By its name it reads, and does nothing else. */
export function isReader(tool: string): boolean {
  const words = camelToSnake(tool.replace(/[^a-zA-Z0-9]+/g, '_'))
  return READER.test(words) && !WRITER.test(words)
}

/** An address of a file with and without its escapes: its reader may decode them or not. */
function readingsOf(text: string): readonly string[] {
  const path = text.replace(/^file:\/\//i, '')
  if (path === text) return [path]
  try {
    return [path, decodeURIComponent(path)]
  } catch {
    return [path]
  }
}

interface NamedText {
  readonly field: string
  readonly text: string
}

/** Every text with its field. The words of a command are one text. */
function textsOf(value: unknown, quote: (word: string) => string, field = ''): readonly NamedText[] {
  if (typeof value === 'string') return [{ field, text: value }]
  if (Array.isArray(value)) {
    const words = value.length > 0 && COMMAND_FIELD.test(field) && value.every((word) => typeof word === 'string')
    if (!words) return value.flatMap((item) => textsOf(item, quote, field))
    // One command in words, or several commands: judge both.
    return [...value.map((text) => ({ field, text })), { field, text: value.map(quote).join(' ') }]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) => textsOf(item, quote, name))
}

function camelToSnake(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2')
}
