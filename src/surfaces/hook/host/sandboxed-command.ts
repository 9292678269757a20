/** Rewrites a shell command to run in the sandbox, and reads it back from that form. */

export interface SandboxedForm {
  /** The program of the short form, `cordon-run`. */
  readonly program: string
  readonly key: string
  /** Allowed only because undo covers it: without undo it does not run. */
  readonly undo?: boolean
  /** The host's own sandbox would have denied writes, so ours does. */
  readonly readOnly?: boolean
  /** How the host's shell reads quotes. Codex never uses fish, and matches its rules only on fully quoted words. */
  readonly quoting?: Quoting
}

export type Quoting = 'any-shell' | 'posix'

export interface Move {
  readonly from: string
  readonly to: string
}

/** Options of a wrapped command. */
export interface Wrapping {
  readonly move?: Move | null
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

/** The command inside exactly our form; otherwise null. */
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

/** The command inside a wrapped one of any session, wherever it left its shell; otherwise null. */
export function sandboxedText(text: string, program: string): string | null {
  const name = quoteIfNeeded(program).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const form = `^(?:cd -- ${WORD} && ${name} ${KEY} --in ${WORD}|${name} ${KEY}) ${QUOTED}$`
  const [, quoted = ''] = new RegExp(form).exec(text) ?? []
  const [inner, posix] = [unquote(quoted), posixUnquote(quoted)]
  if (inner !== null && quote(inner) === quoted) return inner
  return posix !== null && posixQuote(posix) === quoted ? posix : null
}

/** Quotes one word. Backslashes are outside the quotes, because fish interprets them inside. */
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
