/** Words: quoting, tilde, parameters, substitutions and arithmetic resolved as far as the text determines them. */

import type { CommandExpansionPart, Word as SourceWord, WordPart } from 'unbash'
import type { Dynamic, Hazard, Span, Word } from '../facts.ts'
import { type ArithmeticHost, evaluate, isPlainArithmetic, mayFail } from './arithmetic.ts'
import { expandBraces, expandParameter, type ParameterNode, special } from './expansions.ts'
import { joinArguments, joinSingle, literal, type Piece, plainWord, unknownPiece, unknownWord } from './pieces.ts'
import { isNumeric, noEffects, type Scope, type Value } from './scope.ts'

/** What the expansion of a word needs from the walk. */
export interface WordHost {
  readonly scope: Scope
  /** The text that node positions index. */
  readonly source: string
  readonly home: string
  span(node: { pos: number; end: number }): Span
  substitution(node: { text: string; script: CommandExpansionPart['script']; pos: number; end: number }): void
  hazard(hazard: Hazard): void
  /** Known text that bash evaluates as arithmetic. */
  data(text: string, span: Span): void
  /** An expansion here may fail; bash then drops the rest of the line and goes on with the next. */
  fragile(): void
  /** A variable was assigned by an expansion or by arithmetic. */
  assigned(name: string, span: Span): void
}

