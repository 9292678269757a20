/** The one mechanism that takes a wrapped command out of a wrapper's arguments, by its row in the table. */

import type { Word } from '../facts.ts'
import type { OptionRow } from '../tables/spec.ts'
import { replaceInput, single, textOf } from '../words/known-word.ts'
import { plainWord, unknownWord } from '../words/pieces.ts'
import type { WrapperRow } from './wrappers.ts'

/** The command of a wrapper. */
export interface UnwrappedCommand {
  /** The command's words; empty when the wrapper runs none. */
  readonly argv: readonly Word[]
  /** Further commands of the same wrapper (`find -exec … -exec …`). */
  readonly more: readonly (readonly Word[])[]
  /** Words in the position of arguments: `parallel ::: a b`. */
  readonly given: readonly Word[]
  /** The wrapper's own operands. */
  readonly operands: readonly Word[]
  /** Shell texts that are run; a word without a single known value is unknowable. */
  readonly texts: readonly Word[]
  /** The words are joined and read by a shell. */
  readonly joined: boolean
  readonly assignments: readonly { readonly name: string; readonly value: Word }[]
  /** Directory the command runs in, when an option changes it. */
  readonly chdir: Word | null
  /** What could not be read: an option the table does not know, a word that could be one. */
  readonly doubts: readonly { readonly message: string; readonly word: Word }[]
  /** Options that are known to reach further. */
  readonly wary: readonly { readonly option: string; readonly word: Word }[]
  /** No command is run: `command -v x`, `env --help`. */
  readonly idle: boolean
  /** The commands are in a file that an option names. */
  readonly fromFile: boolean
  /** Options seen, by name. */
  readonly seen: ReadonlySet<string>
}

/** Takes the command out; null when the row's subcommand does not be there. */
export function unwrap(row: WrapperRow, argv: readonly Word[]): UnwrappedCommand | null {
  const [first] = row.words
  if (first !== undefined && !argv.some((word) => word.values?.[0] === first)) return null
  const reader = new Reader(row, argv)
  if (!reader.subcommand(row.words)) return null
  return row.run === 'exec' ? execExpression(row, argv) : reader.read()
}

class Reader {
  readonly #row: WrapperRow
  /** Grows when an option is split into further words. */
  readonly #words: Word[]
  #at = 1
  readonly #texts: Word[] = []
  readonly #doubts: { message: string; word: Word }[] = []
  readonly #wary: { option: string; word: Word }[] = []
  readonly #seen = new Set<string>()
  #chdir: Word | null = null
  #placeholder: string | null = null
  #idle = false
  #fromFile = false

  constructor(row: WrapperRow, argv: readonly Word[]) {
    this.#row = row
    this.#words = [...argv]
  }

