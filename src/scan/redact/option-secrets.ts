/** Secrets among the words of a command, found by the rows of `option-rows.ts`. */

import { characterClass } from '../text-bytes.ts'
import { OPTION_ROWS, type OptionRow, SETTERS } from './option-rows.ts'

/** An option as it is looked for. */
interface SecretOption {
  readonly name: string
  readonly gluedOnly: boolean
  /** Of an option of one letter. */
  readonly letter: string | null
}

interface ProgramRow extends Omit<OptionRow, 'options'> {
  readonly options: readonly SecretOption[]
}

let byProgram: ReadonlyMap<string, readonly ProgramRow[]> | null = null

/** Built when a text first names one of the programs: most name none. */
function rowsOf(program: string): readonly ProgramRow[] | undefined {
  byProgram ??= programRows()
  return byProgram.get(program)
}

function programRows(): ReadonlyMap<string, readonly ProgramRow[]> {
  const rows = new Map<string, ProgramRow[]>()
  for (const row of OPTION_ROWS) {
    const options = (row.options?.split(' ') ?? []).map((given): SecretOption => {
      const gluedOnly = given.endsWith('*')
      const name = gluedOnly ? given.slice(0, -1) : given
      return { name, gluedOnly, letter: /^-[A-Za-z]$/.test(name) ? name[1]! : null }
    })
    for (const name of row.programs.split(' ')) rows.set(name, [...(rows.get(name) ?? []), { ...row, options }])
  }
  for (const name of SETTERS) rows.set(name, rows.get(name) ?? [])
  return rows
}

/** The program names that start a search for secrets in a text. */
export const SECRET_PROGRAMS: readonly string[] = [
  ...new Set([...OPTION_ROWS.flatMap((row) => row.programs.split(' ')), ...SETTERS]),
]

/** A secret among words: of the word at `index`, from `start` to its end. */
interface WordSecret {
  readonly index: number
  readonly start: number
}

/** The secrets among the words of one command; `isSecretKey` judges the name of a setting. */
export function wordSecrets(words: readonly string[], isSecretKey: (key: string) => boolean): readonly WordSecret[] {
  const name = words[0]?.split('/').at(-1) ?? ''
  const rows = rowsOf(name)
  if (rows === undefined) return []
  const found = rows.flatMap((row) => rowSecrets(row, words))
  return SETTERS.has(name) ? [...found, ...setSecrets(words, isSecretKey)] : found
}

function rowSecrets(row: ProgramRow, words: readonly string[]): WordSecret[] {
  const from = startOf(row, words)
  if (from === 0) return []
  const found: WordSecret[] = []
  const { options } = row
  for (let index = 1; index < words.length; index++) {
    const start = words[index]![0]
    if (start !== '-' && start !== '/') continue
    for (const option of options) {
      // `htpasswd -b FILE USER V`: the option says that the secret is a word.
      const value = row.word === undefined && !row.stdin ? optionValue(words, index, option, row.flags) : null
      if (value !== null) found.push(...valueSecret(row, words, value))
    }
  }
  if (row.word === undefined || !isGiven(row, words)) return found
  const plain = words.flatMap((word, index) => (index >= from && !word.startsWith('-') ? [index] : []))
  const meant = row.word === 'each' ? plain : [plain.at(row.word === 'last' ? -1 : row.word)]
  return meant.flatMap((index) => {
    if (index === undefined) return []
    const isProse = options.length === 0 && row.after === undefined && !LOOKS_MADE.test(words[index]!)
    return isProse ? [] : valueSecret(row, words, { index, start: 0 })
  })
}

/** Where the words of a row start; 0 where the word that comes before them is missing. */
function startOf({ sub }: ProgramRow, words: readonly string[]): number {
  return sub === undefined ? 1 : words.findIndex((word) => sub.split(' ').includes(word)) + 1
}

/** Whether one of the options of a row is there, of those that have any. */
function isGiven({ options, flags }: ProgramRow, words: readonly string[]): boolean {
  return options.length === 0 || words.some((word) => options.some((option) => optionEnd(word, option, flags) > 0))
}

/** A word that never occurs in a sentence: "vault login failed" is prose. */
const LOOKS_MADE = /^(?=.*[0-9])(?=.*[A-Za-z]).{6,}$|^\S{20,}$/

