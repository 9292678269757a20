/** Builtins that assign variables: export, declare, unset, read, mapfile, printf -v. */

import type { Span, Word } from '../facts.ts'
import { isPlainArithmetic } from '../words/arithmetic.ts'
import { textOf } from '../words/known-word.ts'
import { known, UNKNOWN } from '../words/scope.ts'
import { arithmeticDoubt } from '../words/word.ts'
import { assign, assignNamed, type BuiltinCall, doubt } from './builtin-call.ts'

export function declareNames(call: BuiltinCall): void {
  const letters = new Set<string>()
  const exported = call.name === 'export'
  const fresh = (name: string): boolean => call.scope.untouched(name)
  const unused = new Set(call.argv.flatMap((word) => /^[A-Za-z_]\w*/.exec(word.prefix)?.[0] ?? []).filter(fresh))
  for (const word of call.argv.slice(1)) {
    const text = textOf(word)
    if (text !== null && /^[-+][A-Za-z]+$/.test(text)) {
      for (const letter of text.slice(1)) letters.add(text[0] === '-' ? letter : `+${letter}`)
      continue
    }
    if (text === '--') continue
    const match = /^([A-Za-z_]\w*)(\[[\s\S]*?\])?(\+?)=([\s\S]*)$/.exec(text ?? word.prefix)
    if (word.splits) assignNamed(call, { ...word, values: null })
    else if (match !== null) declareValue(call, word, match, letters, exported)
    else if (text !== null && /^[A-Za-z_]\w*$/.test(text)) declareBare(call, text, letters, word.span)
    else if (word.values?.every((value) => /^[A-Za-z_]\w*$/.test(value)) === true) {
      for (const value of word.values) declareBare(call, value, letters, word.span)
    } else if (text === null || !/[fF]/.test([...letters].join(''))) assignNamed(call, word)
  }
  judgeAttributes(call, letters, exported)
  // Outside a function `local` fails, and other attributes may contradict.
  const plain = [...letters].every((letter) => /^[Arx]$/.test(letter))
  const certain = plain && (call.name !== 'local' || call.scope.inFunction)
  for (const { name } of call.assignments) {
    if (letters.has('A') && certain && unused.has(name)) call.scope.markAssociative(name)
    else call.scope.dropAssociative(name)
  }
}

function declareValue(
  call: BuiltinCall,
  word: Word,
  match: RegExpExecArray,
  letters: ReadonlySet<string>,
  exported: boolean,
): void {
  const [, name, index, plus, rest] = match as unknown as [string, string, string | undefined, string, string]
  const values =
    index === undefined && plus === '' ? (word.values?.map((text) => text.slice(text.indexOf('=') + 1)) ?? null) : null
  if (index !== undefined && !isPlainArithmetic(index.slice(1, -1), call.scope)) {
    call.arithmetic(index.slice(1, -1), word.span)
    call.hazards.push(arithmeticDoubt(word.text, word.span))
  }
  if (letters.has('i')) {
    call.scope.journey.integers.add(name)
    for (const text of values ?? []) call.arithmetic(text, word.span)
  }
  if (rest.startsWith('(') && word.values !== null) {
    call.hazards.push(arithmeticDoubt(word.text, word.span))
    doubt(call, 'eval', `\`${call.name}\` reads \`${word.text}\` as an array and expands it once more`, word.span)
  }
  const attributes = letters.size > 0 && [...letters].some((letter) => !/^[xgr]$/.test(letter))
  const value = values === null || attributes ? UNKNOWN : known(values)
  const valueWord = values === null ? null : { ...word, text: values[0] ?? '', values, prefix: values[0] ?? '' }
  assign(call, name, value, valueWord, exported || letters.has('x') ? 'export' : 'shell', word.span, plus === '+')
  if (call.name === 'readonly' || letters.has('r')) call.scope.protect(name)
}

function declareBare(call: BuiltinCall, name: string, letters: ReadonlySet<string>, span: Span): void {
  if (letters.has('f') || letters.has('F') || letters.has('p')) return
  if (letters.has('i')) call.scope.journey.integers.add(name)
  const exported = call.name === 'export' || letters.has('x')
  if (call.name === 'readonly' || letters.has('r')) {
    call.scope.protect(name)
    return
  }
  if (!exported) call.scope.set(name, UNKNOWN)
  call.assignments.push({ name, value: null, append: false, scope: exported ? 'export' : 'shell', span })
  call.assigned(name, span)
}

