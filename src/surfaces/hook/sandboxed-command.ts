/** A shell command rewritten so that it runs inside the sandbox, and read back from that form. */

export interface SandboxedForm {
  /** The program and first arguments that run Cordon: `node`, `cordon.cjs`. */
  readonly cordon: readonly string[]
  readonly host: string
  readonly root: string
  readonly session: string | null
}

/** `node cordon.cjs hook run --host … --root … -- 'COMMAND'`, for any POSIX shell. */
export function sandboxedCommand(command: string, form: SandboxedForm): string {
  return `${prefixOf(form)} ${quote(command)}`
}

/** The command inside one that has exactly our form; null for every other. */
export function commandInside(text: string, form: SandboxedForm): string | null {
  const prefix = `${prefixOf(form)} `
  if (!text.startsWith(prefix)) return null
  const inner = unquote(text.slice(prefix.length))
  return inner !== null && sandboxedCommand(inner, form) === text ? inner : null
}

function prefixOf({ cordon, host, root, session }: SandboxedForm): string {
  const words = ['hook', 'run', '--host', host, '--root', root, ...(session === null ? [] : ['--session', session])]
  return [...cordon, ...words].map(quoteIfNeeded).concat('--').join(' ')
}

/** One word of a POSIX shell, whatever it holds. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

export function quoteIfNeeded(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) ? word : quote(word)
}

function unquote(word: string): string | null {
  if (word.length < 2 || !word.startsWith("'") || !word.endsWith("'")) return null
  return word.slice(1, -1).replaceAll("'\\''", "'")
}
