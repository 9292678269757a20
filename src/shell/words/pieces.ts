/** The pieces of a word, and how bash joins them into arguments. */

import type { Dynamic, Span, Word } from '../facts.ts'
import { MAX_VALUES } from './scope.ts'

/** A stretch of a word with one origin. */
export interface Piece {
  /** Possible texts; null when unknown. */
  readonly values: readonly string[] | null
  /** Protected from splitting, globbing, braces and tilde. */
  readonly quoted: boolean
  /** Written in the text (not the result of an expansion) and unquoted. */
  readonly written: boolean
  /** May become several words or none even inside quotes: `"$@"`. */
  readonly list: boolean
  /** Unknown, but certainly digits: it neither splits nor matches files. */
  readonly integer: boolean
  readonly dynamic: readonly Dynamic[]
  /** Unknown, but a name that this pattern matches. */
  readonly pattern?: string
  /** A `$name` without braces: text that braces put behind it would lengthen the name. */
  readonly bare?: boolean
}

export function literal(text: string, quoted: boolean): Piece {
  return { values: [text], quoted, written: !quoted, list: false, integer: false, dynamic: [] }
}

export function unknownPiece(dynamic: Dynamic, quoted: boolean, list = false): Piece {
  return { values: null, quoted, written: false, list, integer: false, dynamic: [dynamic] }
}

const NOTHING: readonly Dynamic[] = []

/** A word with exactly one value. */
export function plainWord(text: string, span: Span): Word {
  return { text, values: [text], dynamic: NOTHING, prefix: text, pattern: null, splits: false, span }
}

/** A word with unknown value. */
export function unknownWord(text: string, dynamic: Dynamic, span: Span, splits: boolean): Word {
  return { text, values: null, dynamic: [dynamic], prefix: '', pattern: null, splits, span }
}

/** Joins pieces where bash neither splits nor globs: assignments, quoted text, case words. */
export function joinSingle(pieces: readonly Piece[], source: string, span: Span): Word {
  const values = product(pieces)
  if (values === null) return dynamicWord(pieces, source, span, false, null)
  return valuesWord(values, source, span)
}

