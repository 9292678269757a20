/** Guesses what a text with unknown words would do: this makes decisions stricter, never milder. */

import type { Effect, Span, Word } from '../facts.ts'
import { strongest } from '../inspect/effect.ts'
import { inspect } from '../inspect/inspect.ts'
import { parseText } from '../read/parse.ts'
import { commandsIn, commandsMentioned } from '../tables/embedded.ts'
import { findProgram, programName } from '../tables/programs/registry.ts'
import { evaluate, mayFail } from '../words/arithmetic.ts'
import { plainWord, unknownWord } from '../words/pieces.ts'
import { arithmeticDoubt, arithmeticHost } from '../words/word.ts'
import type { Draft } from './output.ts'
import type { Walk } from './walk.ts'

/** `rm$IFS-rf`, `$SHELL -c`, `r$@m`: what these expansions nearly always are. */
function usual(text: string): string {
  return text
    .replace(/^"(\$\([\s\S]*\))"$/, '$1')
    .replace(/\$\(\s*(?:echo|printf)(?:\s+-[neE]+)*\s+(['"]?)([^)]*?)\1\s*\)/g, '; $2 ;')
    .replace(/"?\$\{?IFS(?:[%#:][^}]*)?\}?"?/g, ' ')
    .replace(/"?\$\{?(?:SHELL|BASH)\}?"?/g, 'bash')
    .replace(/\$(?:[@*9]|\{[@*9]\})/g, '')
    .replace(/\$\{\w+:?[-=]([^}$`]*)\}/g, '$1')
}

/** `IFS=,; c=git,push; $c`: the known values of variables, split as bash would split them. */
function withValues(walk: Walk, text: string): string {
  const cuts = walk.scope.get('IFS').values?.[0]
  return text.replace(/\$(?:(\w+)|\{(\w+)\})/g, (whole, bare?: string, braced?: string) => {
    const values = walk.scope.get(bare ?? braced ?? '').values
    if (values?.length !== 1) return whole
    return cuts === undefined
      ? (values[0] ?? '')
      : [...(values[0] ?? '')].map((one) => (cuts.includes(one) ? ' ' : one)).join('')
  })
}

function asWord(text: string, span: Span): Word {
  return /[$`]|\{\}/.test(text) ? unknownWord(text, 'input', span, true) : plainWord(text, span)
}

/** Gives the command the effect of the text, where that needs more care than its own. */
export function guess(walk: Walk, draft: Draft, text: string): void {
  worsenBy(walk, draft, commandsIn(usual(withValues(walk, text))))
}

function worsenBy(walk: Walk, draft: Draft, commands: readonly (readonly string[])[]): void {
  for (const words of commands) {
    const { effect, effectNote } = inspect({
      argv: words.map((word) => asWord(word, draft.span)),
      cwd: draft.cwd,
      home: walk.home,
      roots: walk.start.roots,
      assignments: [],
      span: draft.span,
      stdin: 'none',
    })
    worsen(draft, effect, effectNote)
  }
}

/** Hazards of a program that runs others by its own syntax. Code is read by its calls. */
const RUNS_PROGRAMS: ReadonlySet<string> = new Set([
  'alias',
  'hook',
  'interpreter-code',
  'odd-name',
  'option-reads-config',
  'option-runs-program',
  'changes-system',
  'script-from-input',
  'script-runs-program',
  'shell-option',
  'source',
  'wrapper',
])

/** Programs whose text contains many names that are not commands. */
const LANGUAGE =
  /^(?:python|pypy|ipython|node|deno|bun|tsx|ts-node|perl|ruby|php|lua|R|Rscript|julia|java|groovy|scala|elixir|iex)[\d.]*$/

/** Everything a program could run of its words, if no table knows its syntax. */
export function guessMentioned(walk: Walk, draft: Draft): void {
  const name = draft.argv[0]?.values?.[0] ?? ''
  if (!draft.hazards.some(({ code }) => RUNS_PROGRAMS.has(code)) || LANGUAGE.test(programName(name))) return
  const { stdin } = walk.frame
  const texts = [...draft.argv.map((word) => word.values?.[0] ?? word.text), stdin.kind === 'known' ? stdin.text : '']
  const odd = draft.hazards.some(({ code }) => code === 'odd-name')
  const isProgram = (word: string): boolean => findProgram(programName(word)) !== null
  // The words of one that is known to be a program are behind it.
  worsenBy(walk, draft, commandsMentioned((odd ? texts : texts.slice(1)).join(' '), isProgram))
}

/** The stronger effect of two. */
export function worsen(draft: Draft, effect: Effect, note: string): void {
  if (strongest(draft.effect, effect) === draft.effect || effect === 'unknown' || effect === 'remote-read') return
  draft.effect = effect
  draft.effectNote = note
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', e: '\u001b', a: '', b: '', '0': '' }

/** What `echo` and `printf` print, when their words are known. */
export function printed(argv: readonly Word[]): string | null {
  const texts = argv.map((word) => (word.values?.length === 1 ? (word.values[0] ?? '') : null))
  const [name, ...rest] = texts
  if ((name !== 'echo' && name !== 'printf') || rest.includes(null)) return null
  const options = name === 'echo' ? rest.filter((text) => /^-[neE]+$/.test(text ?? '')) : []
  const text = rest.slice(options.length).join(' ')
  return name === 'printf' || options.some((option) => option?.includes('e')) ? unescaped(text) : text
}

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3})|(.))/g,
    (_, hex?: string, unicode?: string, octal?: string, letter?: string) => {
      if (letter !== undefined) return ESCAPES[letter] ?? letter
      return String.fromCodePoint(Number.parseInt(hex ?? unicode ?? octal ?? '20', octal === undefined ? 16 : 8))
    },
  )
}

/** The text behind a filter that only rewrites it: `base64 -d`, `rev`, `xxd -r -p`; null when that cannot be known. */
export function filtered(text: string, argv: readonly Word[]): string | null {
  const words = argv.map((word) => word.values?.[0] ?? '')
  if (/^(?:cat|tee)$/.test(words[0] ?? '')) return text
  if (words[0] === 'rev') return [...text.trimEnd()].reverse().join('')
  if (words[0] === 'base64' && words.some((word) => /^(?:-d|-D|--d\w*)$/.test(word))) return decoded(text, 'base64')
  if (words[0] === 'xxd' && words.includes('-r')) return decoded(text, 'hex')
  return null
}

function decoded(text: string, encoding: 'base64' | 'hex'): string {
  const clean = text.replace(/\s+/g, '')
  if (encoding === 'hex') return clean.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16) || 32))
  return fromBase64(clean)
}

