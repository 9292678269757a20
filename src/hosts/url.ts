/** URL facts: the real target of a URL, or why it is uncertain. */

import { checkHost, type HostKind, quote } from './host.ts'

type UrlScheme = 'http' | 'https' | 'ws' | 'wss'

export interface UrlFacts {
  readonly scheme: UrlScheme
  /** Canonical: ASCII lower-case, no trailing dot, IPv6 without brackets. This is what must be dialled. */
  readonly host: string
  readonly port: number
  readonly kind: HostKind
  readonly hadUserinfo: boolean
  /** Normalised path without query. */
  readonly path: string
  /** The URL again, built from the facts, without userinfo and fragment. */
  readonly href: string
}

const DEFAULT_PORTS: Readonly<Record<UrlScheme, number>> = { http: 80, https: 443, ws: 80, wss: 443 }
const MAX_LENGTH = 16_384

/**
 * Parses a URL by the WHATWG rules and refuses what another parser could read otherwise: stripped control characters,
 * backslashes, missing slashes, a second `@`, percent-encoded dots. A relative reference needs `base`.
 */
export function parseUrl(text: string, base?: UrlFacts): { readonly url: UrlFacts } | { readonly problem: string } {
  const problem = textProblem(text) ?? shapeProblem(text, base !== undefined)
  if (problem !== null) return { problem }
  const url = URL.parse(text, base?.href)
  if (url === null) return { problem: `${quote(text)} is not a valid URL: check the host and the port` }
  const scheme = url.protocol.slice(0, -1)
  if (!isScheme(scheme)) return { problem: schemeProblem(scheme) }
  const host = checkHost(url.hostname)
  if ('problem' in host) return host
  const port = url.port === '' ? DEFAULT_PORTS[scheme] : Number(url.port)
  if (port === 0) return { problem: 'port 0 cannot be connected to; leave the port out or name one from 1 to 65535' }
  const hadUserinfo = url.username !== '' || url.password !== ''
  const authority = `${host.kind === 'ipv6' ? `[${host.host}]` : host.host}${url.port === '' ? '' : `:${url.port}`}`
  const href = `${scheme}://${authority}${url.pathname}${url.search}`
  return { url: { scheme, ...host, port, hadUserinfo, path: url.pathname, href } }
}

function textProblem(text: string): string | null {
  if (text === '') return 'the URL is empty'
  if (text.length > MAX_LENGTH) return `a URL has at most ${MAX_LENGTH} characters, this one has ${text.length}`
  if (!text.isWellFormed()) return 'the URL contains half of a surrogate pair'
  // The WHATWG parser drops tabs and newlines, so "java\nscript" and "git\thub.com" would change under the check.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) return `${quote(text)} contains a control character`
  if (text !== text.trim()) return `${quote(text)} starts or ends with a space`
  return null
}

/** Text that the parser would repair silently; clients differ in how they repair it. */
function shapeProblem(text: string, mayBeRelative: boolean): string | null {
  const end = text.search(/[?#]/)
  if ((end < 0 ? text : text.slice(0, end)).includes('\\')) return `${quote(text)} contains a backslash; write "/"`
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]
  if (scheme === undefined && !mayBeRelative) return `${quote(text)} has no scheme; write it as "https://…"`
  if (scheme !== undefined && !isScheme(scheme.toLowerCase())) return schemeProblem(scheme)
  const rest = scheme === undefined ? text : text.slice(scheme.length + 1)
  if (!rest.startsWith('//')) return scheme === undefined ? null : `${quote(text)} needs "//" after the scheme`
  const authority = /^[^/?#]*/.exec(rest.slice(2))![0]
  if (authority === '') return `${quote(text)} names no host`
  const parts = authority.split('@')
  if (parts.length > 2) return `${quote(authority)} contains more than one "@", so the host is ambiguous`
  const host = parts.at(-1)!
  if (/\s/.test(authority)) return `${quote(authority)} contains a space`
  if (/%2e/i.test(host)) return `${quote(host)} contains a percent-encoded dot; write "."`
  return null
}

function isScheme(scheme: string): scheme is UrlScheme {
  return Object.hasOwn(DEFAULT_PORTS, scheme)
}

function schemeProblem(scheme: string): string {
  return `${quote(`${scheme}:`)} is not a scheme that can be reached: use http, https, ws or wss`
}
