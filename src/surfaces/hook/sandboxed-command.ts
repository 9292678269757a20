/** A shell command rewritten so that it runs inside the sandbox, and read back from that form. */

export interface SandboxedForm {
  /** The program and first arguments that run Cordon: `node`, `cordon.cjs`. */
  readonly cordon: readonly string[]
  readonly host: string
  readonly root: string
  readonly session: string | null
  /** It was allowed because undo covers it: without undo it does not run. */
  readonly undo?: boolean
}

/** A command that moves its shell: it starts in one directory and leaves the host's shell in another. */
export interface Move {
  readonly from: string
  readonly to: string
}

/** `node cordon.cjs hook run --host … --root … -- 'COMMAND'`, for POSIX shells and fish. */
export function sandboxedCommand(command: string, form: SandboxedForm, move: Move | null = null): string {
  if (move === null) return `${prefixOf(form)} ${quote(command)}`
  return `cd -- ${quoteIfNeeded(move.to)} && ${prefixOf(form, ['--in', move.from])} ${quote(command)}`
}

/** The command inside one that has exactly our form; null for every other. */
export function commandInside(text: string, form: SandboxedForm): string | null {
  const prefix = `${prefixOf(form)} `
  if (!text.startsWith(prefix)) return null
  const inner = unquote(text.slice(prefix.length))
  return inner !== null && sandboxedCommand(inner, form) === text ? inner : null
}

function prefixOf({ cordon, host, root, session, undo }: SandboxedForm, more: readonly string[] = []): string {
  const words = ['hook', 'run', '--host', host, '--root', root, ...(session === null ? [] : ['--session', session])]
  return [...cordon, ...words, ...(undo ? ['--undo'] : []), ...more].map(quoteIfNeeded).concat('--').join(' ')
}

/** One word, whatever it holds. Backslashes stand outside the quotes, because fish reads them inside as well. */
export function quote(word: string): string {
  return `'${word.replace(/[\\']/g, "'\\$&'")}'`
}

export function quoteIfNeeded(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) ? word : quote(word)
}

function unquote(word: string): string | null {
  if (word.length < 2 || !word.startsWith("'") || !word.endsWith("'")) return null
  return word.slice(1, -1).replace(/'\\([\\'])'/g, '$1')
}
