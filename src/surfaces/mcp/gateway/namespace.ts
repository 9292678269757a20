/** Names of wrapped servers: whose a tool, a prompt or a resource is is before it, so that no server can speak for another. */

const SEPARATOR = '__'
const SCHEME = 'cordon://'

/** `files__read`; the label holds no underscore, so that the first separator ends it. */
function outerName(label: string, name: string): string {
  return `${label}${SEPARATOR}${name}`
}

/** The label and the name inside; null when it is not of ours. */
function innerName(outer: unknown): { readonly label: string; readonly name: string } | null {
  if (typeof outer !== 'string') return null
  const at = outer.indexOf(SEPARATOR)
  return at <= 0 ? null : { label: outer.slice(0, at), name: outer.slice(at + SEPARATOR.length) }
}

/** `cordon://files/file:///a.txt`: the server's own address behind its label, also of a template. */
export function outerUri(label: string, uri: string): string {
  return `${SCHEME}${label}/${uri}`
}

/** The label and the address inside; null when it is not of ours. */
export function innerUri(outer: unknown): { readonly label: string; readonly uri: string } | null {
  if (typeof outer !== 'string' || !outer.startsWith(SCHEME)) return null
  const at = outer.indexOf('/', SCHEME.length)
  return at < 0 ? null : { label: outer.slice(SCHEME.length, at), uri: outer.slice(at + 1) }
}

/** How names of one gateway are made and read. */
export interface Names {
  readonly outer: (label: string, name: string) => string
  readonly inner: (outer: unknown) => { readonly label: string; readonly name: string } | null
}

export const PREFIXED: Names = { outer: outerName, inner: innerName }

/** Of a gateway for one server, under whose name the client has it already. */
export function plainNames(label: string): Names {
  return {
    outer: (_, name) => name,
    inner: (name) => (typeof name === 'string' ? { label, name } : null),
  }
}
