/** Prefixes names of wrapped servers' tools, prompts and resources, so that no server can impersonate another. */

const SEPARATOR = '__'
const SCHEME = 'cordon://'

/** `files__read`; labels contain no underscore, so the first separator ends the label. */
function outerName(label: string, name: string): string {
  return `${label}${SEPARATOR}${name}`
}

function innerName(outer: unknown): { readonly label: string; readonly name: string } | null {
  if (typeof outer !== 'string') return null
  const at = outer.indexOf(SEPARATOR)
  return at <= 0 ? null : { label: outer.slice(0, at), name: outer.slice(at + SEPARATOR.length) }
}

/** `cordon://files/file:///a.txt`: the server's address behind its label, also for templates. */
export function outerUri(label: string, uri: string): string {
  return `${SCHEME}${label}/${uri}`
}

/** The label and the inner address, or null. */
export function innerUri(outer: unknown): { readonly label: string; readonly uri: string } | null {
  if (typeof outer !== 'string' || !outer.startsWith(SCHEME)) return null
  const at = outer.indexOf('/', SCHEME.length)
  return at < 0 ? null : { label: outer.slice(SCHEME.length, at), uri: outer.slice(at + 1) }
}

/** How a gateway builds and reads names. */
export interface Names {
  readonly outer: (label: string, name: string) => string
  readonly inner: (outer: unknown) => { readonly label: string; readonly name: string } | null
}

export const PREFIXED: Names = { outer: outerName, inner: innerName }

/** For a gateway with one server, which the client already names. */
export function plainNames(label: string): Names {
  return {
    outer: (_, name) => name,
    inner: (name) => (typeof name === 'string' ? { label, name } : null),
  }
}
