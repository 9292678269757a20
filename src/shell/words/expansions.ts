/** Brace and parameter expansion: `{a,b}`, `${x:-y}`, resolved if the text determines the value. */

import type { ParameterOperation, Word as SourceWord } from 'unbash'
import type { Dynamic, Word } from '../facts.ts'
import type { Piece } from './pieces.ts'
import { INTEGER, known, UNKNOWN, type Value } from './scope.ts'
import type { WordHost } from './word.ts'

/** The parts of an expansion that matter here; `$x` has only a name. */
export interface ParameterNode {
  readonly text: string
  readonly parameter: string
  readonly pos: number
  readonly end: number
  readonly prefix?: '!' | '#' | undefined
  readonly index?: SourceWord | undefined
  readonly operation?: ParameterOperation | undefined
}

/** Reads words inside an expansion; the caller supplies it. */
interface OperandReader {
  readonly host: WordHost
  single(word: SourceWord): Word
  /** The word is evaluated as arithmetic. */
  arithmetic(word: SourceWord): void
}

interface ExpandedValue {
  readonly value: Value
  readonly dynamic: Dynamic
  /** May become several words or none inside quotes. */
  readonly list: boolean
}

/** `$1`, `$@`, `$#`, `$?` …; null for an ordinary variable. */
export function special(node: ParameterNode, reader: OperandReader): ExpandedValue | null {
  const name = node.parameter
  if (node.prefix === '!' || node.operation?.type === 'Slice') reader.host.fragile()
  if (/^[A-Za-z_]\w+$|^[A-Za-z]$/.test(name)) return null
  const plain = node.prefix === undefined && node.operation === undefined && node.index === undefined
  if (node.operation !== undefined) operate(node.operation, UNKNOWN, reader)
  const list = name === '@' || name === '*' || operandLists(node)
  if (!plain) return { value: node.prefix === '#' ? INTEGER : UNKNOWN, dynamic: 'positional', list }
  if (name === '#') {
    const count = reader.host.scope.positional?.length
    return { value: count === undefined ? INTEGER : known([String(count)]), dynamic: 'positional', list: false }
  }
  if (/^[?$!]$/.test(name)) return { value: name === '!' ? UNKNOWN : INTEGER, dynamic: 'positional', list: false }
  if (/^[1-9]\d*$/.test(name) && reader.host.scope.positional !== null) {
    const word = reader.host.scope.positional[Number(name) - 1]
    if (reader.host.scope.positional.some((one) => one.splits))
      return { value: UNKNOWN, dynamic: 'positional', list: false }
    const values = word === undefined ? [''] : word.values
    return { value: values === null ? UNKNOWN : known(values), dynamic: 'positional', list: false }
  }
  return { value: UNKNOWN, dynamic: 'positional', list }
}

/** A named variable with its operation. */
export function expandParameter(node: ParameterNode, reader: OperandReader): ExpandedValue {
  const index = node.index
  if (index !== undefined && index.text !== '@' && index.text !== '*') {
    if (reader.host.scope.isAssociative(node.parameter)) reader.single(index)
    else reader.arithmetic(index)
  }
  // `${!x}` may name an array with all its elements.
  const list = index?.text === '@' || node.prefix === '!' || operandLists(node)
  const base = node.prefix === '!' || index !== undefined ? UNKNOWN : reader.host.scope.get(node.parameter)
  if (node.prefix === '#') return { value: lengthOf(base), dynamic: 'variable', list: false }
  const dynamic = node.prefix === '!' ? 'transform' : 'variable'
  if (node.operation === undefined) return { value: base, dynamic, list }
  const value = operate(node.operation, base, reader)
  if (node.operation.type === 'Default' && node.operation.operator.endsWith('=')) {
    reader.host.scope.maybeSet(node.parameter, UNKNOWN)
    reader.host.assigned(node.parameter, reader.host.span(node))
  }
  return { value, dynamic: node.operation.type === 'Transform' ? 'transform' : dynamic, list }
}

