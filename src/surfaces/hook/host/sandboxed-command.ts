/** A shell command rewritten so that it runs inside the sandbox, and read back from that form. */

export interface SandboxedForm {
  /** The program of the short form, `cordon-run`. */
  readonly program: string
  /** Whose command it is: a host's session in a project. */
  readonly key: string
  /** It was allowed because undo covers it: without undo it does not run. */
  readonly undo?: boolean
  /** The host's own sandbox would have kept it from writing: so does ours. */
  readonly readOnly?: boolean
  /** How the host's shell reads quotes; Codex has no fish, and finds its rules only for words that stand wholly in quotes. */
  readonly quoting?: Quoting
}

export type Quoting = 'any-shell' | 'posix'

/** A command that moves its shell: it starts in one directory and leaves the host's shell in another. */
export interface Move {
  readonly from: string
  readonly to: string
}

/** What goes with a command beside its text. */
export interface Wrapping {
  readonly move?: Move | null
  /** The person was asked about it, under this id. */
  readonly answer?: string | null
}

/** `cordon-run KEY 'COMMAND'`, for POSIX shells and fish. */
export function sandboxedCommand(command: string, form: SandboxedForm, { move, answer }: Wrapping = {}): string {
  const marks = `${answer ? `.${answer}` : ''}${form.undo ? '+undo' : ''}${form.readOnly ? '+read' : ''}`
  const prefix = `${quoteIfNeeded(form.program)} ${form.key}${marks}`
  const quoted = form.quoting === 'posix' ? posixQuote(command) : quote(command)
  if (!move) return `${prefix} ${quoted}`
  return `cd -- ${quoteIfNeeded(move.to)} && ${prefix} --in ${quoteIfNeeded(move.from)} ${quoted}`
}

/** The command inside one that has exactly our form; null for every other. */
export function commandInside(text: string, form: SandboxedForm): string | null {
  const prefix = `${quoteIfNeeded(form.program)} ${form.key}`
  if (!text.startsWith(prefix)) return null
  const [, answer = null, quoted = ''] =
    /^(?:\.([0-9a-f]{8}))?(?:\+undo)?(?:\+read)? (.*)$/s.exec(text.slice(prefix.length)) ?? []
  const inner = form.quoting === 'posix' ? posixUnquote(quoted) : unquote(quoted)
  return inner !== null && sandboxedCommand(inner, form, { answer }) === text ? inner : null
}

const WORD = String.raw`(?:[\w@%+:,./-]|'[^']*'|\\['\\])+`
const KEY = String.raw`[0-9a-f]{12}(?:\.[0-9a-f]{8})?(?:\+undo)?(?:\+read)?`
const QUOTED = String.raw`('(?:[^']|'\\['\\]'|'"'"')*')`

/** The command inside one that a hook put into the sandbox, for any session and wherever it left its shell; null for every other. */
export function sandboxedText(text: string, program: string): string | null {
  const name = quoteIfNeeded(program).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const form = `^(?:cd -- ${WORD} && ${name} ${KEY} --in ${WORD}|${name} ${KEY}) ${QUOTED}$`
  const [, quoted = ''] = new RegExp(form).exec(text) ?? []
  const [inner, posix] = [unquote(quoted), posixUnquote(quoted)]
  if (inner !== null && quote(inner) === quoted) return inner
  return posix !== null && posixQuote(posix) === quoted ? posix : null
}

/** One word, whatever it holds. Backslashes stand outside the quotes, because fish reads them inside as well. */
export function quote(word: string): string {
  return `'${word.replace(/[\\']/g, "'\\$&'")}'`
}

export function quoteIfNeeded(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) ? word : quote(word)
}

function unquote(word: string): string | null {
  return isQuoted(word) ? word.slice(1, -1).replace(/'\\([\\'])'/g, '$1') : null
}

function posixQuote(word: string): string {
  return `'${word.replaceAll("'", `'"'"'`)}'`
}

function posixUnquote(word: string): string | null {
  return isQuoted(word) ? word.slice(1, -1).replaceAll(`'"'"'`, "'") : null
}

function isQuoted(word: string): boolean {
  return word.length >= 2 && word.startsWith("'") && word.endsWith("'")
}
