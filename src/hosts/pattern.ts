/**
 * Host patterns: a literal host, `*.<registrable domain>` or a unix socket, with an optional port.
 */

import { canonicalAddress, embeddedIpv4, parseIpv6 } from './address.ts'
import { type HostKind, parseHost, quote } from './host.ts'
import type { SuffixLookup } from './suffix.ts'

export interface HostPattern {
  /** As written in the manifest. */
  readonly text: string
  /** Canonical: ASCII lower-case, no trailing dot, IPv6 without brackets; of a wildcard, the domain it is on. */
  readonly host: string
  readonly wildcard: boolean
  /** Null when none was written: 80 and 443 for an allow, every port for a deny. */
  readonly port: number | null
  /** `unix` is a socket of this machine, named in a list of what commands may reach: `host` is its path, and no request names one. */
  readonly kind: HostKind | 'unix'
}

type ParsedHostPattern = { readonly pattern: HostPattern } | { readonly problem: string; readonly suggestion?: string }

interface Split {
  readonly host: string
  readonly port: number | null
}

const MAX_LENGTH = 1024
/** For a deny list alone: an allow list cannot contain it. */
const EVERY = '*'
/** A label that is in no suffix list: what lies below a domain is a suffix when this one is. */
const ANY_LABEL = 'cordon-any-label'

/** True when parsing this entry consults the suffix list, so that a caller loads it only then. */
export function needsSuffixes(text: string): boolean {
  return text.includes('*')
}

/** Parses a host entry of the manifest. `suffixes` may be null for entries that do not need it. */
export function parseHostPattern(text: string, suffixes: SuffixLookup | null): ParsedHostPattern {
  const parsed = parseEntry(text, suffixes)
  if ('pattern' in parsed || parsed.suggestion === undefined) return parsed
  return 'pattern' in parseEntry(parsed.suggestion, suffixes) ? parsed : { problem: parsed.problem }
}

function parseEntry(text: string, suffixes: SuffixLookup | null): ParsedHostPattern {
  const refused = textProblem(text)
  if (refused !== null) return refused
  const split = splitPort(text)
  if ('problem' in split) return split
  const wildcard = split.host.startsWith('*.')
  const base = wildcard ? split.host.slice(2) : split.host
  if (base.includes('*')) return wildcardProblem(split.host)
  const parsed = parseHost(base)
  if ('problem' in parsed) return parsed
  const { host, kind } = parsed
  if (wildcard && kind !== 'name') return { problem: `${quote(text)}: an address has no subdomains`, suggestion: base }
  if (kind === 'ipv4' && host !== base.replace(/\.$/, '')) {
    return { problem: `${quote(base)} is another spelling of the address ${host}`, suggestion: host }
  }
  const spread = wildcard ? suffixProblem(host, suffixes) : null
  return spread ?? { pattern: { text, host, wildcard, port: split.port, kind } }
}

/** An entry of a deny list, which may also be every host (`*`), or every host's port (`*:22`). */
export function parseDeniedPattern(text: string, suffixes: SuffixLookup | null): ParsedHostPattern {
  const every = /^\*(?::([1-9][0-9]{0,4}))?$/.exec(text)
  if (every === null || Number(every[1] ?? 1) > 65_535) return parseHostPattern(text, suffixes)
  return { pattern: { text, host: EVERY, wildcard: true, port: every[1] ? Number(every[1]) : null, kind: 'name' } }
}

/** The allow reading: an entry without a port means 80 and 443; a wildcard means whole labels below, not the apex. */
export function matchesHost(pattern: HostPattern, host: string, port: number): boolean {
  if (pattern.port === null ? port !== 80 && port !== 443 : port !== pattern.port) return false
  return coversName(pattern, host)
}

/** The deny reading: an entry without a port means every port, and an IPv4 address also inside an IPv6 one. */
export function matchesDenied(pattern: HostPattern, host: string, port: number): boolean {
  if (pattern.port !== null && port !== pattern.port) return false
  if (coversName(pattern, host)) return true
  if (pattern.kind === 'name') return false
  return (embeddedIpv4(host) ?? host) === (embeddedIpv4(pattern.host) ?? pattern.host)
}