/** Where an option ends in a word, alone or behind others of one letter; -1 if it is not in it. */
function optionEnd(word: string, { name, letter }: SecretOption, flags = ''): number {
  if (word.startsWith(name)) return name.length
  if (letter === null || word[0] !== '-') return -1
  let end = 1
  while (end < word.length && flags.includes(word[end]!)) end++
  return end > 1 && word[end] === letter ? end + 1 : -1
}

/** Where the value of an option is, if this word is that option. */
function optionValue(words: readonly string[], index: number, option: SecretOption, flags?: string): WordSecret | null {
  const word = words[index]!
  const { gluedOnly, letter } = option
  const at = optionEnd(word, option, flags)
  if (at < 0) return null
  if (at === word.length) return gluedOnly || index + 1 >= words.length ? null : { index: index + 1, start: 0 }
  if (word[at] === '=') return { index, start: at + 1 }
  return letter !== null || gluedOnly ? { index, start: at } : null
}

function valueSecret(
  { after, sources, least = 3 }: ProgramRow,
  words: readonly string[],
  value: WordSecret,
): WordSecret[] {
  const word = words[value.index]!
  let { start } = value
  if (after !== undefined) {
    const mark = word.indexOf(after, start)
    if (mark < 0) return []
    start = mark + 1
  }
  const source = sources ? /^(pass|env|file|fd|stdin)(?::|$)/.exec(word.slice(start)) : null
  if (source !== null) {
    if (source[1] !== 'pass') return []
    start += source[0].length
  }
  const text = word.slice(start)
  return text.length < least || /^[$<*-]/.test(text) ? [] : [{ index: value.index, start }]
}

const SETS: ReadonlySet<string> = new Set(['set', 'config', 'configure', 'setenv', 'setx', 'ENV'])

function setSecrets(words: readonly string[], isSecretKey: (key: string) => boolean): WordSecret[] {
  const at = words.findIndex((word) => SETS.has(word))
  if (at < 0 || (words[0] === 'set' && !/^-[a-zU]*x/.test(words[1] ?? ''))) return []
  return words.flatMap((word, index): WordSecret[] => {
    if (index <= at || word.startsWith('-') || index + 1 >= words.length) return []
    const key = word.split(/[:/]/).at(-1) ?? ''
    const value = words[index + 1]!
    if (!isSecretKey(key) || value.length < 3 || /^[$<*-]/.test(value)) return []
    // A name that is also a word of sentences, or of a list of names.
    if (at === 0 && !LOOKS_MADE.test(value)) return []
    return [{ index: index + 1, start: 0 }]
  })
}

/** A word of a text: its value without quotes, and the positions of its characters. */
interface TextWord {
  readonly value: string
  readonly start: number
  /** Of every character, where quotes are between them. */
  readonly places: readonly number[] | null
}