/** Pure folders know no Buffer. */
function fromBase64(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  let bits = 0
  let buffer = 0
  let out = ''
  for (const character of text.replace(/=+$/, '')) {
    const value = alphabet.indexOf(character)
    if (value < 0) return out
    buffer = (buffer << 6) | value
    bits += 6
    if (bits >= 8) {
      bits -= 8
      out += String.fromCharCode((buffer >> bits) & 255)
    }
  }
  return out
}

/** Most values that are followed from one to the next. */
const MAX_VALUES = 8

/** `let` and its kin: text that is arithmetic. */
export function evaluateText(walk: Walk, text: string, span: Span): void {
  const parsed = parseText(`((${text}))`)
  const command = 'code' in parsed ? undefined : parsed.script.commands[0]?.command
  if (command?.type !== 'ArithmeticCommand' || command.expression === undefined || /[$`'"[]/.test(text)) {
    walkData(walk, text, span)
    walk.hazard(arithmeticDoubt(text, span))
    return
  }
  const host = {
    ...arithmeticHost(walk),
    assigned: (name: string) => walk.assigned(name, span),
    doubt: (_node: unknown, what: string) => walk.hazard(arithmeticDoubt(what, span)),
  }
  evaluate(command.expression, host, !mayFail(text))
}

/** Lists what known data runs when bash evaluates it: `a[$(cmd)]`, or a name whose value is such a text. */
export function walkData(walk: Walk, text: string, span: Span, seen: Set<string> = new Set()): void {
  if (seen.has(text) || seen.size >= MAX_VALUES) return
  seen.add(text)
  const source = `((${text}))`
  if (/\$\(|`/.test(text)) {
    // What cannot be read stays in doubt, and is not a reason to refuse the command.
    if (!('code' in parseText(source)))
      walk.text(source, span, { name: 'arithmetic', kind: 'shell' }, walk.frame.parent, walk.scope)
    return
  }
  for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) {
    for (const value of walk.scope.get(name).values ?? []) walkData(walk, value, span, seen)
  }
}
