/** A canonical host: the one ASCII lower-case spelling of a name or an address that patterns and requests share. */

import { parseIpv4 } from './address.ts'

export type HostKind = 'name' | 'ipv4' | 'ipv6'

/** IPv6 has no brackets; a name has no trailing dot. */
interface Host {
  readonly host: string
  readonly kind: HostKind
}

const MAX_NAME = 253
const MAX_LABEL = 63

/** Makes a host from the text between `//` and the port, as the WHATWG host parser reads it; IPv6 in brackets. */
export function parseHost(text: string): Host | { readonly problem: string } {
  if (text === '' || /[\s/\\?#@%]/.test(text) || (text.includes(':') && !text.startsWith('['))) {
    return { problem: `${quote(text)} is not a host name or address` }
  }
  const url = URL.parse(`http://${text}/`)
  return url === null ? { problem: `${quote(text)} is not a host name or address` } : checkHost(url.hostname)
}

/**
 * Reads `host` or `host:port` as a proxy meets it in CONNECT, Host and SNI: ASCII only, IPv6 in brackets, and nothing
 * else on the line. The port is null when none was given.
 */
export function parseAuthority(text: string): (Host & { readonly port: number | null }) | { readonly problem: string } {
  const parts = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([1-9][0-9]{0,4}))?$/i.exec(text)
  const port = parts?.[2] === undefined ? null : Number(parts[2])
  if (parts === null || (port ?? 0) > 65_535) return { problem: `${quote(text)} is not "host" or "host:port"` }
  const host = parseHost(parts[1]!)
  return 'problem' in host ? host : { ...host, port }
}

/** Checks the WHATWG parser's result against the stricter rules of DNS names. */
export function checkHost(hostname: string): Host | { readonly problem: string } {
  if (hostname.startsWith('[')) return { host: hostname.slice(1, -1), kind: 'ipv6' }
  if (parseIpv4(hostname) !== null) return { host: hostname, kind: 'ipv4' }
  const host = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
  const problem = nameProblem(host)
  return problem === null ? { host, kind: 'name' } : { problem }
}

/** Text as an error may show it: cut, with everything outside printable ASCII escaped. */
export function quote(text: string): string {
  const shown = text.length > 80 ? `${text.slice(0, 79)}…` : text
  return `"${shown.replace(/[^\x20-\x7e…]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)}"`
}

function nameProblem(host: string): string | null {
  if (host.length > MAX_NAME) return `a host name has at most ${MAX_NAME} characters, this one has ${host.length}`
  for (const label of host.split('.')) {
    if (label === '') return `${quote(host)} has an empty label: two dots, or a dot at the start`
    if (label.length > MAX_LABEL) return `${quote(label)} is longer than the ${MAX_LABEL} characters a label may have`
    if (!/^[a-z0-9_][a-z0-9_-]*$/.test(label)) {
      return `${quote(label)} is not a host label: letters, digits, "_" and "-", and no "-" at the start`
    }
    if (label.startsWith('xn--') && !isALabel(label)) return `${quote(label)} is not valid Punycode`
  }
  return null
}

/** True when decoding the label and encoding it again gives the same label. */
function isALabel(label: string): boolean {
  const decoded = decodePunycode(label.slice(4))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII, which needs no Punycode.
  if (decoded === null || /^[\x00-\x7f]*$/.test(decoded)) return false
  return URL.parse(`http://${encodeURIComponent(decoded)}/`)?.hostname === label
}

const BASE = 36
const T_MIN = 1
const T_MAX = 26
const SKEW = 38
const DAMP = 700

/** The Unicode label behind the part after `xn--`; null when it is not Punycode. */
export function decodePunycode(text: string): string | null {
  const delimiter = text.lastIndexOf('-')
  const points = [...(delimiter > 0 ? text.slice(0, delimiter) : '')].map((character) => character.charCodeAt(0))
  let point = 128
  let bias = 72
  let index = 0
  for (let at = delimiter + 1; at < text.length; ) {
    const before = index
    for (let weight = 1, k = BASE; ; k += BASE) {
      const digit = digitOf(text.charCodeAt(at++))
      if (digit < 0) return null
      index += digit * weight
      const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX)
      if (digit < threshold) break
      weight *= BASE - threshold
      if (weight > 0x7fffffff || index > 0x7fffffff) return null
    }
    const length = points.length + 1
    bias = adapt(index - before, length, before === 0)
    point += Math.floor(index / length)
    index %= length
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return null
    points.splice(index++, 0, point)
  }
  return String.fromCodePoint(...points)
}

function digitOf(code: number): number {
  if (code >= 97 && code <= 122) return code - 97
  if (code >= 48 && code <= 57) return code - 22
  return -1
}

function adapt(delta: number, length: number, first: boolean): number {
  let rest = Math.floor(first ? delta / DAMP : delta / 2)
  rest += Math.floor(rest / length)
  let k = 0
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) rest = Math.floor(rest / (BASE - T_MIN))
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW))
}
