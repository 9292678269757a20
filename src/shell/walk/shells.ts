/** Shells as commands: `sh -c text`, here-documents, unknown input; and facts of invocations. */

import type { AssignmentFact, Hazard, RedirectFact, Span, Word } from '../facts.ts'
import { inspect } from '../inspect/inspect.ts'
import { textOf } from '../words/known-word.ts'
import type { WrapperRow } from '../wrap/wrappers.ts'
import { guess, guessMentioned, worsen } from './guess.ts'
import { childScope, type Draft } from './output.ts'
import type { Walk } from './walk.ts'

/** Shells that are close enough to bash for text without bash's own syntax. */
const OTHER_GRAMMAR = new Set(['zsh', 'fish', 'yash'])

/** Words that only bash knows, or that it treats otherwise than dash does. */
const BASH_WORDS =
  /\b(?:let|declare|typeset|local|source|pushd|popd|dirs|shopt|mapfile|readarray|enable|builtin|compgen|complete|bind|select|coproc|function|time|disown|help|history|suspend|printf\s+-v|read\s+-|echo\s+-|RANDOM|SRANDOM|SECONDS|LINENO|EPOCH\w*|E?UID|PPID|BASH\w*)\b|[=:]~|\b(?:export|readonly)\s+\w+=\S*\$|\balias\b/

interface ShellWords {
  readonly command: boolean
  readonly stdin: boolean
  readonly operands: readonly Word[]
  readonly doubts: readonly { readonly option: string; readonly word: Word }[]
  readonly idle: boolean
}

/** Lists the commands of a shell. `none`: it runs a script file, which the tables judge. */
export function runShell(
  walk: Walk,
  call: Invocation,
  draft: Draft,
  index: number,
  name: string,
  row: WrapperRow,
): 'all' | 'some' | 'none' {
  const words = shellWords(call.argv, row)
  for (const { option, word } of words.doubts) {
    draft.hazards.push({
      code: 'shell-option',
      message: `\`${name} ${option}\` changes what the shell reads or does before the command`,
      verdict: 'ask',
      span: word.span,
    })
  }
  const certain = words.doubts.length === 0 && !OTHER_GRAMMAR.has(name)
  if (OTHER_GRAMMAR.has(name)) {
    draft.hazards.push({
      code: 'other-shell',
      message: `\`${name}\` reads text by its own rules`,
      verdict: 'ask',
      span: draft.span,
    })
  }
  const first = words.operands[0]
  if (words.idle && !words.command) return 'none'
  if (words.command) {
    if (first === undefined) return certain ? 'all' : 'some'
    if (first.values === null || first.splits || first.values.length > 8) {
      guess(walk, draft, first.text)
      if (first.dynamic.includes('input')) guessInput(walk, draft)
      return fromInput(draft, `\`${name} -c\` runs text that is not known beforehand`, first)
    }
    let all = certain
    for (const text of first.values) {
      all = runText(walk, call, draft, index, `${name} -c`, name, text, first, words.operands.slice(2)) && all
    }
    return all ? 'all' : 'some'
  }
  const inputFile = first !== undefined && /^\/(?:dev\/stdin|dev\/fd\/0|proc\/self\/fd\/0)$/.test(textOf(first) ?? '')
  if (first !== undefined && !words.stdin && !inputFile) return words.doubts.length > 0 ? 'some' : 'none'
  const stdin = walk.frame.stdin
  if (stdin.kind !== 'known') guessInput(walk, draft)
  if (stdin.kind !== 'known') return fromInput(draft, `\`${name}\` runs commands from its input`, call.argv[0])
  // A script by its name is not a parameter of itself.
  const positional = inputFile && !words.stdin ? words.operands.slice(1) : words.operands
  const all = runText(walk, call, draft, index, name, name, stdin.text, call.argv[0] as Word, positional)
  return all && certain ? 'all' : 'some'
}

function runText(
  walk: Walk,
  call: Invocation,
  draft: Draft,
  index: number,
  via: string,
  name: string,
  text: string,
  word: Word,
  positional: readonly Word[],
): boolean {
  const scope = childScope(walk.scope, call.cwd === undefined ? walk.scope.cwd : call.cwd)
  if (!positional.some((one) => one.splits)) scope.positional = positional
  if (call.assignments.some((one) => one.name === 'HOME')) scope.moveTo(scope.cwd)
  for (const one of call.assignments) scope.set(one.name, { values: null, integer: false })
  const outer = walk.frame
  // The input of the shell is the script itself.
  walk.frame = { ...outer, stdin: via === name ? { kind: 'unknown' } : outer.stdin }
  const { bashOnly } = walk.text(text, word.span, { name: via, kind: 'shell' }, index, scope)
  walk.frame = outer
  if (name === 'bash' || name === 'rbash' || (!bashOnly && !BASH_WORDS.test(text))) return true
  draft.hazards.push({
    code: 'other-shell',
    message: `\`${name}\` may read this text differently from bash`,
    verdict: 'ask',
    span: word.span,
  })
  return false
}

