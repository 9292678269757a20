/** Parses an argument vector by a table of options, the way getopt and its relatives do. */

import type { Span, Word } from '../facts.ts'
import { type CompiledSpec, type OptionRow, roles } from './spec.ts'

/** A word, or the part of a word that is an option's value. */
export interface Arg {
  /** The value; null when it cannot be known. */
  readonly text: string | null
  /** Literal text that the value starts with. */
  readonly prefix: string
  /** The pattern when the value comes from a glob. */
  readonly pattern: string | null
  readonly word: Word
}

/** An option as it was used. */
export interface OptionUse {
  readonly row: OptionRow | null
  /** As written, without its value: `--out` for an abbreviated `--output`. */
  readonly name: string
  readonly value: Arg | null
  readonly span: Span
}

interface ParsedArgs {
  readonly options: readonly OptionUse[]
  readonly operands: readonly Arg[]
  /** Unknown words that could be an option. */
  readonly unclear: readonly Arg[]
  /** Index in `args` of the first word after the first operand, when parsing stopped there; else args.length. */
  readonly next: number
  /** Operands before a `--`; equal to the number of operands without one. */
  readonly beforeDashes: number
}

export function argOf(word: Word): Arg {
  const only = word.values?.length === 1 ? (word.values[0] ?? '') : null
  return { text: only, prefix: only ?? word.prefix, pattern: only === null ? word.pattern : null, word }
}

/** The part of an argument after `at` characters of literal text. */
function tail(arg: Arg, at: number): Arg {
  return {
    text: arg.text === null ? null : arg.text.slice(at),
    prefix: arg.prefix.slice(at),
    pattern: arg.pattern === null || !arg.pattern.startsWith(arg.prefix.slice(0, at)) ? null : arg.pattern.slice(at),
    word: arg.word,
  }
}

const numeric = /^"?\$[?#$!]"?$/
const counting = /"?\$\((nproc|nproc --all|getconf _NPROCESSORS_ONLN|sysctl -n hw\.(ncpu|logicalcpu))\)"?/