function judgeAttributes(call: BuiltinCall, letters: ReadonlySet<string>, exported: boolean): void {
  if (letters.has('i')) {
    doubt(call, 'arithmetic-eval', `\`${call.name} -i\` evaluates every later value as arithmetic`, call.span)
  }
  if (letters.has('g') && [...letters].some((letter) => /^[ulcA+]/.test(letter))) {
    doubt(call, 'shell-option', `\`${call.name} -g\` changes what every later assignment stores`, call.span)
  }
  if (letters.has('n') && !exported) {
    doubt(call, 'nameref', `\`${call.name} -n\` makes one variable an alias of another`, call.span)
  }
  if (letters.has('f') && (exported || letters.has('x'))) {
    doubt(call, 'exported-function', 'an exported function replaces a program in every shell below', call.span)
  }
  if ([...letters].some((letter) => /^[ulcA+]/.test(letter)) || letters.has('a')) {
    for (const fact of call.assignments) {
      call.scope.set(fact.name, UNKNOWN)
      // Attributes change what later assignments store.
      if (/[ulcA+]/.test([...letters].join(''))) call.scope.protect(fact.name)
    }
  }
}

export function unsetNames(call: BuiltinCall): void {
  for (const word of call.argv.slice(1)) {
    const text = textOf(word)
    if (text !== null && /^-[fvn]+$/.test(text)) continue
    call.removed(text ?? '*')
    call.scope.dropAssociative(text?.replace(/\[.*/s, ''))
    if (text !== null && call.isFunction(text)) {
      doubt(call, 'function-removed', `\`unset ${text}\` takes a function away that other parts rely on`, word.span)
    }
    if (text === null || !/^[^\s[]+$/.test(text)) {
      if (text !== null) call.arithmetic(text, word.span)
      call.hazards.push(arithmeticDoubt(word.text, word.span))
      doubt(call, 'dynamic-assignment', `\`unset\` removes a name that is not known beforehand`, word.span)
      continue
    }
    if (!/^[A-Za-z_]\w*$/.test(text)) continue
    call.scope.set(text, UNKNOWN)
    call.assigned(text, word.span)
  }
}

export function readInput(call: BuiltinCall): void {
  const names = operandsAfter(call, 'adinNptu')
  const array = call.argv.findIndex((word) => /^-[rse]*a$/.test(textOf(word) ?? ''))
  if (array > 0) assignNamed(call, call.argv[array + 1])
  if (names.length === 0) call.scope.set('REPLY', UNKNOWN)
  for (const word of names) assignNamed(call, word)
}

/** Words after the options. One that may be an option counts as a doubted name. */
function operandsAfter(call: BuiltinCall, valued: string): readonly Word[] {
  let at = 1
  while (at < call.argv.length) {
    const text = textOf(call.argv[at])
    if (text === null || !text.startsWith('-') || text === '-') break
    at++
    if (text === '--') break
    const cut = [...text.slice(1)].findIndex((letter) => valued.includes(letter))
    if (cut !== -1 && cut === text.length - 2) at++
    else if (cut !== -1 && text[cut + 1] === 'a')
      assignNamed(call, { ...(call.argv[at - 1] as Word), values: [text.slice(cut + 2)] })
  }
  return call.argv.slice(at)
}

export function readLines(call: BuiltinCall): void {
  if (call.argv.some((word) => /^-[tsd]*[Cc]/.test(textOf(word) ?? '-C'))) {
    if (call.argv.some((word) => textOf(word)?.startsWith('-c') !== true)) {
      call.ran('some')
      call.scope.moveTo(null)
      doubt(call, 'hook', `\`${call.name} -C\` runs a command for every line`, call.span)
    }
  }
  const names = operandsAfter(call, 'dnOsuCc')
  if (names.length === 0) call.scope.set('MAPFILE', UNKNOWN)
  for (const word of names) assignNamed(call, word)
}

export function printInto(call: BuiltinCall): void {
  // The option may be given again: the last one counts.
  let at = 1
  for (let text = textOf(call.argv[at]); text?.startsWith('-v'); text = textOf(call.argv[at])) {
    const glued = text.slice(2)
    if (glued === '') assignNamed(call, call.argv[at + 1])
    else assignNamed(call, { ...(call.argv[at] as Word), values: [glued] })
    at += glued === '' ? 2 : 1
  }
  const first = call.argv[at]
  if (first === undefined || first.values !== null) return
  // As the only word it would be an option without a format, which fails.
  const counts = first.splits || call.argv.length > at + 1
  if (counts && (first.prefix === '' || first.prefix.startsWith('-v'))) {
    doubt(
      call,
      'dynamic-assignment',
      `\`${first.text}\` could be \`-v\`, with which printf assigns a variable`,
      first.span,
    )
  }
}