/** A name with something behind it. */
const NAME = /([\w.-]{1,24})(?=\\?["'`]|[\s;&|<>)]|$)/y

/** A command is read this far, so that a text full of program names costs little. */
const MAX_COMMAND = 512
const MAX_WORDS = 32

/** The secrets of the command that begins with a program's name at `at`, as spans of the text. */
export function commandSecrets(
  text: string,
  at: number,
  isSecretKey: (key: string) => boolean,
): readonly { readonly start: number; readonly end: number }[] {
  NAME.lastIndex = at
  const rows = rowsOf(NAME.exec(text)?.[1] ?? '')
  if (rows === undefined) return []
  const words = listWords(text, at) ?? commandWords(text, at)
  const values = words.map(({ value }) => value)
  const found = wordSecrets(values, isSecretKey).map(({ index, start }) => placeIn(words[index]!, start))
  const fed = rows.filter((row) => row.stdin && startOf(row, values) > 0 && isGiven(row, values))
  return [...found, ...fed.flatMap((row) => inputSecrets(text, at, words, row))].filter(({ start, end }) => start < end)
}

function placeIn({ value, start, places }: TextWord, from: number): { readonly start: number; readonly end: number } {
  const place = (character: number): number => places?.[character] ?? start + character
  return { start: place(from), end: from < value.length ? place(value.length - 1) + 1 : 0 }
}

/** What a command reads: the word of its here-string, and those of the `echo` in front of its pipe. */
function inputSecrets(text: string, at: number, words: readonly TextWord[], row: ProgramRow) {
  const last = words.at(-1)
  const rest = last === undefined ? at : placeIn(last, last.value.length - 1).end
  HERE_STRING.lastIndex = rest
  const here = HERE_STRING.exec(text)
  const given = here === null ? echoedWords(text, at) : commandWords(text, rest + here[0].length).slice(0, 1)
  const values = given.map(({ value }) => value)
  return given.flatMap((word, index) =>
    valueSecret(row, values, { index, start: 0 }).map(({ start }) => placeIn(word, start)),
  )
}

const HERE_STRING = /["']?[ \t]{0,4}<<<[ \t]{0,4}/y

/** The words of an `echo` or `printf` whose output goes into the command at `at`, which may stand behind `sudo` and the like. */
function echoedWords(text: string, at: number): readonly TextWord[] {
  let pipe = at - 1
  while (pipe >= 0 && at - pipe < 64 && /[\w./= \t-]/.test(text[pipe]!)) pipe--
  if (text[pipe] !== '|') return []
  const from = Math.max(0, pipe - MAX_COMMAND)
  const before = text.slice(from, pipe)
  const start = Math.max(before.lastIndexOf('echo '), before.lastIndexOf('printf '))
  return start < 0
    ? []
    : commandWords(text, from + start).filter(({ value }, index) => index > 0 && !value.includes('%'))
}

/** The texts of a list, such as `["docker","login"]`, from the program on; null outside one. */
function listWords(text: string, from: number): readonly TextWord[] | null {
  const quote = text[from - 1]
  if (quote !== '"' && quote !== "'") return null
  const mark = text[from - 2] === '\\' ? `\\${quote}` : quote
  const words: TextWord[] = []
  for (let at = from; words.length < MAX_WORDS && at - from < MAX_COMMAND; ) {
    const end = text.indexOf(mark, at)
    if (end < 0 || end - from > MAX_COMMAND) break
    const value = text.slice(at, end)
    // A command as one text is not a list.
    if (words.length === 0 && /\s/.test(value)) break
    words.push({ value, start: at, places: null })
    let next = end + mark.length
    if (text[next] !== ',') break
    do next++
    while (text[next] === ' ')
    if (!text.startsWith(mark, next)) break
    at = next + mark.length
  }
  return words.length > 1 ? words : null
}

/** The words of a command as a shell reads them; it ends with its line or at an operator. */
function commandWords(text: string, from: number): readonly TextWord[] {
  const limit = Math.min(text.length, from + MAX_COMMAND)
  const words: TextWord[] = []
  for (let at = from; words.length < MAX_WORDS; ) {
    while (at < limit && (text[at] === ' ' || text[at] === '\t')) at++
    const end = endOfPlainWord(text, at, limit)
    const stop = text.charCodeAt(end)
    if (end >= limit || stop === SPACE || stop === TAB) {
      if (end > at) words.push({ value: text.slice(at, end), start: at, places: null })
      if (end >= limit) break
      at = end
      continue
    }
    const quoted = quotedWord(text, at, limit)
    if (quoted.word.value !== '') words.push(quoted.word)
    if (quoted.ends) break
    at = quoted.end
  }
  return words
}

const SPACE = 32
const TAB = 9
const STOPS: Uint8Array = characterClass(' \t\n\r|;&<>)`"\'\\')

function endOfPlainWord(text: string, from: number, limit: number): number {
  let at = from
  while (at < limit && STOPS[text.charCodeAt(at)] !== 1) at++
  return at
}

/** A word with quotes or escapes in it; `ends` where the command ends with it. */
function quotedWord(
  text: string,
  from: number,
  limit: number,
): { readonly word: TextWord; readonly end: number; readonly ends: boolean } {
  let value = ''
  const places: number[] = []
  let quote = ''
  let at = from
  let ends = false
  for (; at < limit; at++) {
    let char = text[at]!
    if (char === '\n' || char === '\r') ends = true
    const next = char === '\\' ? text[at + 1] : undefined
    // A command inside JSON has its quotes and line ends escaped.
    if (next === 'n' || next === 'r') ends = true
    if (ends || (quote === '' && (char === ' ' || char === '\t'))) break
    if (quote === '' && char !== '\\' && char !== '"' && char !== "'" && STOPS[char.charCodeAt(0)] === 1) {
      ends = true
      break
    }
    if (next === '"' || next === "'") {
      at++
      char = next
    }
    if ((char === '"' || char === "'") && (quote === '' || quote === char)) quote = quote === '' ? char : ''
    else {
      value += char
      places.push(at)
    }
  }
  return { word: { value, start: from, places }, end: at, ends: ends || at >= limit }
}
