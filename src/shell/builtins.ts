/** Builtins: what they do to the shell they run in, and which of them run text or evaluate data. */

import { posix } from 'node:path'
import { isPlainArithmetic } from './arithmetic.ts'
import type { AssignmentFact, Hazard, Span, Word } from './facts.ts'
import { known, type Scope, UNKNOWN, type Value } from './scope.ts'
import { textOf } from './unwrap.ts'
import { arithmeticDoubt } from './word.ts'

/** What a builtin may ask of the walk. */
export interface BuiltinCall {
  readonly name: string
  readonly argv: readonly Word[]
  readonly scope: Scope
  readonly home: string
  readonly span: Span
  readonly hazards: Hazard[]
  readonly assignments: AssignmentFact[]
  /** Names that are functions anywhere in the text so far. */
  isFunction(name: string): boolean
  /** Analyses text that this shell runs now; false when it could not be. */
  runText(text: string, span: Span): void
  /** Analyses text that runs at some later time. */
  hookText(text: string, span: Span): void
  /** Evaluates text as arithmetic. */
  arithmetic(text: string, span: Span): void
  /** A variable of this shell is assigned: hazards for dangerous names. */
  assigned(name: string, span: Span): void
  /** What the builtin runs is (not) all listed. */
  ran(unwrapped: 'all' | 'some'): void
  defines(name: string): void
}

export const BUILTINS: ReadonlySet<string> = new Set(
  (
    '. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo ' +
    'enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf ' +
    'pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit ' +
    'umask unalias unset wait'
  ).split(' '),
)

/** Every builtin that does more than print or test. */
export const BUILTIN_EFFECTS: Readonly<Record<string, (call: BuiltinCall) => void>> = {
  cd: changeDirectory,
  pushd: pushDirectory,
  popd: popDirectory,
  export: declareNames,
  declare: declareNames,
  typeset: declareNames,
  local: declareNames,
  readonly: declareNames,
  unset: unsetNames,
  read: readInput,
  mapfile: readLines,
  readarray: readLines,
  printf: printInto,
  getopts: (call) => {
    assignNamed(call, call.argv[2])
    for (const name of ['OPTARG', 'OPTIND']) call.scope.set(name, UNKNOWN)
  },
  wait: (call) => {
    const at = call.argv.findIndex((word) => textOf(word)?.startsWith('-p') ?? word.values === null)
    if (at > 0) assignNamed(call, call.argv[at + 1])
  },
  eval: evaluateText,
  source: sourceFile,
  '.': sourceFile,
  trap: setTrap,
  let: (call) => {
    for (const word of call.argv.slice(1)) {
      const text = textOf(word)
      if (text === null) call.hazards.push(arithmeticDoubt(word.text, word.span))
      else call.arithmetic(text, word.span)
    }
  },
  test: testExpression,
  '[': testExpression,
  set: setOptions,
  shopt: setShellOptions,
  shift: (call) => call.scope.setPositional(null),
  exit: (call) => {
    if (call.argv.length === 1 || (call.argv.length === 2 && textOf(call.argv[1]) !== null)) call.scope.ended = true
  },
  alias: (call) => {
    for (const word of call.argv.slice(1)) {
      const name = /^([^=]+)=/.exec(textOf(word) ?? word.prefix)?.[1]
      if (name !== undefined) call.defines(name)
      if (name !== undefined || word.values === null) {
        doubt(call, 'alias', `\`${word.text}\` gives a name another meaning`, word.span)
      }
    }
  },
  hash: (call) => {
    if (call.argv.slice(1).some((word) => !/^-[rltd]+$|^[^-]/.test(textOf(word) ?? '-'))) {
      doubt(call, 'command-lookup', '`hash` can make a name run another program', call.span)
    }
  },
  enable: (call) => {
    if (call.argv.length > 1) doubt(call, 'command-lookup', '`enable` changes which builtins there are', call.span)
  },
  bind: (call) => {
    if (call.argv.length > 1) doubt(call, 'hook', '`bind` can run commands on key presses', call.span)
  },
  complete: hookOption,
  compgen: hookOption,
  compopt: hookOption,
  fc: (call) => {
    call.ran('some')
    doubt(call, 'eval', '`fc` runs commands from the history', call.span)
  },
}

function doubt(call: BuiltinCall, code: string, message: string, span: Span, verdict: 'ask' | 'deny' = 'ask'): void {
  const hazard: Hazard = { code, message, verdict, span }
  call.hazards.push(hazard)
  call.scope.doubt(hazard)
}