/** Joins pieces into bash's arguments. */
export function joinArguments(pieces: readonly Piece[], splitsAtBlanks: boolean, source: string, span: Span): Word[] {
  const loose = pieces.filter((piece) => !piece.quoted && !piece.written)
  // Bash does not split a word that ends in a lone `$`.
  if (loose.length > 0 && endsInDollar(pieces)) return [dynamicWord(pieces, source, span, true, null)]
  const settled = pieces.every((piece) => piece.values?.length === 1)
  if (settled) {
    if (loose.length === 0) return vanishes(pieces) ? [] : [field(pieces, source, span)]
    if (splitsAtBlanks || loose.every((piece) => piece.values?.[0] === '')) {
      return split(pieces).map((one) => field(one, source, span))
    }
    return [dynamicWord(pieces, source, span, true, null)]
  }
  const values = product(pieces)
  const matched = values === null ? matchedWord(pieces, source, span) : null
  if (matched !== null) return [matched]
  const steady = loose.every((piece) => piece.values?.every((value) => value !== '' && !/[\s*?[\\]/.test(value)))
  if (values !== null && steady && splitsAtBlanks && !hasGlob(pieces)) return [valuesWord(values, source, span)]
  const splits =
    hasGlob(pieces) ||
    pieces.some((piece) => piece.list) ||
    loose.some((piece) => !(piece.integer && splitsAtBlanks) && !piece.dynamic.includes('process'))
  return [dynamicWord(pieces, source, span, splits, hasGlob(pieces) ? 'glob' : null)]
}

function endsInDollar(pieces: readonly Piece[]): boolean {
  const last = pieces.at(-1)
  return last?.written === true && last.values?.[0]?.endsWith('$') === true
}

/** `"$f"` and `"$d/package.json"` with a name that a pattern matches: one word, which the longer pattern matches. */
function matchedWord(pieces: readonly Piece[], source: string, span: Span): Word | null {
  let pattern = ''
  for (const piece of pieces) {
    const only = piece.values?.length === 1 ? (piece.values[0] ?? '') : null
    if (only === null ? piece.pattern === undefined || !piece.quoted : !piece.quoted && !piece.written) return null
    pattern += only === null ? piece.pattern : only.replace(/[\\*?[\]]/g, '\\$&')
  }
  if (hasGlob(pieces)) return null
  const prefix = pattern.slice(0, pattern.search(/[*?[\\]/))
  return { text: source, values: null, dynamic: ['glob'], prefix, pattern, splits: false, span }
}

/** Nothing written and nothing quoted: braces such as `{a,}` leave such words, and bash drops them. */
function vanishes(pieces: readonly Piece[]): boolean {
  return pieces.every((piece) => !piece.quoted && piece.values?.[0] === '')
}

/** Splits unquoted results of expansions at blanks. */
function split(pieces: readonly Piece[]): Piece[][] {
  const fields: Piece[][] = []
  let current: Piece[] | null = null
  for (const piece of pieces) {
    const text = piece.values?.[0] ?? ''
    if (piece.quoted || piece.written) {
      if (piece.quoted || text !== '') {
        current ??= []
        current.push(piece)
      }
      continue
    }
    for (const part of text.split(/([ \t\n]+)/)) {
      if (part === '') continue
      if (/^[ \t\n]/.test(part)) {
        if (current !== null) fields.push(current)
        current = null
      } else {
        current ??= []
        current.push({ ...piece, values: [part] })
      }
    }
  }
  if (current !== null) fields.push(current)
  return fields
}

/** One argument with known text: a plain value, or a pattern that may match files. */
function field(pieces: readonly Piece[], source: string, span: Span): Word {
  const text =
    pieces.length === 1 ? (pieces[0]?.values?.[0] ?? '') : pieces.map((piece) => piece.values?.[0] ?? '').join('')
  if (!hasGlob(pieces)) return plainWord(text, span)
  return dynamicWord(pieces, source, span, true, 'glob')
}

function valuesWord(values: readonly string[], source: string, span: Span): Word {
  const first = values[0] ?? ''
  return {
    text: values.length === 1 ? first : source,
    values,
    dynamic: [],
    prefix: values.length === 1 ? first : commonPrefix(values),
    pattern: null,
    splits: false,
    span,
  }
}

function dynamicWord(pieces: readonly Piece[], source: string, span: Span, splits: boolean, glob: 'glob' | null): Word {
  const dynamic = new Set<Dynamic>(pieces.flatMap((piece) => piece.dynamic))
  if (glob !== null) dynamic.add(glob)
  if (dynamic.size === 0) dynamic.add('variable')
  const text = pieces.every((piece) => piece.values?.length === 1)
    ? pieces.map((piece) => piece.values?.[0]).join('')
    : source
  return {
    text: glob === null ? source : text,
    values: null,
    dynamic: [...dynamic],
    prefix: literalPrefix(pieces, glob !== null),
    pattern: glob === null ? null : patternOf(pieces),
    splits,
    span,
  }
}

/** Every text the pieces can make; null when unknown or too many. */
function product(pieces: readonly Piece[]): string[] | null {
  let values = ['']
  for (const piece of pieces) {
    if (piece.values === null || piece.list) return null
    if (piece.values.length * values.length > MAX_VALUES) return null
    const options = piece.values
    values = options.length === 1 ? values.map((v) => v + options[0]) : values.flatMap((v) => options.map((o) => v + o))
  }
  return values.length > 1 ? [...new Set(values)] : values
}

function literalPrefix(pieces: readonly Piece[], glob: boolean): string {
  let prefix = ''
  for (const piece of pieces) {
    if (piece.values?.length !== 1) break
    const text = piece.values[0] ?? ''
    const stop = glob && !piece.quoted ? text.search(/[*?[\\]/) : -1
    if (stop !== -1) return prefix + text.slice(0, stop)
    // A value that is split may end the first argument here.
    if (!piece.quoted && !piece.written && /\s/.test(text)) break
    prefix += text
  }
  return prefix
}

function commonPrefix(values: readonly string[]): string {
  let prefix = values[0] ?? ''
  for (const value of values) while (!value.startsWith(prefix)) prefix = prefix.slice(0, -1)
  return prefix
}

/** True when unquoted text could match names of files. */
function hasGlob(pieces: readonly Piece[]): boolean {
  let bracket = false
  for (const piece of pieces) {
    for (const text of piece.values ?? []) {
      if (piece.quoted) {
        if (bracket && text.includes(']')) return true
        continue
      }
      if (/[*?]/.test(text)) return true
      if (!piece.written && text.includes('\\')) return true
      const open = text.indexOf('[')
      if (bracket ? text.includes(']') : open !== -1 && text.indexOf(']', open) !== -1) return true
      if (open !== -1) bracket = true
    }
    if (bracket && piece.values === null) return true
  }
  return false
}

/** The pattern with quoted characters escaped; null when a part of it is unknown. */
function patternOf(pieces: readonly Piece[]): string | null {
  let pattern = ''
  for (const piece of pieces) {
    if (piece.values?.length !== 1) return null
    const text = piece.values[0] ?? ''
    pattern += piece.quoted ? text.replace(/[\\*?[\]]/g, '\\$&') : text
  }
  return pattern
}
