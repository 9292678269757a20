/** The one mechanism that takes a wrapped command out of a wrapper's arguments, by its row in the table. */

import type { Word } from '../facts.ts'
import { replaceInput, single, textOf } from '../words/known-word.ts'
import { plainWord, unknownWord } from '../words/pieces.ts'
import { execExpression } from './exec-expression.ts'
import type { WrapperRow } from './wrappers.ts'

/** What a wrapper runs. */
export interface Unwrapped {
  /** The command's words; empty when the wrapper runs none. */
  readonly argv: readonly Word[]
  /** Further commands of the same wrapper (`find -exec … -exec …`). */
  readonly more: readonly (readonly Word[])[]
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
  /** Options seen, by name without dashes. */
  readonly seen: ReadonlySet<string>
}

interface Options {
  readonly short: ReadonlyMap<string, 'none' | 'value' | 'glued'>
  readonly long: ReadonlyMap<string, 'none' | 'value' | 'glued'>
}

const compiled = new WeakMap<object, Options>()

function optionsOf(spec: { readonly short?: string; readonly long?: string }): Options {
  const cached = compiled.get(spec)
  if (cached !== undefined) return cached
  const short = new Map<string, 'none' | 'value' | 'glued'>()
  for (const match of (spec.short ?? '').matchAll(/([^:])(:{0,2})/g)) {
    short.set(match[1] as string, match[2] === ':' ? 'value' : match[2] === '::' ? 'glued' : 'none')
  }
  const long = new Map<string, 'none' | 'value' | 'glued'>()
  for (const name of (spec.long ?? '').split(' ')) {
    if (name === '') continue
    long.set(name.replace(/=\??$/, ''), name.endsWith('=?') ? 'glued' : name.endsWith('=') ? 'value' : 'none')
  }
  const options = { short, long }
  compiled.set(spec, options)
  return options
}