  subcommand(sub: readonly string[]): boolean {
    while (sub.length > 0 && this.#at < this.#words.length) {
      const text = textOf(this.#words[this.#at])
      if (text === null) return false
      if (!text.startsWith('-') || text === '-') break
      const known = this.#doubts.length
      this.#option(text, true)
      // The value of an unlisted option may follow.
      const next = textOf(this.#words[this.#at])
      const mayTake = this.#doubts.length > known && !text.includes('=')
      if (mayTake && next !== null && !next.startsWith('-') && next !== sub[0]) this.#at++
    }
    for (const name of sub) {
      if (textOf(this.#words[this.#at]) !== name) return false
      this.#at++
    }
    return true
  }

  read(): UnwrappedCommand {
    const row = this.#row
    const operands: Word[] = []
    const assignments: { name: string; value: Word }[] = []
    let ended = false
    while (this.#at < this.#words.length) {
      const word = this.#words[this.#at] as Word
      const text = textOf(word)
      if (text === '--' && !ended) {
        ended = true
        this.#at++
        if (row.afterDashes === true) break
        continue
      }
      if (!ended && text !== null && text.startsWith('-') && text !== '-') {
        this.#option(text, false)
        continue
      }
      if (text === '-' && !ended && isEnv(row)) {
        this.#wary.push({ option: '-', word })
        this.#at++
        continue
      }
      if (text === null) this.#unclear(word, operands.length < (row.operands ?? 0))
      const assignment = row.assignments === true ? assignmentOf(word) : null
      if (assignment !== null) {
        assignments.push(assignment)
        this.#at++
        ended = true
        continue
      }
      if (row.afterDashes === true || operands.length < (row.operands ?? 0) || row.permutes === true) {
        operands.push(word)
        this.#at++
        if (row.stops === true && operands.length === row.operands) ended = true
        continue
      }
      break
    }
    if (row.needs !== undefined && !this.#seen.has(row.needs) && this.#doubts.length === 0) this.#idle = true
    const behind = this.#words.slice(this.#at)
    const end =
      row.ends === undefined ? -1 : behind.findIndex((word) => row.ends?.includes(textOf(word) ?? '') === true)
    const rest = end === -1 ? behind : behind.slice(0, end)
    const command = row.run === 'text' ? [] : this.#fill(row.environment === true ? withoutEnvironment(rest) : rest)
    return {
      argv: this.#idle ? [] : command,
      more: [],
      given: end === -1 ? [] : behind.slice(end + 1),
      operands,
      texts: this.#texts,
      joined: this.#joins(command),
      assignments,
      chdir: this.#chdir,
      doubts: this.#doubts,
      wary: this.#wary,
      idle: this.#idle,
      fromFile: this.#fromFile,
      seen: this.#seen,
    }
  }

  /** Whether a shell reads the words; `hatch run 'a && b'` hands one a text, `hatch run a b` words. */
  #joins(command: readonly Word[]): boolean {
    if (this.#row.run !== 'joined' || this.#seen.has('-x') || this.#seen.has('--exec')) return false
    return this.#row.environment !== true || command.length === 1
  }

  /** Adds what comes from input. */
  #fill(rest: readonly Word[]): readonly Word[] {
    const row = this.#row
    if (row.input === undefined) return rest
    const own =
      rest.length === 0 && row.otherwise === 'echo'
        ? [plainWord('echo', this.#words[0]?.span ?? { start: 0, end: 0 })]
        : rest
    if (own.length === 0) return own
    const mark = this.#placeholder ?? (row.input === 'replace' ? '{}' : null)
    if (row.name === 'entr') return own.map((word) => replaceInput(word, '/_'))
    if (mark !== null) return own.map((word) => replaceInput(word, mark))
    if (row.ends !== undefined && own.some((word) => textOf(word)?.includes('{}') === true)) {
      return own.map((word) => replaceInput(word, '{}'))
    }
    const last = own.at(-1) as Word
    return [...own, unknownWord('(input)', 'input', last.span, true)]
  }

  #unclear(word: Word, operand: boolean): void {
    if (word.splits) {
      this.#doubts.push({ message: `\`${word.text}\` may become options or another command`, word })
    } else if (word.values === null && !operand && word.prefix === '' && isEnv(this.#row)) {
      this.#doubts.push({ message: `\`${word.text}\` may be an option or an assignment`, word })
    } else if (word.values === null && operand && (word.prefix === '' || word.prefix.startsWith('-'))) {
      this.#doubts.push({ message: `\`${word.text}\` may be an option`, word })
    } else if (word.values?.some((value) => value.startsWith('-') || value.includes('=')) === true) {
      this.#doubts.push({ message: `\`${word.text}\` may be an option`, word })
    } else if (word.values === null && word.prefix.startsWith('-')) {
      this.#doubts.push({ message: `\`${word.text}\` is an option with an unknown value`, word })
    }
  }

  #option(text: string, before: boolean): void {
    const rows = before ? this.#row.rowsBefore : this.#row.rows
    const word = this.#words[this.#at] as Word
    this.#at++
    // Or a word with one dash that the table lists whole: `arch -arm64`.
    if (text.startsWith('--') || (text.length > 2 && rows.has(text))) {
      const equals = text.indexOf('=')
      const row = longOption(equals === -1 ? text : text.slice(0, equals), rows)
      if (row === null) {
        this.#doubts.push({ message: `the table does not know the option \`${text}\``, word })
        return
      }
      const value =
        equals !== -1
          ? { ...word, ...single(text.slice(equals + 1)) }
          : row.takes === 'value'
            ? this.#words[this.#at++]
            : undefined
      this.#took(row, value, word, before)
      return
    }
    for (let i = 1; i < text.length; i++) {
      const row = rows.get(`-${text[i]}`)
      if (row === undefined) {
        this.#doubts.push({ message: `the table does not know the option \`-${text[i]}\``, word })
        return
      }
      if (row.takes === 'nothing') {
        this.#took(row, undefined, word, before)
        continue
      }
      const glued = text.slice(i + 1)
      const value =
        glued !== '' ? { ...word, ...single(glued) } : row.takes === 'value' ? this.#words[this.#at++] : undefined
      this.#took(row, value, word, before)
      return
    }
  }

  #took({ name, role }: OptionRow, value: Word | undefined, word: Word, before: boolean): void {
    if (before) return
    this.#seen.add(name)
    if (role === 'idle') this.#idle = true
    if (role === 'script') this.#fromFile = true
    if (role === 'wary') this.#wary.push({ option: name, word })
    const lookup = role === 'unset' ? (textOf(value) ?? 'PATH') : ''
    if (lookup === 'PATH' || lookup === 'HOME') this.#wary.push({ option: `-u ${lookup}`, word })
    if (role === 'chdir') this.#chdir = value ?? null
    if (role === 'mark') this.#placeholder = value === undefined ? '{}' : (textOf(value) ?? '{}')
    if (role === 'shell' && value !== undefined) this.#texts.push(value)
    if (role === 'split' && value !== undefined) this.#splitText(value)
    if (value?.splits === true) {
      this.#doubts.push({ message: `\`${value.text}\` may become several words`, word: value })
    }
  }

  /** `env -S 'a b'`: plain words are split; anything with quotes, escapes or `${…}` is left unknown. */
  #splitText(value: Word): void {
    const text = textOf(value)
    if (text === null || /["'\\$#]/.test(text)) {
      this.#doubts.push({ message: `\`${value.text}\` is split into a separate command`, word: value })
      return
    }
    const parts = text.split(/\s+/).filter((part) => part !== '')
    this.#words.splice(this.#at, 0, ...parts.map((part) => plainWord(part, value.span)))
  }
}

/** `+py=3.12 test:pytest -x`: environments come first, the command follows the last colon. */
function withoutEnvironment(words: readonly Word[]): readonly Word[] {
  const start = words.findIndex((word) => !/^[+-]/.test(textOf(word) ?? ''))
  const first = words[start]
  if (first === undefined) return words
  const text = textOf(first)
  const bare = text === null ? first : { ...first, ...single(text.slice(text.lastIndexOf(':') + 1)) }
  return [bare, ...words.slice(start + 1)]
}

/** A long option by its name, which GNU programs accept shortened. */
function longOption(written: string, rows: ReadonlyMap<string, OptionRow>): OptionRow | null {
  const exact = rows.get(written)
  if (exact !== undefined) return exact
  const matches = [...rows.keys()].filter((name) => name.startsWith(written))
  return matches.length === 1 ? (rows.get(matches[0] as string) ?? null) : null
}

const isEnv = (row: WrapperRow): boolean => row.name === 'env' || row.name === 'genv'

function assignmentOf(word: Word): { name: string; value: Word } | null {
  const text = textOf(word)
  const match = /^([^=]*)=([\s\S]*)$/.exec(text ?? word.prefix)
  if (match === null || (text === null && word.splits)) return null
  const value = text === null ? { ...word, prefix: match[2] as string } : { ...word, ...single(match[2] as string) }
  return { name: match[1] as string, value }
}

/** Expressions of find and fd: the commands that are in them between `-exec` and its end. */
const EXEC = new Set(['-exec', '-execdir', '-ok', '-okdir'])
const FD_EXEC = new Set(['-x', '--exec', '-X', '--exec-batch'])
/** Tests of find that take one argument which might look like `-exec`. */
const TAKES_ONE =
  /^-(?:name|iname|path|ipath|wholename|iwholename|regex|iregex|lname|ilname|type|xtype|size|mtime|atime|ctime|mmin|amin|cmin|newer\w*|anewer|cnewer|user|group|uid|gid|perm|links|inum|samefile|maxdepth|mindepth|fstype|printf|regextype|used|fprint0?|fls|context)$/

/** `find … -exec cmd {} ;` and `fd … -x cmd`: every command in the expression. */
function execExpression(row: WrapperRow, argv: readonly Word[]): UnwrappedCommand {
  const fd = row.name === 'fd' || row.name === 'fdfind'
  const commands: Word[][] = []
  const doubts: { message: string; word: Word }[] = []
  const wary: { option: string; word: Word }[] = []
  for (let i = 1; i < argv.length; i++) {
    const word = argv[i] as Word
    const text = textOf(word)
    if (text === null && (word.splits || word.values !== null)) {
      // A pattern that starts with a plain character cannot turn into `-exec`.
      const harmless = word.dynamic.every((reason) => reason === 'glob') && /^[^-(),!]/.test(word.prefix)
      if (!harmless) doubts.push({ message: `\`${word.text}\` may become \`-exec\``, word })
      continue
    }
    if (text === null) {
      // One word can name an action, followed by its arguments; no action contains a slash.
      const action = /^(?:$|[-(),!])/.test(word.prefix) && !/^"?\$\{?\w+\}?\/[^$`]*"?$/.test(word.text)
      if (action) doubts.push({ message: `\`${word.text}\` may be an action of \`${row.name}\``, word })
      continue
    }
    if (!fd && TAKES_ONE.test(text)) {
      i++
      continue
    }
    if (fd ? !FD_EXEC.has(text) && !/^--exec(?:-batch)?=/.test(text) : !EXEC.has(text)) continue
    const command: Word[] = []
    const glued = /^--exec(?:-batch)?=([\s\S]*)$/.exec(text)?.[1]
    if (glued !== undefined) command.push({ ...word, ...single(glued) })
    for (i++; i < argv.length; i++) {
      const part = argv[i] as Word
      const value = textOf(part)
      if (value === ';') break
      if (!fd && value === '+' && textOf(argv[i - 1]) === '{}') {
        command.push({ ...(command.pop() as Word), splits: true })
        break
      }
      if (value === null && (part.splits || part.values !== null)) {
        doubts.push({ message: `\`${part.text}\` may end the command or start another`, word: part })
      }
      command.push(replaceInput(replaceFdMarks(part, fd), '{}'))
    }
    if (fd && !command.some((part) => part.dynamic.includes('input'))) {
      command.push(unknownWord('{}', 'input', word.span, true))
    }
    if (command.length > 0) commands.push(command)
    if (text === '-execdir' || text === '-okdir') wary.push({ option: text, word })
  }
  return {
    argv: commands[0] ?? [],
    more: commands.slice(1),
    given: [],
    operands: [],
    texts: [],
    joined: false,
    assignments: [],
    chdir: null,
    doubts,
    wary,
    idle: false,
    fromFile: false,
    seen: new Set(wary.map((one) => one.option)),
  }
}

function replaceFdMarks(word: Word, fd: boolean): Word {
  if (!fd) return word
  const text = textOf(word)
  return text !== null && /\{(?:\/\/|\/\.|\/|\.)\}/.test(text)
    ? unknownWord(word.text, 'input', word.span, false)
    : word
}