/** Where `cd` leads; null when that cannot be known. */
function changeDirectory(call: BuiltinCall): void {
  const operands = directoryOperands(call)
  const scope = call.scope
  if (operands === null || operands.length > 1) return scope.moveTo(null)
  const target = operands.length === 0 ? homeOf(call) : operands[0]
  scope.moveTo(resolveDirectory(call, target ?? null))
}

/** Operands of cd and pushd; null when an option or a word makes them uncertain. */
function directoryOperands(call: BuiltinCall): string[] | null {
  const operands: string[] = []
  let options = true
  for (const word of call.argv.slice(1)) {
    const text = textOf(word)
    if (text === null) return null
    if (options && text === '--') options = false
    else if (options && /^-[LPe@n]+$/.test(text)) {
      if (/[Pn]/.test(text)) return null
    } else operands.push(text)
  }
  return operands
}

function homeOf(call: BuiltinCall): string | null {
  if (call.scope.untouched('HOME')) return call.home
  const value = call.scope.get('HOME')
  return value.values?.length === 1 ? (value.values[0] ?? null) : null
}

/** A failing `cd` keeps the old directory; what follows `;` is judged in the new one, as the author meant it. */
function resolveDirectory(call: BuiltinCall, target: string | null): string | null {
  const scope = call.scope
  if (target === null || target === '-' || target === '') return null
  if (target.startsWith('/')) return clean(target)
  if (scope.cwd === null) return null
  // CDPATH sends a relative name elsewhere unless it starts with a dot.
  if (!/^\.\.?(?:\/|$)/.test(target) && !scope.untouched('CDPATH')) return null
  return clean(`${scope.cwd}/${target}`)
}

function clean(path: string): string {
  const normal = posix.normalize(path)
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal
}

function pushDirectory(call: BuiltinCall): void {
  const operands = directoryOperands(call)
  const scope = call.scope
  const target = operands?.length === 1 ? (operands[0] ?? null) : null
  if (target === null || /^[+-]\d*$/.test(target) || scope.stack === null || scope.cwd === null) {
    scope.moveTo(null)
    scope.stack = null
    return
  }
  const stack = [scope.cwd, ...scope.stack]
  scope.moveTo(resolveDirectory(call, target))
  scope.stack = stack
}

function popDirectory(call: BuiltinCall): void {
  const scope = call.scope
  if (call.argv.length > 1 || scope.stack === null || scope.stack.length === 0) {
    scope.moveTo(null)
    scope.stack = null
    return
  }
  const [top, ...rest] = scope.stack
  scope.moveTo(top ?? null)
  scope.stack = rest
}

/** Assigns a variable whose name is a word; an unknown name could be any, a subscript is arithmetic. */
function assignNamed(call: BuiltinCall, word: Word | undefined, value: Value = UNKNOWN): void {
  if (word === undefined) return
  for (const text of word.values ?? ['']) {
    const match = /^([A-Za-z_]\w*)(\[([\s\S]*)\])?$/.exec(text)
    if (word.values === null || match === null) {
      call.hazards.push(arithmeticDoubt(word.text, word.span))
      doubt(call, 'dynamic-assignment', `\`${call.name}\` assigns a variable that is not known beforehand`, word.span)
      return
    }
    if (match[2] !== undefined && !isPlainArithmetic(match[3] ?? '', call.scope)) {
      call.hazards.push(arithmeticDoubt(text, word.span))
    }
    assign(call, match[1] as string, match[2] === undefined ? value : UNKNOWN, null, 'shell', word.span)
  }
}

function assign(
  call: BuiltinCall,
  name: string,
  value: Value,
  word: Word | null,
  scope: AssignmentFact['scope'],
  span: Span,
  append = false,
): void {
  call.scope.set(name, value)
  call.assignments.push({ name, value: word, append, scope, span })
  call.assigned(name, span)
}

function declareNames(call: BuiltinCall): void {
  const letters = new Set<string>()
  const exported = call.name === 'export'
  for (const word of call.argv.slice(1)) {
    const text = textOf(word)
    if (text !== null && /^[-+][A-Za-z]+$/.test(text)) {
      for (const letter of text.slice(1)) letters.add(text[0] === '-' ? letter : `+${letter}`)
      continue
    }
    if (text === '--') continue
    const match = /^([A-Za-z_]\w*)(\[[\s\S]*?\])?(\+?)=([\s\S]*)$/.exec(text ?? word.prefix)
    if (match !== null) declareValue(call, word, match, letters, exported)
    else if (text !== null && /^[A-Za-z_]\w*$/.test(text)) declareBare(call, text, letters, word.span)
    else if (word.values !== null && word.values.every((value) => /^[A-Za-z_]\w*$/.test(value))) {
      for (const value of word.values) declareBare(call, value, letters, word.span)
    } else if (text === null || !/[fF]/.test([...letters].join(''))) assignNamed(call, word)
  }
  judgeAttributes(call, letters, exported)
}