/** Takes the command out; null when the row's subcommand does not stand there. */
export function unwrap(row: WrapperRow, argv: readonly Word[]): Unwrapped | null {
  const sub = row.sub
  if (sub !== undefined && !argv.some((word) => word.values?.[0] === sub[0])) return null
  const reader = new Reader(row, argv)
  if (sub !== undefined && !reader.subcommand(sub)) return null
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

  constructor(row: WrapperRow, argv: readonly Word[]) {
    this.#row = row
    this.#words = [...argv]
  }

  subcommand(sub: readonly string[]): boolean {
    const options = optionsOf(this.#row.before ?? {})
    while (this.#at < this.#words.length) {
      const text = textOf(this.#words[this.#at])
      if (text === null) return false
      if (!text.startsWith('-') || text === '-') break
      const known = this.#doubts.length
      this.#option(text, options, true)
      // Behind an option that no table knows, its value may stand.
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

  read(): Unwrapped {
    const row = this.#row
    const options = optionsOf(row)
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
        this.#option(text, options, false)
        continue
      }
      if (text === '-' && !ended && row.names.includes('env')) {
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
      operands,
      texts: this.#texts,
      joined: this.#joins(command),
      assignments,
      chdir: this.#chdir,
      doubts: this.#doubts,
      wary: this.#wary,
      idle: this.#idle,
      seen: this.#seen,
    }
  }

  /** Whether a shell reads the words; `hatch run 'a && b'` hands one a text, `hatch run a b` words. */
  #joins(command: readonly Word[]): boolean {
    if (this.#row.run !== 'joined' || this.#seen.has('x') || this.#seen.has('exec')) return false
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
    if (row.names.includes('entr')) return own.map((word) => replaceInput(word, '/_'))
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
    } else if (word.values === null && !operand && word.prefix === '' && this.#row.names[0] === 'env') {
      this.#doubts.push({ message: `\`${word.text}\` may be an option or an assignment`, word })
    } else if (word.values === null && operand && (word.prefix === '' || word.prefix.startsWith('-'))) {
      this.#doubts.push({ message: `\`${word.text}\` may be an option`, word })
    } else if (word.values?.some((value) => value.startsWith('-') || value.includes('=')) === true) {
      this.#doubts.push({ message: `\`${word.text}\` may be an option`, word })
    } else if (word.values === null && word.prefix.startsWith('-')) {
      this.#doubts.push({ message: `\`${word.text}\` is an option with an unknown value`, word })
    }
  }

  #option(text: string, options: Options, before: boolean): void {
    const word = this.#words[this.#at] as Word
    this.#at++
    if (text.startsWith('--')) {
      const equals = text.indexOf('=')
      const written = equals === -1 ? text.slice(2) : text.slice(2, equals)
      const name = longName(written, options.long)
      const kind = name === null ? undefined : options.long.get(name)
      if (name === null || kind === undefined) {
        this.#doubts.push({ message: `the table does not know the option \`${text}\``, word })
        return
      }
      const value =
        equals !== -1
          ? { ...word, ...single(text.slice(equals + 1)) }
          : kind === 'value'
            ? this.#words[this.#at++]
            : undefined
      this.#took(name, value, word, before)
      return
    }
    for (let i = 1; i < text.length; i++) {
      const letter = text[i] as string
      const kind = options.short.get(letter)
      if (kind === undefined) {
        this.#doubts.push({ message: `the table does not know the option \`-${letter}\``, word })
        return
      }
      if (kind === 'none') {
        this.#took(letter, undefined, word, before)
        continue
      }
      const glued = text.slice(i + 1)
      const value =
        glued !== '' ? { ...word, ...single(glued) } : kind === 'value' ? this.#words[this.#at++] : undefined
      this.#took(letter, value, word, before)
      return
    }
  }

  #took(name: string, value: Word | undefined, word: Word, before: boolean): void {
    if (before) return
    const row = this.#row
    this.#seen.add(name)
    if (row.idle?.includes(name)) this.#idle = true
    if (row.wary?.includes(name)) this.#wary.push({ option: name.length === 1 ? `-${name}` : `--${name}`, word })
    const lookup = row.unsets?.includes(name) ? (textOf(value) ?? 'PATH') : ''
    if (lookup === 'PATH' || lookup === 'HOME') this.#wary.push({ option: `-u ${lookup}`, word })
    if (row.chdir?.includes(name)) this.#chdir = value ?? null
    if (row.placeholder?.includes(name)) this.#placeholder = value === undefined ? '{}' : (textOf(value) ?? '{}')
    if (row.text?.includes(name) && value !== undefined) this.#texts.push(value)
    if (row.splits?.includes(name) && value !== undefined) this.#splitText(value)
    if (value?.splits === true) {
      this.#doubts.push({ message: `\`${value.text}\` may become several words`, word: value })
    }
  }

  /** `env -S 'a b'`: plain words are split; anything with quotes, escapes or `${…}` is left unknown. */
  #splitText(value: Word): void {
    const text = textOf(value)
    if (text === null || /["'\\$#]/.test(text)) {
      this.#doubts.push({ message: `\`${value.text}\` is split into a command of its own`, word: value })
      return
    }
    const parts = text.split(/\s+/).filter((part) => part !== '')
    this.#words.splice(this.#at, 0, ...parts.map((part) => plainWord(part, value.span)))
  }
}

/** `+py=3.12 test:pytest -x`: which environments come first, and the command stands behind the last colon. */
function withoutEnvironment(words: readonly Word[]): readonly Word[] {
  const start = words.findIndex((word) => !/^[+-]/.test(textOf(word) ?? ''))
  const first = words[start]
  if (first === undefined) return words
  const text = textOf(first)
  const bare = text === null ? first : { ...first, ...single(text.slice(text.lastIndexOf(':') + 1)) }
  return [bare, ...words.slice(start + 1)]
}

/** The full name of a long option, which GNU programs accept shortened. */
function longName(written: string, long: ReadonlyMap<string, unknown>): string | null {
  if (long.has(written)) return written
  const matches = [...long.keys()].filter((name) => name.startsWith(written))
  return matches.length === 1 ? (matches[0] as string) : null
}

function assignmentOf(word: Word): { name: string; value: Word } | null {
  const text = textOf(word)
  const match = /^([^=]*)=([\s\S]*)$/.exec(text ?? word.prefix)
  if (match === null || (text === null && word.splits)) return null
  const value = text === null ? { ...word, prefix: match[2] as string } : { ...word, ...single(match[2] as string) }
  return { name: match[1] as string, value }
}