/** True when the hosts are the pattern's, whatever the port. */
export function coversName(pattern: HostPattern, host: string): boolean {
  if (!pattern.wildcard) return host === pattern.host
  if (pattern.host === EVERY) return true
  const cut = host.length - pattern.host.length - 1
  return cut > 0 && host.charCodeAt(cut) === 46 && host.endsWith(pattern.host)
}

/** True when every host and port that `inner` allows is allowed by `outer`. */
export function containsHost(outer: HostPattern, inner: HostPattern): boolean {
  const samePort = outer.port === inner.port || (outer.port === null && (inner.port === 80 || inner.port === 443))
  if (!samePort) return false
  if (outer.host === inner.host) return outer.wildcard === inner.wildcard
  return coversName(outer, inner.host)
}

/**
 * True when a public suffix lies between the wildcard's domain and the host, so that a stranger may own the host:
 * `bucket.s3.amazonaws.com` under `*.amazonaws.com`. The suffix itself belongs to its operator, unless it is one by a
 * wildcard rule of the list (`ec2-….compute.amazonaws.com`).
 */
export function crossesSuffix(pattern: HostPattern, host: string, suffixes: SuffixLookup): boolean {
  const suffix = suffixes.publicSuffix(host)
  if (suffix === null || suffix.length <= pattern.host.length) return false
  if (suffix !== host) return true
  const sibling = ANY_LABEL + host.slice(host.indexOf('.'))
  return suffixes.publicSuffix(sibling) === sibling
}

/** The allow reading where strangers own what lies below a public suffix: there a wildcard does not reach. */
export function reachesHost(
  pattern: HostPattern,
  host: string,
  port: number,
  suffixes: SuffixLookup | undefined,
): boolean {
  if (!matchesHost(pattern, host, port)) return false
  return !pattern.wildcard || suffixes === undefined || !crossesSuffix(pattern, host, suffixes)
}