/** `"${x+$@}"` becomes as many words as there are parameters. */
function operandLists(node: ParameterNode): boolean {
  return node.operation?.type === 'Default' && /\$\{?[@!]|\[@\]/.test(node.text)
}

function lengthOf(value: Value): Value {
  // Length counts characters by locale: only ASCII is certain.
  if (value.values === null || value.values.some((text) => /[^ -~]/.test(text))) return INTEGER
  return known(value.values.map((text) => String(text.length)))
}

/** Applies an operation. Its operands may run commands, but their assignments are uncertain. */
function operate(operation: ParameterOperation, base: Value, reader: OperandReader): Value {
  const { scope } = reader.host
  const before = scope.branch()
  const value = applyOperation(operation, base, reader)
  scope.join(before)
  return value
}

function applyOperation(operation: ParameterOperation, base: Value, reader: OperandReader): Value {
  switch (operation.type) {
    case 'Default': {
      const operand = reader.single(operation.operand)
      return byDefault(operation.operator, base, operand.values, operation.operand)
    }
    case 'Remove': {
      const operand = reader.single(operation.operand)
      return remove(operation.operator, base, operand.values)
    }
    case 'Replace':
      reader.single(operation.pattern)
      reader.single(operation.replacement)
      return UNKNOWN
    case 'Slice':
      reader.arithmetic(operation.offset)
      if (operation.length !== undefined) reader.arithmetic(operation.length)
      return UNKNOWN
    case 'CaseModification':
      if (operation.operand !== undefined) reader.single(operation.operand)
      return operation.operand === undefined ? changeCase(operation.operator, base) : UNKNOWN
    case 'Transform':
      reader.single(operation.operand)
      return UNKNOWN
    default:
      return UNKNOWN
  }
}

function byDefault(operator: string, base: Value, operand: readonly string[] | null, written: SourceWord): Value {
  // A variable that the text sets is set; for others this is unknown.
  if (base.values === null) return UNKNOWN
  const colon = operator.startsWith(':')
  const empty = colon ? base.values.map((value) => value === '') : base.values.map(() => false)
  const allEmpty = empty.every(Boolean)
  if (!allEmpty && empty.some(Boolean)) return UNKNOWN
  const kind = operator.at(-1)
  const usesOperand = kind === '+' ? !allEmpty : allEmpty
  if (!usesOperand) return kind === '+' ? known(['']) : base
  // Quotes inside the operand protect it from splitting, which a piece cannot express.
  if (operand === null || /["'\\~]/.test(written.text)) return UNKNOWN
  return known(operand)
}

function remove(operator: string, base: Value, operand: readonly string[] | null): Value {
  if (base.values === null || operand?.length !== 1) return UNKNOWN
  const pattern = operand[0] ?? ''
  if (/[*?[\\(]/.test(pattern)) return UNKNOWN
  const strip = (text: string): string =>
    operator.startsWith('#')
      ? text.startsWith(pattern)
        ? text.slice(pattern.length)
        : text
      : pattern !== '' && text.endsWith(pattern)
        ? text.slice(0, -pattern.length)
        : text
  return known(base.values.map(strip))
}

function changeCase(operator: string, base: Value): Value {
  if (base.values === null || base.values.some((text) => /[^ -~]/.test(text))) return UNKNOWN
  const up = operator.startsWith('^')
  const all = operator.length === 2
  const change = (text: string): string => (up ? text.toUpperCase() : text.toLowerCase())
  return known(base.values.map((text) => (all ? change(text) : change(text.slice(0, 1)) + text.slice(1))))
}

/** One written character, or a piece that braces do not look into. */
type Token = string | Piece

/** Most words that one word may become; more counts as unknown. */
const MAX_WORDS = 128

/** The words that braces make of one; null when the result is not certain or too large. */
export function expandBraces(pieces: readonly Piece[]): readonly (readonly Piece[])[] | null {
  if (!pieces.some((piece) => piece.written && piece.values?.[0]?.includes('{'))) return [pieces]
  const tokens: Token[] = pieces.flatMap((piece): Token[] => (piece.written ? [...(piece.values?.[0] ?? '')] : [piece]))
  const words = expand(tokens)
  if (words === null || words.some(makesExpansion)) return null
  if (words.length === 1 && words[0]?.length === tokens.length) return [pieces]
  return words.map(assemble)
}

/** True when braces put `$` or `$name` before something that bash then reads together: `{$x,y}1` reads `$x1`. */
function makesExpansion(tokens: readonly Token[]): boolean {
  return tokens.some((token, index) => {
    const next = tokens[index + 1]
    if (token === '$') return next !== undefined
    return typeof token !== 'string' && token.bare === true && typeof next === 'string' && /[\w[]/.test(next)
  })
}

function expand(tokens: readonly Token[]): Token[][] | null {
  for (let open = 0; open < tokens.length; open++) {
    if (tokens[open] !== '{') continue
    if (open === 0 && tokens[1] === '}') continue
    const close = closing(tokens, open)
    if (close === -1) continue
    const before = tokens.slice(0, open)
    const middles = alternatives(tokens.slice(open + 1, close))
    const afters = expand(tokens.slice(close + 1))
    if (middles === null || afters === null || middles.length * afters.length > MAX_WORDS) return null
    return middles.flatMap((middle) => afters.map((after) => [...before, ...middle, ...after]))
  }
  return [[...tokens]]
}

/** The position of the closing brace; bash ignores a pair without a comma or `..`, and reads on. */
function closing(tokens: readonly Token[], open: number): number {
  let level = 0
  let separated = false
  for (let i = open + 1; i < tokens.length; i++) {
    const token = tokens[i]
    if (token === '}' && level === 0 && separated) return i
    if (token === '{') level++
    else if (token === '}' && level > 0) level--
    else if (level > 0) continue
    else if (token === ',') separated = true
    else if (token === '.' && tokens[i + 1] === '.' && tokens[i + 2] !== '}') separated = true
  }
  return -1
}

function alternatives(inside: readonly Token[]): Token[][] | null {
  if (!inside.includes(',')) return sequence(inside)
  const parts: Token[][] = [[]]
  let level = 0
  for (const token of inside) {
    if (token === '{') level++
    if (token === '}' && level > 0) level--
    if (token === ',' && level === 0) parts.push([])
    else parts.at(-1)?.push(token)
  }
  // Without a comma at this level bash drops or keeps the braces depending on their content.
  if (parts.length === 1) return null
  const words: Token[][] = []
  for (const part of parts) {
    const expanded = expand(part)
    if (expanded === null) return null
    words.push(...expanded)
  }
  return words
}

/** `1..3`, `3..1`, `1..9..2`, `a..e`: anything else is left unknown. */
function sequence(inside: readonly Token[]): Token[][] | null {
  if (inside.some((token) => typeof token !== 'string')) return null
  const text = inside.join('')
  const numbers = /^(-?(?:0|[1-9]\d{0,5}))\.\.(-?(?:0|[1-9]\d{0,5}))(?:\.\.([1-9]\d{0,4}))?$/.exec(text)
  if (numbers !== null) {
    return range(Number(numbers[1]), Number(numbers[2]), Number(numbers[3] ?? 1))?.map((n) => [...String(n)]) ?? null
  }
  const letters = /^(?:([a-z])\.\.([a-z])|([A-Z])\.\.([A-Z]))$/.exec(text)
  if (letters === null) return null
  const [from, to] = [(letters[1] ?? letters[3]) as string, (letters[2] ?? letters[4]) as string]
  return range(from.charCodeAt(0), to.charCodeAt(0), 1)?.map((code) => [String.fromCharCode(code)]) ?? null
}

function range(from: number, to: number, step: number): number[] | null {
  const count = Math.floor(Math.abs(to - from) / step) + 1
  if (count > MAX_WORDS) return null
  const sign = to < from ? -step : step
  return Array.from({ length: count }, (_, index) => from + index * sign)
}

function assemble(tokens: readonly Token[]): Piece[] {
  const pieces: Piece[] = []
  let text = ''
  const flush = (): void => {
    if (text !== '')
      pieces.push({ values: [text], quoted: false, written: true, list: false, integer: false, dynamic: [] })
    text = ''
  }
  for (const token of tokens) {
    if (typeof token === 'string') text += token
    else {
      flush()
      pieces.push(token)
    }
  }
  flush()
  return pieces
}
