/** A target: the host and port that a connection or a request names, in one canonical spelling. */

import { isLoopbackHost } from '../../hosts/address.ts'
import { type HostKind, quote, parseAuthority as readAuthority } from '../../hosts/host.ts'
import type { UrlFacts } from '../../hosts/url.ts'

export interface Target {
  readonly host: string
  readonly port: number
  readonly kind: HostKind
}

/** Parses `host:port` or `[address]:port` as the wire carries it; `defaultPort` of null demands a port. */
export function parseAuthority(text: string, defaultPort: number | null): Target | { readonly problem: string } {
  const named = readAuthority(text)
  if ('problem' in named) return named
  const port = named.port ?? defaultPort
  return port === null ? { problem: `${quote(text)} needs a port from 1 to 65535` } : { ...named, port }
}

/** A target from a host as the wire carries it, and a port as a number. */
export function targetOf(host: string, port: number): Target | { readonly problem: string } {
  const named = readAuthority(host)
  if ('problem' in named) return named
  if (named.port !== null) return { problem: `${quote(host)} contains a port; a host alone was expected` }
  return port >= 1 && port <= 65_535 ? { ...named, port } : { problem: `${port} is not a port from 1 to 65535` }
}

/** `host`, or `host:port` where the port is not the scheme's own. */
export function authorityOf(target: Target, defaultPort: number | null): string {
  const host = target.kind === 'ipv6' ? `[${target.host}]` : target.host
  return target.port === defaultPort ? host : `${host}:${target.port}`
}

/** The facts that the host rules judge. */
export function urlOf(target: Target, secure: boolean, path = '/'): UrlFacts {
  const scheme = secure ? 'https' : 'http'
  const href = `${scheme}://${authorityOf(target, secure ? 443 : 80)}${path}`
  return { scheme, host: target.host, port: target.port, kind: target.kind, hadUserinfo: false, path, href }
}

/** True when an authority names this target; one without a port names the host alone. */
export function agrees(authority: string, target: Target): boolean {
  // As nearly every client writes it; any other spelling is parsed.
  if (target.kind !== 'ipv6' && (authority === target.host || authority === authorityOf(target, null))) return true
  const named = parseAuthority(authority, target.port)
  if ('problem' in named || named.port !== target.port) return false
  // Loopback is this one machine, by whichever of its names.
  return named.host === target.host || (isLoopbackHost(named.host) && isLoopbackHost(target.host))
}