function declareValue(
  call: BuiltinCall,
  word: Word,
  match: RegExpExecArray,
  letters: ReadonlySet<string>,
  exported: boolean,
): void {
  const [, name, index, plus, rest] = match as unknown as [string, string, string | undefined, string, string]
  const values = index === undefined && plus === '' ? (word.values?.map((text) => text.slice(text.indexOf('=') + 1)) ?? null) : null
  if (index !== undefined && !isPlainArithmetic(index.slice(1, -1), call.scope)) {
    call.hazards.push(arithmeticDoubt(word.text, word.span))
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
  if (letters.has('n') && !exported) {
    doubt(call, 'nameref', `\`${call.name} -n\` makes one variable stand for another`, call.span)
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

function unsetNames(call: BuiltinCall): void {
  for (const word of call.argv.slice(1)) {
    const text = textOf(word)
    if (text !== null && /^-[fvn]+$/.test(text)) continue
    if (text !== null && call.isFunction(text)) {
      doubt(call, 'function-removed', `\`unset ${text}\` takes a function away that other parts rely on`, word.span)
    }
    if (text === null || !/^[^\s[]+$/.test(text)) {
      call.hazards.push(arithmeticDoubt(word.text, word.span))
      doubt(call, 'dynamic-assignment', `\`unset\` removes a name that is not known beforehand`, word.span)
      continue
    }
    if (!/^[A-Za-z_]\w*$/.test(text)) continue
    call.scope.set(text, UNKNOWN)
    call.assigned(text, word.span)
  }
}

function readInput(call: BuiltinCall): void {
  const names = operandsAfter(call, 'adinNptu')
  const array = call.argv.findIndex((word) => /^-[rse]*a$/.test(textOf(word) ?? ''))
  if (array > 0) assignNamed(call, call.argv[array + 1])
  if (names.length === 0) call.scope.set('REPLY', UNKNOWN)
  for (const word of names) assignNamed(call, word)
}

/** Words behind the options; a word that may be an option counts as a name, which is then doubted. */
function operandsAfter(call: BuiltinCall, valued: string): readonly Word[] {
  let at = 1
  while (at < call.argv.length) {
    const text = textOf(call.argv[at])
    if (text === null || !text.startsWith('-') || text === '-') break
    at++
    if (text === '--') break
    const cut = [...text.slice(1)].findIndex((letter) => valued.includes(letter))
    if (cut !== -1 && cut === text.length - 2) at++
    else if (cut !== -1 && text[cut + 1] === 'a') assignNamed(call, { ...(call.argv[at - 1] as Word), values: [text.slice(cut + 2)] })
  }
  return call.argv.slice(at)
}

function readLines(call: BuiltinCall): void {
  if (call.argv.some((word) => /^-[tsd]*[Cc]/.test(textOf(word) ?? '-C'))) {
    if (call.argv.some((word) => textOf(word)?.startsWith('-c') !== true)) {
      call.ran('some')
      doubt(call, 'hook', `\`${call.name} -C\` runs a command for every line`, call.span)
    }
  }
  const names = operandsAfter(call, 'dnOsuCc')
  if (names.length === 0) call.scope.set('MAPFILE', UNKNOWN)
  for (const word of names) assignNamed(call, word)
}

function printInto(call: BuiltinCall): void {
  const first = call.argv[1]
  if (first === undefined) return
  const text = textOf(first)
  if (text === '-v') assignNamed(call, call.argv[2])
  else if (text?.startsWith('-v')) assignNamed(call, { ...first, values: [text.slice(2)] })
  else if (text === null && first.values === null && (first.prefix === '' || first.prefix.startsWith('-v'))) {
    doubt(call, 'dynamic-assignment', `\`${first.text}\` could be \`-v\`, with which printf assigns a variable`, first.span)
  }
}

function evaluateText(call: BuiltinCall): void {
  const words = textOf(call.argv[1]) === '--' ? call.argv.slice(2) : call.argv.slice(1)
  if (words.some((word) => word.splits || word.values === null)) {
    call.ran('some')
    call.scope.moveTo(null)
    return doubt(call, 'eval', '`eval` runs text that is not known beforehand', call.span)
  }
  let texts = ['']
  for (const [index, word] of words.entries()) {
    texts = texts.flatMap((text) => (word.values ?? []).map((value) => (index === 0 ? value : `${text} ${value}`)))
    if (texts.length > 16) {
      call.ran('some')
      return doubt(call, 'eval', '`eval` runs one of too many texts', call.span)
    }
  }
  call.ran('all')
  if (texts.length === 1) return call.runText(texts[0] ?? '', call.span)
  const start = call.scope.branch()
  texts.forEach((text, index) => {
    if (index === 0) return call.runText(text, call.span)
    const result = call.scope.branch()
    call.scope.take(start.branch())
    call.runText(text, call.span)
    call.scope.join(result)
  })
}

function sourceFile(call: BuiltinCall): void {
  call.ran('some')
  call.scope.moveTo(null)
  doubt(call, 'source', `\`${call.name}\` runs a file in this shell, and everything after it depends on that file`, call.span)
}

function setTrap(call: BuiltinCall): void {
  const words = textOf(call.argv[1]) === '--' ? call.argv.slice(2) : call.argv.slice(1)
  const action = words[0]
  if (action === undefined) return
  const text = textOf(action)
  if (text !== null && /^-[lpP]*$/.test(text)) return
  if (words.length === 1 && text !== null && /^[A-Z0-9]+$/.test(text)) return
  if (text === null) {
    call.ran('some')
    return doubt(call, 'hook', '`trap` runs text that is not known beforehand', action.span)
  }
  if (text !== '') call.hookText(text, action.span)
}

function testExpression(call: BuiltinCall): void {
  const words = call.name === '[' ? call.argv.slice(1, -1) : call.argv.slice(1)
  words.forEach((word, index) => {
    const text = textOf(word)
    const next = words[index + 1]
    if (text === null && word.splits && !word.dynamic.every((reason) => reason === 'glob')) {
      call.hazards.push(arithmeticDoubt(word.text, word.span))
    } else if ((text === '-v' || text === '-R') && next !== undefined && !/^\w*$/.test(textOf(next) ?? '[')) {
      call.hazards.push(arithmeticDoubt(next.text, next.span))
    } else if (text === null && words.length === 2 && index === 0) {
      call.hazards.push(arithmeticDoubt(word.text, word.span))
    }
  })
}

const CALM_SET_OPTIONS =
  /^(?:errexit|nounset|pipefail|xtrace|verbose|noclobber|errtrace|functrace|noglob|monitor|notify|hashall|noexec)$/

function setOptions(call: BuiltinCall): void {
  for (let i = 1; i < call.argv.length; i++) {
    const word = call.argv[i] as Word
    const text = textOf(word)
    if (text === null) {
      call.scope.setPositional(null)
      // After `--` words are only positional parameters; here they could be options.
      return doubt(call, 'shell-option', `\`${word.text}\` could be an option of \`set\``, word.span)
    }
    if (text === '--' || text === '-' || !/^[-+]/.test(text)) {
      return call.scope.setPositional(call.argv.slice(text === '--' || text === '-' ? i + 1 : i))
    }
    const letters = text.slice(1)
    if (letters.includes('o')) {
      const option = textOf(call.argv[++i])
      if (option === 'posix') doubt(call, 'shell-option', '`set -o posix` changes how everything after it is read', word.span, 'deny')
      else if (option === null || !CALM_SET_OPTIONS.test(option)) {
        doubt(call, 'shell-option', `\`set ${text} ${option ?? '…'}\` changes how everything after it runs`, word.span)
      }
    }
    if (letters.includes('a')) call.scope.exportsAll = true
    if (/[^euxvhmbCETfno]/.test(letters)) {
      doubt(call, 'shell-option', `\`set ${text}\` changes how everything after it runs`, word.span)
    }
  }
}

const CALM_SHELL_OPTIONS =
  /^(?:nullglob|dotglob|failglob|globstar|nocaseglob|nocasematch|inherit_errexit|huponexit|checkwinsize|cmdhist|histappend|globasciiranges)$/

function setShellOptions(call: BuiltinCall): void {
  for (const word of call.argv.slice(1)) {
    const text = textOf(word)
    if (text !== null && (/^-[supq]+$/.test(text) || CALM_SHELL_OPTIONS.test(text))) continue
    const verdict = text === 'expand_aliases' || text === 'posix' ? 'deny' : 'ask'
    doubt(call, 'shell-option', `\`shopt ${word.text}\` changes how everything after it is read`, word.span, verdict)
  }
}

function hookOption(call: BuiltinCall): void {
  if (call.argv.slice(1).some((word) => /^-\w*[CFWX]/.test(textOf(word) ?? '-C'))) {
    call.ran('some')
    doubt(call, 'hook', `\`${call.name}\` runs commands or expands text for completion`, call.span)
  }
}