const PLAIN = /^[^\\*?[{~]*$/
const ASSIGNMENT_WORD = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/

/** The arguments that a word of a command becomes. */
export function expandArguments(word: SourceWord, host: WordHost): readonly Word[] {
  const span = host.span(word)
  if (word.parts === undefined && word.text === word.value && PLAIN.test(word.text)) return [plainWord(word.text, span)]
  const lone = loneList(word, host)
  if (lone !== null) return lone
  const assignment = ASSIGNMENT_WORD.test(word.text)
  let written: readonly Piece[] = []
  const assigns = repeatable(word, host.scope, () => {
    written = pieces(word, host)
  })
  const groups = expandBraces(written)
  if (groups === null || (assigns && groups.length > 1))
    return [{ ...unknownWord(word.text, 'glob', span, true), prefix: bracePrefix(word.text) }]
  return groups.flatMap((group) =>
    joinArguments(
      // Words from braces no longer count as assignments to bash.
      tilde(group, host, assignment && group === written ? 'argument-assignment' : 'word'),
      host.scope.splitsAtBlanks,
      word.text,
      span,
    ),
  )
}

/** The one word that an assignment's value, a here-string or a case word becomes. */
export function expandSingle(word: SourceWord, host: WordHost, assignment = false): Word {
  const span = host.span(word)
  if (word.parts === undefined && word.text === word.value && PLAIN.test(word.text)) return plainWord(word.text, span)
  const expanded = tilde(pieces(word, host), host, assignment ? 'assignment' : 'word')
  return joinSingle(expanded, word.text, span)
}

/** Text with expansions but without words: the body of a here-document. */
export function expandBody(parts: readonly WordPart[] | undefined, text: string, host: WordHost, span: Span): Word {
  if (parts === undefined) return plainWord(text.replace(/\\([\\$`])/g, '$1').replace(/\\\n/g, ''), span)
  const expanded = parts.flatMap((part) => quotedPart(part, host))
  return joinSingle(expanded, text, span)
}

/**
 * Runs something that braces may repeat, `{a,b}$((n++))`: its assignments are then unknown. Returns
 * whether it assigns.
 */
export function repeatable(word: { text: string }, scope: Scope, run: () => void): boolean {
  if (!/(?:^|[^$])\{/.test(word.text)) {
    run()
    return false
  }
  const outer = scope.effects
  const effects = noEffects()
  scope.effects = effects
  run()
  scope.effects = outer
  scope.suffer(effects)
  if (effects.fragile && outer !== null) outer.fragile = true
  return effects.writes.size > 0
}

/** `"$@"` with known positional parameters becomes exactly those. */
function loneList(word: SourceWord, host: WordHost): readonly Word[] | null {
  const part = word.parts?.length === 1 ? word.parts[0] : undefined
  if (part?.type !== 'DoubleQuoted' || part.parts.length !== 1) return null
  const inner = part.parts[0]
  return inner?.type === 'SimpleExpansion' && inner.text === '$@' ? host.scope.positional : null
}

function bracePrefix(text: string): string {
  return /^[\w./-]*(?=\{)/.exec(text)?.[0] ?? ''
}

function pieces(word: SourceWord, host: WordHost): Piece[] {
  if (word.parts === undefined) return unquotedText(word.text)
  return word.parts.flatMap((part) => partPieces(part, host))
}

/** Unquoted text: a backslash quotes the next character and, before a newline, both vanish. */
function unquotedText(text: string): Piece[] {
  if (!text.includes('\\')) return [literal(text, false)]
  // A continued line joins into one text: `~\` and `/x` on the next line are `~/x`.
  const joined = text.replace(/\\[\s\S]/g, (pair) => (pair === '\\\n' ? '' : pair))
  return joined.split(/(\\[\s\S])/).flatMap((part) => {
    if (part === '') return []
    return [part[0] === '\\' && part.length === 2 ? literal(part.slice(1), true) : literal(part, false)]
  })
}

function partPieces(part: WordPart, host: WordHost): readonly Piece[] {
  switch (part.type) {
    case 'Literal':
      return unquotedText(part.text)
    case 'SingleQuoted':
      return [literal(part.value, true)]
    case 'AnsiCQuoted':
      return [ansiC(part)]
    case 'DoubleQuoted':
    case 'LocaleString':
      return [literal('', true), ...part.parts.flatMap((child) => quotedPart(child, host))]
    case 'Glob':
      return part.kind === 'bracket' ? bracket(part, host) : [literal(part.text, false)]
    case 'BraceExpansion':
      if (part.parts === undefined) return unquotedText(part.text)
      return [literal('{', false), ...part.parts.flatMap((child) => partPieces(child, host)), literal('}', false)]
    case 'ExtendedGlob':
      for (const child of part.parts ?? []) partPieces(child, host)
      return [unknownPiece('glob', false)]
    default:
      return [expansion(part, host, false)]
  }
}

function bracket(part: Extract<WordPart, { type: 'Glob' }>, host: WordHost): readonly Piece[] {
  for (const child of part.parts ?? []) if (child.type !== 'Literal') partPieces(child, host)
  return [literal(part.text, false)]
}

function quotedPart(part: WordPart, host: WordHost): readonly Piece[] {
  if (part.type === 'Literal') return [literal(part.value, true)]
  if (part.type === 'SingleQuoted' || part.type === 'DoubleQuoted' || part.type === 'Glob') {
    return [unknownPiece('transform', true)]
  }
  return [expansion(part, host, true)]
}

/** `$'…'`: escapes for bytes and code points beyond ASCII depend on the locale. */
function ansiC(part: { text: string; value: string }): Piece {
  const risky = /\\(?:x[89a-fA-F][\da-fA-F]|[2-7]\d\d|u|U|x\{|\n)/.test(part.text.replace(/\\\\/g, ''))
  // Bash marks quoted characters with these two internally and doubles them in places.
  const marks = part.value.includes('\u0001') || part.value.includes('\u007f')
  return risky || marks ? unknownPiece('transform', true) : literal(part.value, true)
}

function expansion(part: WordPart, host: WordHost, quoted: boolean): Piece {
  switch (part.type) {
    case 'SimpleExpansion':
      return { ...parameterPiece(bareParameter(part), host, quoted), bare: true }
    case 'ParameterExpansion':
      return parameterPiece(part, host, quoted)
    case 'CommandExpansion':
      host.substitution(part)
      return unknownPiece('substitution', quoted)
    case 'ProcessSubstitution':
      host.substitution(part)
      return unknownPiece('process', quoted)
    case 'ArithmeticExpansion': {
      const fails = mayFail(part.text.slice(1))
      if (fails) host.fragile()
      const value = part.expression === undefined ? null : evaluate(part.expression, arithmeticHost(host), !fails)
      return valuePiece(value, 'arithmetic', quoted, false)
    }
    default:
      return unknownPiece('transform', quoted)
  }
}

function bareParameter(part: { text: string; pos: number; end: number }): ParameterNode {
  return { text: part.text, parameter: part.text.slice(1), pos: part.pos, end: part.end }
}

function parameterPiece(node: ParameterNode, host: WordHost, quoted: boolean): Piece {
  const reader = {
    host,
    single: (word: SourceWord) => expandSingle(word, host),
    arithmetic: (word: SourceWord) => checkArithmeticWord(word, host),
  }
  const result = special(node, reader) ?? expandParameter(node, reader)
  return valuePiece(result.value, result.dynamic, quoted, result.list)
}

function valuePiece(value: Value | null, dynamic: Dynamic, quoted: boolean, list: boolean): Piece {
  if (value === null) return unknownPiece(dynamic, quoted, list)
  return {
    values: value.values,
    quoted,
    written: false,
    list: list && value.values === null,
    integer: value.integer,
    dynamic: value.values === null ? [dynamic] : [],
    ...(value.pattern !== undefined && !list && { pattern: value.pattern }),
  }
}

/** The host that arithmetic inside words works with. */
export function arithmeticHost(host: WordHost): ArithmeticHost {
  return {
    scope: host.scope,
    parts: (parts) => {
      for (const part of parts ?? []) partPieces(part, host)
    },
    substitution: (node) => host.substitution(node),
    assigned: (name, node) => host.assigned(name, host.span(node)),
    data: (node, text) => host.data(text, host.span(node)),
    doubt: (node, text) => host.hazard(arithmeticDoubt(text, host.span(node))),
  }
}

/** The hazard of evaluating data as arithmetic: `a[$(cmd)]` in a variable would run. */
export function arithmeticDoubt(text: string, span: Span): Hazard {
  return {
    code: 'arithmetic-eval',
    message: `\`${text}\` is evaluated as arithmetic although its value is not known to be a number, and can run commands`,
    verdict: 'ask',
    span,
  }
}

/** Checks a word that bash evaluates as arithmetic: a subscript, an offset, an operand of `-eq`. */
export function checkArithmeticWord(word: SourceWord, host: WordHost): void {
  const value = expandSingle(word, host)
  const plain = value.values?.every((text) => isPlainArithmetic(text, host.scope)) ?? isInteger(word, host)
  if (plain) return
  for (const text of value.values ?? []) host.data(text, host.span(word))
  host.hazard(arithmeticDoubt(word.text, host.span(word)))
}

/** `$i` and `"$i"` where i is unknown but certainly digits. */
function isInteger(word: SourceWord, host: WordHost): boolean {
  const name = /^"?\$\{?([A-Za-z_]\w*)\}?"?$/.exec(word.text)?.[1]
  if (name !== undefined) return isNumeric(host.scope.get(name))
  return /^"?\$(?:[#?$!]|\{#[A-Za-z_]\w*(?:\[[@*]\])?\})"?$/.test(word.text)
}

/** Replaces an unquoted tilde at the start (in assignments also after a colon). */
function tilde(
  list: readonly Piece[],
  host: WordHost,
  where: 'word' | 'assignment' | 'argument-assignment',
): readonly Piece[] {
  if (!list.some((piece) => piece.written && piece.values?.[0]?.includes('~'))) return list
  const result: Piece[] = []
  let start = where !== 'argument-assignment'
  let equals = false
  list.forEach((piece, index) => {
    if (!piece.written) {
      if (!(piece.quoted && piece.values?.[0] === '' && piece.values.length === 1)) start = false
      else if (index === 0) start = false
      result.push(piece)
      return
    }
    let rest = piece.values?.[0] ?? ''
    while (rest !== '') {
      if (start && rest[0] === '~') {
        const stop = where === 'word' ? /[/]/ : /[/:]/
        const end = rest.search(stop)
        const name = end === -1 ? rest : rest.slice(0, end)
        // A quote or an expansion inside the prefix switches the tilde off.
        const open = end === -1 && index < list.length - 1
        result.push(open ? literal(name, true) : home(name, host))
        rest = rest.slice(name.length)
        start = false
        continue
      }
      const mark = where === 'word' ? -1 : rest.search(where === 'argument-assignment' && !equals ? /[=]/ : /[:]/)
      if (mark === -1) {
        result.push(literal(rest, false))
        rest = ''
        start = false
      } else {
        result.push(literal(rest.slice(0, mark + 1), false))
        rest = rest.slice(mark + 1)
        equals = true
        start = true
      }
    }
  })
  return result
}

function home(prefix: string, host: WordHost): Piece {
  if (prefix !== '~') return unknownPiece('tilde', true)
  const value = host.scope.untouched('HOME') ? null : host.scope.get('HOME')
  if (value === null) return literal(host.home, true)
  return value.values === null ? unknownPiece('tilde', true) : { ...literal('', true), values: value.values }
}
