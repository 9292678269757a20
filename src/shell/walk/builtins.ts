/** Builtins: their effect on the shell, and which of them run text or evaluate data. */

import { posix } from 'node:path'
import type { Word } from '../facts.ts'
import { textOf } from '../words/known-word.ts'
import { type Scope, UNKNOWN } from '../words/scope.ts'
import { arithmeticDoubt } from '../words/word.ts'
import { assignNamed, type BuiltinCall, doubt } from './builtin-call.ts'
import { declareNames, printInto, readInput, readLines, unsetNames } from './declare.ts'

/** The target of `cd`; null if unknown. */
function changeDirectory(call: BuiltinCall): void {
  const operands = directoryOperands(call)
  const scope = call.scope
  if (operands === null || operands.length > 1) {
    scope.moveTo(null)
    return
  }
  const target = operands.length === 0 ? homeOf(call) : operands[0]
  scope.moveTo(resolveDirectory(scope, target ?? null))
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
export function resolveDirectory(scope: Scope, target: string | null): string | null {
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
  scope.moveTo(resolveDirectory(scope, target))
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

const CALM_SET_OPTIONS =
  /^(?:errexit|nounset|pipefail|xtrace|verbose|noclobber|errtrace|functrace|noglob|monitor|notify|hashall|noexec)$/

function setOptions(call: BuiltinCall): void {
  for (let i = 1; i < call.argv.length; i++) {
    const word = call.argv[i] as Word
    const text = textOf(word)
    if (text === null) {
      call.scope.setPositional(null)
      // After `--` words are only positional parameters; here they could be options.
      doubt(call, 'shell-option', `\`${word.text}\` could be an option of \`set\``, word.span)
      return
    }
    if (text === '--' || text === '-' || !/^[-+]/.test(text)) {
      call.scope.setPositional(call.argv.slice(text === '--' || text === '-' ? i + 1 : i))
      return
    }
    const letters = text.slice(1)
    if (letters.includes('o')) {
      const option = textOf(call.argv[++i])
      if (option === 'posix')
        doubt(call, 'shell-option', '`set -o posix` changes how everything after it is read', word.span, 'deny')
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
  /^(?:nullglob|dotglob|globstar|nocaseglob|nocasematch|inherit_errexit|huponexit|checkwinsize|cmdhist|histappend|globasciiranges)$/

function setShellOptions(call: BuiltinCall): void {
  for (const word of call.argv.slice(1)) {
    const text = textOf(word)
    if (text !== null && (/^-[supq]+$/.test(text) || CALM_SHELL_OPTIONS.test(text))) continue
    const verdict = text === 'expand_aliases' || text === 'posix' ? 'deny' : 'ask'
    doubt(call, 'shell-option', `\`shopt ${word.text}\` changes how everything after it is read`, word.span, verdict)
  }
}

/** Every builtin that does more than print or test. */
export const BUILTIN_EFFECTS: Readonly<Record<string, (call: BuiltinCall) => void>> = {
  cd: changeDirectory,
  pushd: pushDirectory,
  popd: popDirectory,
  dirs: (call) => {
    if (call.argv.some((word, index) => index > 0 && !/^[-+]\d*[lpv]*$/.test(textOf(word) ?? '')))
      call.scope.stack = null
  },
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

function evaluateText(call: BuiltinCall): void {
  const words = textOf(call.argv[1]) === '--' ? call.argv.slice(2) : call.argv.slice(1)
  if (words.some((word) => word.splits || word.values === null)) {
    call.ran('some')
    call.removed('*')
    call.scope.moveTo(null)
    doubt(call, 'eval', '`eval` runs text that is not known beforehand', call.span)
    return
  }
  let texts = ['']
  for (const [index, word] of words.entries()) {
    texts = texts.flatMap((text) => (word.values ?? []).map((value) => (index === 0 ? value : `${text} ${value}`)))
    if (texts.length > 16) {
      call.ran('some')
      doubt(call, 'eval', '`eval` runs one of too many texts', call.span)
      return
    }
  }
  call.ran('all')
  if (texts.length === 1) {
    call.runText(texts[0] ?? '', call.span, 'words')
    return
  }
  const start = call.scope.branch()
  texts.forEach((text, index) => {
    if (index === 0) {
      call.runText(text, call.span, 'words')
      return
    }
    const result = call.scope.branch()
    call.scope.take(start.branch())
    call.runText(text, call.span, 'words')
    call.scope.join(result)
  })
}

/** Names of the file that a process reads by default. */
const STANDARD_INPUT = /^\/(?:dev\/stdin|dev\/fd\/0|proc\/self\/fd\/0)$/

function sourceFile(call: BuiltinCall): void {
  const file = textOf(textOf(call.argv[1]) === '--' ? call.argv[2] : call.argv[1]) ?? ''
  if (call.input !== null && call.argv.length === 2 && STANDARD_INPUT.test(file)) {
    call.ran('all')
    call.runText(call.input, call.span, 'input')
    return
  }
  call.ran('some')
  call.removed('*')
  call.scope.moveTo(null)
  doubt(
    call,
    'source',
    `\`${call.name}\` runs a file in this shell, and everything after it depends on that file`,
    call.span,
  )
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
    doubt(call, 'hook', '`trap` runs text that is not known beforehand', action.span)
    return
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
      call.arithmetic(textOf(next) ?? '', next.span)
      call.hazards.push(arithmeticDoubt(next.text, next.span))
    } else if (text === null && words.length === 2 && index === 0) {
      call.hazards.push(arithmeticDoubt(word.text, word.span))
    }
  })
}

function hookOption(call: BuiltinCall): void {
  if (call.argv.slice(1).some((word) => /^-\w*[CFWX]/.test(textOf(word) ?? '-C'))) {
    call.ran('some')
    doubt(call, 'hook', `\`${call.name}\` runs commands or expands text for completion`, call.span)
  }
}
