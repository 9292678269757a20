/**
 * Parses the head of an HTTP/1 request strictly: one Host, one framing, one target, no smuggling.
 * PURE.
 */

import { quote } from '../../hosts/host.ts'
import { parseUrl } from '../../hosts/url.ts'
import type { EgressDenial } from './refusal.ts'
import { agrees, authorityOf, type Target } from './target.ts'

export interface RequestHead {
  readonly method: string
  readonly url: string
  readonly httpVersion: string
  readonly rawHeaders: readonly string[]
}

/** The tunnel of a request; null for a request to the proxy itself. */
export interface TunnelFacts {
  readonly target: Target
  readonly secure: boolean
}

export interface RequestTarget {
  readonly target: Target
  readonly secure: boolean
  /** Sent upstream: path and query. */
  readonly path: string
}

/** Headers that a proxy does not forward (RFC 9110, 7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
])
/** Headers that a Connection header cannot remove: the request would change its meaning. */
const END_TO_END: ReadonlySet<string> = new Set(['host', 'content-length', 'authorization', 'cookie', 'content-type'])
const ECHOING_METHODS: ReadonlySet<string> = new Set(['TRACE', 'TRACK'])

/**
 * Reads the target of a request; Node's strict parser has already refused broken lines, folds,
 * sizes and CL with TE.
 */
export function readRequest(
  head: RequestHead,
  tunnel: TunnelFacts | null,
): RequestTarget | { readonly refusal: EgressDenial } {
  const problem = headProblem(head)
  if (problem !== null) return malformed(problem)
  const read = tunnel === null ? readProxied(head) : readTunnelled(head, tunnel)
  if ('refusal' in read) return read
  const host = headerValues(head.rawHeaders, 'host')[0]!
  if (agrees(host, read.target)) return read
  const expected = quote(authorityOf(read.target, null))
  return {
    refusal: { code: 'host-mismatch', message: `the Host header names ${quote(host)}, the connection ${expected}` },
  }
}

export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() === name) values.push(rawHeaders[at + 1]!)
  }
  return values
}

/** Raw headers without hop-by-hop ones; `names` drops further ones. */
export function endToEndHeaders(rawHeaders: readonly string[], names: readonly string[] = []): string[] {
  const dropped = new Set([...names, ...connectionOptions(rawHeaders)])
  const kept: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (!HOP_BY_HOP.has(name) && !dropped.has(name)) kept.push(rawHeaders[at]!, rawHeaders[at + 1]!)
  }
  return kept
}

/** The headers for upstream: Cordon's Host and framing, the rest unchanged. */
export function upstreamHeaders(head: RequestHead, read: RequestTarget): string[] {
  const headers = [
    'Host',
    authorityOf(read.target, read.secure ? 443 : 80),
    ...endToEndHeaders(head.rawHeaders, ['host']),
  ]
  if (hasChunkedBody(head)) headers.push('Transfer-Encoding', 'chunked')
  else if (
    !/^(GET|HEAD|DELETE|OPTIONS)$/.test(head.method) &&
    headerValues(head.rawHeaders, 'content-length').length === 0
  ) {
    headers.push('Content-Length', '0')
  }
  return headers
}

export function hasBody(head: RequestHead): boolean {
  const length = headerValues(head.rawHeaders, 'content-length')[0]
  return hasChunkedBody(head) || (length !== undefined && Number(length) > 0)
}

function hasChunkedBody(head: RequestHead): boolean {
  return headerValues(head.rawHeaders, 'transfer-encoding').length > 0
}

function connectionOptions(rawHeaders: readonly string[]): string[] {
  const options = headerValues(rawHeaders, 'connection').flatMap((value) => value.toLowerCase().split(','))
  return options.map((option) => option.trim()).filter((option) => !END_TO_END.has(option))
}