function textProblem(text: string): { problem: string; suggestion?: string } | null {
  if (text === '') return { problem: 'a host entry cannot be empty' }
  if (text.length > MAX_LENGTH) return { problem: `a host entry is at most ${MAX_LENGTH} characters` }
  if (!text.isWellFormed()) return { problem: 'a host entry cannot contain half of a surrogate pair' }
  // Canonical names lose invisible characters, so the person who signs would not see the signed
  // name. Plain text is tested first: compiling the other expression takes longer than loading a
  // manifest.
  if (!/^[\x21-\x7e]+$/.test(text) && /[\s\p{C}]/u.test(text)) {
    const suggestion = text.trim().replace(/\p{C}/gu, '')
    return { problem: `${quote(text)} contains a space or an invisible character`, ...(suggestion && { suggestion }) }
  }
  const bare = text
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/^[^/?#]*@/, '')
    .replace(/[/?#].*$/, '')
  const suggestion = bare === '' || bare === text ? {} : { suggestion: bare }
  if (text.includes('://')) return { problem: `${quote(text)} contains a scheme; write the host alone`, ...suggestion }
  if (text.includes('@')) return { problem: `${quote(text)} contains a user name; write the host alone`, ...suggestion }
  if (/^[0-9a-f.:[\]]+\/\d+$/i.test(text)) return { problem: `${quote(text)} is a range; name single addresses` }
  if (/[/?#\\]/.test(text)) return { problem: `${quote(text)} contains a path; write the host alone`, ...suggestion }
  if (text.includes('%'))
    return { problem: `${quote(text)} contains "%"; zone ids and encoded characters are not hosts` }
  if (/^\*(:|$)/.test(text))
    return { problem: '"*" would match every host; name hosts, or "*.<domain>" for its subdomains' }
  if (text.startsWith('.')) {
    return { problem: `${quote(text)} starts with a dot; subdomains are written "*."`, suggestion: `*${text}` }
  }
  return null
}

function splitPort(text: string): Split | { problem: string; suggestion?: string } {
  if (text.startsWith('[')) {
    const bracketed = /^(\[[^\]]*\])(?::(.*))?$/.exec(text)
    if (bracketed === null)
      return { problem: `${quote(text)}: write an IPv6 address as "[address]" or "[address]:port"` }
    return withPort(bracketed[1]!, bracketed[2])
  }
  if (text.includes('[')) return { problem: `${quote(text)}: brackets only go around a whole IPv6 address` }
  const colon = text.lastIndexOf(':')
  if (colon < 0) return { host: text, port: null }
  const head = text.slice(0, colon)
  if (!head.includes(':')) return withPort(head, text.slice(colon + 1))
  if (parseIpv6(text) === null) return { problem: `${quote(text)} has more than one port` }
  if (/^\d+$/.test(text.slice(colon + 1)) && parseIpv6(head) !== null) {
    const suggestion = `[${head}]:${text.slice(colon + 1)}`
    return { problem: `${quote(text)} may end in a port or not; write "[${text}]" or "${suggestion}"`, suggestion }
  }
  return { host: `[${canonicalAddress(text)}]`, port: null }
}

function withPort(host: string, port: string | undefined): Split | { problem: string; suggestion?: string } {
  if (port === undefined) return { host, port: null }
  if (!/^[1-9][0-9]{0,4}$/.test(port) || Number(port) > 65_535) {
    return { problem: `${quote(port)} is not a port from 1 to 65535`, ...(host.includes('.') && { suggestion: host }) }
  }
  return { host, port: Number(port) }
}

function wildcardProblem(host: string): { problem: string; suggestion?: string } {
  const problem = `${quote(host)}: "*" can only be the whole first label`
  const base = /^(?:\*+\.?)+([^*]+)$/.exec(host)?.[1]
  return base === undefined ? { problem } : { problem, suggestion: `*.${base}` }
}

function suffixProblem(host: string, suffixes: SuffixLookup | null): { problem: string; suggestion?: string } | null {
  if (suffixes === null) return { problem: `"*.${host}" cannot be judged without the public suffix list` }
  const below = `${ANY_LABEL}.${host}`
  const suffix = suffixes.publicSuffix(host)
  if (suffix !== null && suffix !== host && suffixes.publicSuffix(below) !== below) return null
  return { problem: `"*.${host}" would match names that anyone can register below "${host}"; name the hosts you mean` }
}

/** Unix sockets in lists of hosts: `unix:` and a path, and the consequences of granting one. */
const PREFIX = 'unix:'
/** The kernel's maximum, without the final NUL. */
const MAX_SOCKET_PATH = 107

/** True for an entry that names a unix socket. */
export function namesUnixSocket(text: string): boolean {
  return text.startsWith(PREFIX)
}

/** `unix:/run/docker.sock`, `unix:~/.colima/docker.sock`: one socket, by its whole path. */
export function parseUnixSocket(text: string): ParsedHostPattern {
  const host = text.slice(PREFIX.length)
  const steps = host.replace(/^~/, '').split('/').slice(1)
  if (!/^~?\/[\x21-\x7e]+$/.test(host) || steps.some((step) => ['', '.', '..'].includes(step)) || /[*?]/.test(host))
    return {
      problem: `${quote(text)} is not "unix:" and the whole path of one socket, such as "unix:/run/docker.sock"`,
    }
  if (host.length > MAX_SOCKET_PATH)
    return { problem: `the path of a unix socket has at most ${MAX_SOCKET_PATH} characters` }
  return { pattern: { text, host, wildcard: false, port: null, kind: 'unix' } }
}

const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [
    /docker|containerd|crio|buildkit|podman|lxd|incus|libvirt/i,
    'a program that uses it can run anything on this machine, usually as root: NO SANDBOX APPLIES',
  ],
  [/agent|ssh_auth|ssh-|keyring|gnupg|1password/i, 'a program that uses it can use EVERY KEY in it, for any host'],
  [/dbus|bus$|systemd|wayland|x11/i, 'a program that uses it can start programs OUTSIDE the sandbox'],
]

/** The warning about a socket that is given to commands, by its path or the entry. */
export function socketMeaning(path: string, signs?: unknown): string {
  if (signs !== undefined) return `a program that uses it can sign by the key ${String(signs)}, and nothing else`
  const known = MEANINGS.find(([shape]) => shape.test(path))
  return known?.[1] ?? 'whatever the program behind it does for you, it does for the command; Cordon sees bytes alone'
}
