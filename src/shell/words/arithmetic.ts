/** Arithmetic: values, assignments, evaluated data; and commands that print a number. */

import type { ArithmeticExpression, Command, ParsedScript, Redirection, WordPart } from 'unbash'
import { either, INTEGER, isNumeric, known, type Scope, UNKNOWN, type Value } from './scope.ts'

/** What arithmetic needs from the walk. */
export interface ArithmeticHost {
  readonly scope: Scope
  /** Walks expansions inside the expression, so that their commands are listed. */
  parts(parts: readonly WordPart[] | undefined): void
  substitution(node: Extract<ArithmeticExpression, { type: 'ArithmeticCommandExpansion' }>): void
  /** A variable was assigned. */
  assigned(name: string, node: { pos: number; end: number }): void
  /** Bash evaluates the known value of a variable. */
  data(node: { pos: number; end: number }, text: string): void
  /** Bash would evaluate text as an expression that the command does not spell out. */
  doubt(node: { pos: number; end: number }, text: string): void
}

const ASSIGNS = new Set(['=', '+=', '-=', '*=', '/=', '%=', '<<=', '>>=', '&=', '|=', '^='])
const NUMBER = /^(?:0|[1-9]\d{0,15})$/
const ANY_NUMBER = /^(?:0[xX][\da-fA-F]+|\d+(?:#[\w@]+)?)$/
const NAME = /^[A-Za-z_]\w*$/

/**
 * True when the expression can fail at run time: a division by zero, a number of another base, text put in by an
 * expansion. Bash then assigns nothing, and inside `$((…))` drops the rest of the line.
 */
export function mayFail(text: string): boolean {
  return /[/%[#'"`\\$]|\*\*|\b0\w/.test(text)
}

/** The value of an expression; raises doubts through the host. Assignments count only as possible unless `certain`. */
export function evaluate(node: ArithmeticExpression, host: ArithmeticHost, certain = true): Value {
  switch (node.type) {
    case 'ArithmeticGroup':
      return evaluate(node.expression, host, certain)
    case 'ArithmeticTernary': {
      evaluate(node.test, host, certain)
      return either(evaluate(node.consequent, host, false), evaluate(node.alternate, host, false))
    }
    case 'ArithmeticUnary': {
      const value = evaluate(node.operand, host, certain)
      if (node.operator === '++' || node.operator === '--') assign(node.operand, INTEGER, host, certain)
      return node.operator === '+' ? value : INTEGER
    }
    case 'ArithmeticBinary':
      return binary(node, host, certain)
    case 'ArithmeticCommandExpansion':
      host.substitution(node)
      if (!printsNumber(node.script, host.scope)) host.doubt(node, node.text)
      return INTEGER
    case 'ArithmeticWord':
      host.parts(node.parts)
      return operand(node, host)
  }
}

function binary(
  node: Extract<ArithmeticExpression, { type: 'ArithmeticBinary' }>,
  host: ArithmeticHost,
  certain: boolean,
): Value {
  if (node.operator === '=') {
    const value = evaluate(node.right, host, certain)
    assign(node.left, value, host, certain)
    return value
  }
  const left = evaluate(node.left, host, certain)
  const right = evaluate(node.right, host, certain && node.operator !== '&&' && node.operator !== '||')
  if (ASSIGNS.has(node.operator)) {
    assign(node.left, INTEGER, host, certain)
    return INTEGER
  }
  return constant(node.operator, left, right)
}

function constant(operator: string, left: Value, right: Value): Value {
  if (left.values?.length !== 1 || right.values?.length !== 1) return INTEGER
  const [a, b] = [Number(left.values[0]), Number(right.values[0])]
  const results: Record<string, number> = { '+': a + b, '-': a - b, '*': a * b, ',': b }
  const result = results[operator]
  return result !== undefined && Number.isSafeInteger(result) ? known([String(result)]) : INTEGER
}

function assign(target: ArithmeticExpression, value: Value, host: ArithmeticHost, certain: boolean): void {
  if (target.type === 'ArithmeticGroup') assign(target.expression, value, host, certain)
  else if (target.type !== 'ArithmeticWord') host.doubt(target, 'an assignment to a computed name')
  else if (NAME.test(target.value)) {
    if (certain) host.scope.set(target.value, value)
    else host.scope.maybeSet(target.value, value)
    host.assigned(target.value, target)
  } else {
    const name = /^([A-Za-z_]\w*)\[/.exec(target.value)?.[1]
    if (name === undefined) host.doubt(target, target.value)
    else host.scope.set(name, UNKNOWN)
  }
}

function operand(node: Extract<ArithmeticExpression, { type: 'ArithmeticWord' }>, host: ArithmeticHost): Value {
  const text = node.value.trim()
  if (NUMBER.test(text)) return known([text])
  if (ANY_NUMBER.test(text)) return INTEGER
  const value = NAME.test(text) ? host.scope.get(text) : expansion(text, host.scope)
  if (value === null || !isNumeric(value)) {
    for (const one of value?.values ?? []) host.data(node, one)
    host.doubt(node, text)
    return INTEGER
  }
  // A leading zero means octal.
  return value.values?.every((one) => NUMBER.test(one.replace(/^-/, ''))) === true ? value : INTEGER
}

/** `$x`, `${x}`, `$#`, `${#x}`: expansions that yield digits when the variable does. */
function expansion(text: string, scope: Scope): Value | null {
  if (/^\$[#?$!]$/.test(text) || /^\$\{#[A-Za-z_]\w*(?:\[[@*]\])?\}$/.test(text) || /^\$\{[#?$!]\}$/.test(text))
    return INTEGER
  const name = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})$/.exec(text)
  const variable = name?.[1] ?? name?.[2]
  if (variable !== undefined) return scope.get(variable)
  const digit = /^\$\{?(\d)\}?$/.exec(text)?.[1]
  if (digit === undefined || digit === '0') return null
  const word = scope.positional?.[Number(digit) - 1]
  return word?.values === null || word === undefined ? null : known(word.values)
}

/** Whether text for `let`, a subscript or `[[ -eq ]]` is digits or a variable of digits. */
export function isPlainArithmetic(text: string, scope: Scope): boolean {
  const trimmed = text.trim()
  if (trimmed === '' || ANY_NUMBER.test(trimmed.replace(/^[+-]/, ''))) return true
  return NAME.test(trimmed) && isNumeric(scope.get(trimmed))
}

/** The arguments for which the output is one number. */
const COUNTS: Readonly<Record<string, RegExp>> = {
  wc: /^(?:-[lcwmL]|--lines|--words|--chars|--bytes)$/,
  grep: /^-[iEFvwxh]*c[iEFvwxh]* [^-\s][^\n]*$/,
  date: /^(?:-u )?\+%[sYmdHMSNj]+$/,
  nproc: /^(?:--all)?$/,
  id: /^-[ug]$/,
  stat: /^(?:-c ?|--format=)%[sYXZ] [^-\s]\S*$/,
  pgrep: /^-[fx]*c[fx]* [^-\s]\S*$/,
}

/** True when the script certainly prints a number or nothing; what its commands run is judged on its own. */
export function printsNumber(script: ParsedScript | undefined, scope: Scope): boolean {
  const [statement, more] = script?.commands ?? []
  if (statement === undefined || more !== undefined || statement.background === true) return false
  const command = statement.command
  if (command.type !== 'Pipeline') return command.type === 'Command' && isCount(command, scope)
  const last = command.commands.at(-1)
  const plain = command.prefixes.length === 0 && !command.operators.includes('|&')
  return plain && last?.type === 'Command' && isCount(last, scope)
}

/** Whether it is plain `mktemp`, which prints a path in the sandbox's own temporary directory. */
export function printsTemporary(script: ParsedScript | undefined, scope: Scope): boolean {
  const [statement, more] = script?.commands ?? []
  const node = statement?.command
  if (node?.type !== 'Command' || more !== undefined || node.name?.text !== 'mktemp') return false
  if (scope.functions.has('mktemp') || node.prefix.length > 0 || !node.redirects.every(keepsOutput)) return false
  if (scope.get('TMPDIR').values?.join() !== '/tmp') return false
  const words = node.args.map((word) => (/[$`{*?[\\]/.test(word.text) ? '?' : plainText(word.text)))
  return (
    words.every(
      (word) => /^(?:-[dqu]+|--directory|--quiet|-t|\/tmp\/[\w.-]+)$/.test(word) || /^[\w-]+\.?X{3,}$/.test(word),
    ) && words.every((word, index) => /^[-/]/.test(word) || words[index - 1] === '-t')
  )
}

function isCount(node: Command, scope: Scope): boolean {
  const name = node.name?.text ?? ''
  const pattern = Object.hasOwn(COUNTS, name) ? COUNTS[name] : undefined
  if (pattern === undefined || scope.functions.has(name) || node.prefix.length > 0) return false
  if (!node.redirects.every(keepsOutput)) return false
  const words = node.args.map((word) => (/[$`{*?[\\]/.test(word.text) ? null : plainText(word.text)))
  const operands = words.filter((word) => word !== null && !word.startsWith('-'))
  // A second file makes grep print names.
  return !words.includes(null) && pattern.test(words.join(' ')) && (name !== 'grep' || operands.length <= 2)
}

function plainText(text: string): string {
  return text.replace(/^(['"])(.*)\1$/s, '$2')
}

/** Input, and errors that are thrown away: an error that is merged would bring in the names of files. */
function keepsOutput(redirect: Redirection): boolean {
  if (redirect.type !== 'Redirect') return true
  if (redirect.operator === '<') return true
  const { descriptor, operator, target } = redirect
  return (
    operator === '>' && descriptor?.type === 'FileDescriptor' && descriptor.value === 2 && target?.text === '/dev/null'
  )
}