function headProblem(head: RequestHead): string | null {
  if (head.httpVersion !== '1.1' && head.httpVersion !== '1.0')
    return `HTTP/${head.httpVersion} on an HTTP/1 connection`
  if (ECHOING_METHODS.has(head.method)) return `${head.method} echoes headers and is not passed on`
  const hosts = headerValues(head.rawHeaders, 'host')
  if (hosts.length !== 1) return hosts.length === 0 ? 'a request without a Host header' : 'more than one Host header'
  const encodings = headerValues(head.rawHeaders, 'transfer-encoding')
  const lengths = headerValues(head.rawHeaders, 'content-length')
  if (encodings.length + lengths.length > 1) return 'more than one way to tell where the body ends'
  if (encodings.length > 0 && (head.httpVersion === '1.0' || encodings[0]!.trim().toLowerCase() !== 'chunked')) {
    return `Transfer-Encoding ${quote(encodings[0]!)}; only "chunked" on HTTP/1.1 is passed on`
  }
  if (lengths.length > 0 && !/^[0-9]{1,15}$/.test(lengths[0]!)) return `Content-Length ${quote(lengths[0]!)}`
  const expectation = headerValues(head.rawHeaders, 'expect')
  if (expectation.some((value) => value.toLowerCase() !== '100-continue')) return 'an Expect header that is not known'
  return null
}

function readProxied(head: RequestHead): RequestTarget | { readonly refusal: EgressDenial } {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(head.url)) {
    return malformed(`${quote(head.url)} names no host; this is a proxy, and requests to it carry a whole URL`)
  }
  const parsed = parseUrl(head.url)
  if ('problem' in parsed) return { refusal: { code: 'url-invalid', message: parsed.problem } }
  const { url } = parsed
  if (url.scheme !== 'http' && url.scheme !== 'ws') return malformed(`${url.scheme} goes through CONNECT`)
  if (url.hadUserinfo) return malformed('a URL with a user name in a request line')
  if (url.port === 443) return { refusal: { code: 'not-tls', message: 'port 443 is for TLS, and this is plain HTTP' } }
  return { target: { host: url.host, port: url.port, kind: url.kind }, secure: false, path: originForm(url.href) }
}

function readTunnelled(head: RequestHead, tunnel: TunnelFacts): RequestTarget | { readonly refusal: EgressDenial } {
  const { target, secure } = tunnel
  if (head.url.startsWith('/')) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what may not be in a request line.
    if (/[\x00-\x20\x7f#]/.test(head.url)) return malformed('a request target with a control character, a space or "#"')
    return { target, secure, path: head.url }
  }
  if (head.url === '*' && head.method === 'OPTIONS') return { target, secure, path: '*' }
  const parsed = parseUrl(head.url)
  if ('problem' in parsed) return { refusal: { code: 'url-invalid', message: parsed.problem } }
  const { url } = parsed
  const encrypted = url.scheme === 'https' || url.scheme === 'wss'
  if (url.host !== target.host || url.port !== target.port || encrypted !== secure || url.hadUserinfo) {
    const message = `the request line names ${quote(url.href)}, the tunnel ${quote(authorityOf(target, null))}`
    return { refusal: { code: 'host-mismatch', message } }
  }
  return { target, secure, path: originForm(url.href) }
}

function originForm(href: string): string {
  return href.slice(href.indexOf('/', href.indexOf('://') + 3))
}

function malformed(message: string): { readonly refusal: EgressDenial } {
  return { refusal: { code: 'malformed-request', message } }
}

interface ConnectRequest {
  readonly head: RequestHead
  /** The length in bytes. */
  readonly used: number
}

/**
 * Only unambiguous lines: a token, a colon, a space, printable ASCII; at most as many as clients
 * send.
 */
const LONGEST = 2048
const PLAIN = /^CONNECT ([\w.:[\]-]{1,300}) HTTP\/1\.([01])\r\n((?:[\w-]{1,64}: ?[!-~](?:[ -~]*[!-~])?\r\n){0,16})\r\n/

/** Null for anything else: the strict parser distinguishes incomplete from broken heads. */
export function readConnect(bytes: Buffer): ConnectRequest | null {
  if (bytes[0] !== 0x43 || bytes[1] !== 0x4f) return null
  const text = bytes.toString('latin1', 0, LONGEST)
  const match = PLAIN.exec(text)
  if (match === null) return null
  const rawHeaders: string[] = []
  for (const line of match[3]!.split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) rawHeaders.push(line.slice(0, colon), line.slice(colon + 1).trimStart())
  }
  const head: RequestHead = { method: 'CONNECT', url: match[1]!, httpVersion: `1.${match[2]}`, rawHeaders }
  return { head, used: match[0].length }
}