/** True when the unknown text is a number, or a descriptor: it cannot name an option that does harm. */
export function isNumeric(arg: Arg): boolean {
  if (arg.text !== null) return false
  // A process substitution is a name below /dev/fd.
  if (arg.word.dynamic.every((kind) => kind === 'arithmetic' || kind === 'process')) return true
  const rest = arg.word.text.replace(counting, '1')
  return numeric.test(arg.word.text) || (rest !== arg.word.text && !/[$`*?]/.test(rest))
}

/** True when an unknown word may add further words to the command. */
function addsWords(arg: Arg): boolean {
  return arg.text === null && arg.word.splits && !arg.word.dynamic.every((kind) => kind === 'glob')
}

function findLong(name: string, compiled: CompiledSpec): OptionRow | null {
  const exact = compiled.rows.get(name)
  if (exact !== undefined) return exact
  if (compiled.spec.abbreviates === false || name.length < 3) return null
  const matches = compiled.longNames.filter((long) => long.startsWith(name))
  // An ambiguous abbreviation fails in most programs; where it does not, the riskiest reading is the safe one.
  const rows = matches.map((long) => compiled.rows.get(long)).filter((row) => row !== undefined)
  if (rows.length === 1 && compiled.spec.abbreviates === true) return rows[0] ?? null
  // A harmless one is not taken at all: `--upgrade` is a flag, and must not swallow a word for `--upgrade-strategy`.
  return rows.find((row) => row.role !== 'text') ?? null
}

/** Whether a word would be a risky option in the position of an option. */
function isDangerous(text: string, compiled: CompiledSpec): boolean {
  if (!/^-[^\s]/.test(text) || /\s/.test(text)) return false
  const name = text.split('=')[0] ?? ''
  const row =
    compiled.rows.get(name) ?? (name.startsWith('--') ? findLong(name, compiled) : compiled.rows.get(name.slice(0, 2)))
  return row != null && roles[row.role].hazard !== null
}

/** Splits `args` into options and operands; with `stops` the first operand ends the options. */
export function parseArgs(
  args: readonly Arg[],
  compiled: CompiledSpec,
  stops: boolean = compiled.spec.stops === true,
): ParsedArgs {
  const options: OptionUse[] = []
  const operands: Arg[] = []
  const unclear: Arg[] = []
  const style = compiled.spec.style ?? 'gnu'
  const ends = compiled.spec.ends?.split(' ') ?? []
  let index = 0
  let dashes = -1

  const push = (name: string, row: OptionRow | null, value: Arg | null, span: Span): void => {
    options.push({ name, row, value, span })
    if (row !== null && ends.includes(row.name)) dashes = operands.length
  }
  const takeNext = (): Arg | null => {
    const arg = args[index]
    // Whether an option takes a value differs between versions: a word that is a dangerous option is never hidden as one.
    if (arg === undefined || isDangerous(arg.text ?? '', compiled)) return null
    index += 1
    if (addsWords(arg) && !isNumeric(arg)) unclear.push(arg)
    return arg
  }
  const longOption = (arg: Arg): void => {
    const equals = arg.prefix.indexOf('=')
    const name = equals < 0 ? arg.prefix : arg.prefix.slice(0, equals)
    if (equals < 0 && arg.text === null) {
      unclear.push(arg)
      return
    }
    const row = style === 'word' ? findWord(name) : findLong(name, compiled)
    if (equals >= 0) {
      if (addsWords(arg) && !isNumeric(arg)) unclear.push(arg)
      push(name, row, tail(arg, equals + 1), arg.word.span)
    } else push(name, row, takeFor(row), arg.word.span)
  }
  const takeFor = (row: OptionRow | null): Arg | null => {
    if (row?.takes === 'value') return takeNext()
    if (row?.takes === 'pair') {
      takeNext()
      return takeNext()
    }
    if (row?.takes === 'command') {
      while (index < args.length) {
        const text = args[index]?.text
        index += 1
        if (text === ';' || (text === '+' && args[index - 2]?.text === '{}')) break
      }
    }
    return null
  }
  const findWord = (name: string): OptionRow | null => {
    const single = name.startsWith('--') ? name.slice(1) : name
    return compiled.rows.get(name) ?? compiled.rows.get(single) ?? compiled.rows.get(`-${name}`) ?? null
  }
  const cluster = (arg: Arg, letters: string, start: number): void => {
    for (let at = start; at < letters.length; at += 1) {
      const name = `-${letters[at]}`
      const row = compiled.rows.get(name) ?? null
      if (row === null || row.takes === 'nothing') {
        push(name, row, null, arg.word.span)
        continue
      }
      const glued = at + 1 < letters.length || (arg.text === null && arg.prefix === letters)
      if (glued) {
        if (addsWords(arg) && !isNumeric(arg)) unclear.push(arg)
        // Go, Rust and JavaScript programs take `-o=x` as `-o x`; getopt takes the sign as part of the value.
        const sign = compiled.spec.abbreviates === false && letters[at + 1] === '=' ? 1 : 0
        push(name, row, tail(arg, at + 1 + sign), arg.word.span)
        return
      }
      push(name, row, takeFor(row), arg.word.span)
      return
    }
    if (arg.text === null && !isNumeric(arg)) unclear.push(arg)
  }
  /** `tar xzf a.tar`: letters without a dash take their values from the following words, in order. */
  const bundle = (arg: Arg, letters: string): void => {
    for (const letter of letters) {
      const row = compiled.rows.get(`-${letter}`) ?? null
      push(`-${letter}`, row, row?.takes === 'value' ? takeNext() : null, arg.word.span)
    }
  }

  while (index < args.length) {
    const arg = args[index] as Arg
    index += 1
    const text = arg.prefix
    if (dashes >= 0) {
      operands.push(arg)
    } else if (arg.text === '--') {
      dashes = operands.length
    } else if (compiled.spec.bundled && index === 1 && arg.text !== null && /^[A-Za-z]/.test(text)) {
      bundle(arg, text)
    } else if (text === '' && arg.text === null) {
      if (!isNumeric(arg)) unclear.push(arg)
      operands.push(arg)
      if (stops) break
    } else if (style === 'keys' || !text.startsWith('-') || text === '-') {
      if (text === '-' && arg.text === null) unclear.push(arg)
      if (text.startsWith('+') && compiled.rows.has('+')) {
        push('+', compiled.rows.get('+') ?? null, tail(arg, 1), arg.word.span)
        continue
      }
      if (addsWords(arg) && !isNumeric(arg)) unclear.push(arg)
      operands.push(arg)
      if (stops) break
    } else if (text.startsWith('--') || style === 'word') {
      longOption(arg)
    } else if (compiled.rows.has(text) || compiled.rows.has(text.split('=')[0] ?? '')) {
      longOrShort(arg, text)
    } else {
      cluster(arg, text, 1)
    }
  }
  return { options, operands, unclear, next: index, beforeDashes: dashes < 0 ? operands.length : dashes }

  function longOrShort(arg: Arg, text: string): void {
    // `-x` alone, or a single-dash word such as `-chdir=dir` that the table lists whole.
    if (text.length === 2 && arg.text !== null) cluster(arg, text, 1)
    else if (text.length > 2 && (compiled.rows.has(text) || text.includes('='))) {
      const name = text.split('=')[0] ?? ''
      if (name.length > 2) longOption(arg)
      else cluster(arg, text, 1)
    } else cluster(arg, text, 1)
  }
}