/** A text that was printed in this command is checked; one that was printed and hidden is not taken for harmless. */
function guessInput(walk: Walk, draft: Draft): void {
  const { stdin } = walk.frame
  const likely = stdin.kind === 'known' ? stdin.text : stdin.likely
  if (likely != null) guess(walk, draft, likely)
  else if (likely === null) worsen(draft, 'loss', 'runs a text that was written so that it cannot be read')
}

function fromInput(draft: Draft, message: string, word: Word | undefined): 'some' {
  draft.hazards.push({ code: 'script-from-input', message, verdict: 'ask', span: word?.span ?? draft.span })
  return 'some'
}

/** Options of a shell: clusters that may contain `c` and `s`, `-o name`, `+x`, long ones. */
function shellWords(argv: readonly Word[], row: WrapperRow): ShellWords {
  const doubts: { option: string; word: Word }[] = []
  let command = false
  let stdin = false
  let idle = false
  let at = 1
  for (; at < argv.length; at++) {
    const word = argv[at] as Word
    const text = textOf(word)
    if (text === null) {
      if (word.splits || word.prefix === '' || /^[-+]/.test(word.prefix)) {
        const known = word.values?.every((value) => !/^[-+]/.test(value)) === true
        if (!known && !(command && !word.splits)) doubts.push({ option: word.text, word })
      }
      break
    }
    if (text === '--' || text === '-') {
      at++
      break
    }
    if (text.startsWith('--')) {
      const role = row.rows.get(text)?.role
      if (role === 'idle') idle = true
      else if (role !== 'text') doubts.push({ option: text, word })
      if (text === '--rcfile' || text === '--init-file') at++
      continue
    }
    if (!/^[-+]/.test(text)) break
    for (const letter of text.slice(1)) {
      if (letter === 'c' && text[0] === '-') command = true
      else if (letter === 's' && text[0] === '-') stdin = true
      else if (letter === 'o' || letter === 'O') {
        const option = textOf(argv[++at])
        if (
          letter === 'O' ||
          option === null ||
          !/^(?:errexit|nounset|pipefail|xtrace|verbose|noclobber|noglob)$/.test(option)
        ) {
          doubts.push({ option: `${text} ${option ?? '…'}`, word })
        }
      } else if (row.rows.get(`-${letter}`)?.role !== 'text') doubts.push({ option: text, word })
    }
  }
  return { command, stdin, operands: argv.slice(at), doubts, idle }
}

/** A simple command with its words resolved. */
export interface Invocation {
  readonly argv: readonly Word[]
  readonly assignments: AssignmentFact[]
  readonly redirects: readonly RedirectFact[]
  readonly hazards: Hazard[]
  readonly span: Span
  /** Functions and builtins of this shell can be meant (`x`), or only programs (`env x`). */
  readonly direct: boolean | 'no-functions'
  /** Directory it runs in, when a wrapper changes it. */
  readonly cwd?: string | null
  /** `other`: the environment was replaced by a wrapper. */
  readonly environment: 'same' | 'other'
  readonly depth?: number
}

/** Adds the fact of a command as far as its words are known. */
export function add(walk: Walk, call: Invocation, resolves: Draft['resolves']): Draft {
  const frame = walk.frame
  const draft: Draft = {
    argv: call.argv,
    resolves,
    assignments: call.assignments,
    redirects: call.redirects,
    cwd: call.cwd === undefined ? walk.scope.cwd : call.cwd,
    via: frame.via,
    parent: frame.parent,
    unwrapped: 'none',
    hazards: call.hazards,
    paths: [],
    hosts: [],
    effect: 'unknown',
    effectNote: '',
    background: frame.background,
    span: call.span,
  }
  if (call.argv.length > 0) draft.hazards.push(...walk.scope.ambient.values())
  walk.output.add(draft)
  walk.output.input = frame.stdin.kind === 'known' ? frame.stdin.text : null
  return draft
}

/** Asks the tables about the command. */
export function look(walk: Walk, draft: Draft, call: Invocation): void {
  const found = inspect({
    argv: draft.argv,
    cwd: draft.cwd,
    fallback: call.cwd === undefined ? walk.scope.fallback : null,
    home: walk.home,
    roots: walk.start.roots,
    assignments: draft.assignments,
    span: call.span,
    stdin: walk.frame.stdin.kind,
    input: walk.frame.stdin.kind === 'known' ? walk.frame.stdin.text : null,
  })
  draft.hazards.push(...found.hazards)
  draft.paths = found.paths
  draft.hosts = found.hosts
  draft.effect = found.effect
  draft.effectNote = found.effectNote
  draft.kind = found.kind
  guessMentioned(walk, draft)
  if (found.delegates.length > 0) draft.delegates = found.delegates
}
