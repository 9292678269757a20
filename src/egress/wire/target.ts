/** A target: the host and port of a connection or a request, in one canonical spelling. */

import { isLoopbackHost } from '../../hosts/address.ts'
import { type HostKind, quote, parseAuthority as readAuthority } from '../../hosts/host.ts'
import type { UrlFacts } from '../../hosts/url.ts'

export interface Target {
  readonly host: string
  readonly port: number
  readonly kind: HostKind
}

/** Parses `host:port` or `[address]:port`; with a `defaultPort` of null the port is required. */
export function parseAuthority(text: string, defaultPort: number | null): Target | { readonly problem: string } {
  const named = readAuthority(text)
  if ('problem' in named) return named
  const port = named.port ?? defaultPort
  return port === null ? { problem: `${quote(text)} needs a port from 1 to 65535` } : { ...named, port }
}

/** A target from a host on the wire, and a port number. */
export function targetOf(host: string, port: number): Target | { readonly problem: string } {
  const named = readAuthority(host)
  if ('problem' in named) return named
  if (named.port !== null) return { problem: `${quote(host)} contains a port; a host alone was expected` }
  return port >= 1 && port <= 65_535 ? { ...named, port } : { problem: `${port} is not a port from 1 to 65535` }
}

/** `host`, or `host:port` if the port is not the scheme's default. */
export function authorityOf(target: Target, defaultPort: number | null): string {
  const host = target.kind === 'ipv6' ? `[${target.host}]` : target.host
  return target.port === defaultPort ? host : `${host}:${target.port}`
}

/** The facts for the host rules. */
export function urlOf(target: Target, secure: boolean, path = '/'): UrlFacts {
  const scheme = secure ? 'https' : 'http'
  const href = `${scheme}://${authorityOf(target, secure ? 443 : 80)}${path}`
  return { scheme, host: target.host, port: target.port, kind: target.kind, hadUserinfo: false, path, href }
}

/** Whether an authority names this target; one without a port names only the host. */
export function agrees(authority: string, target: Target): boolean {
  // The spelling of nearly every client; any other is parsed.
  if (target.kind !== 'ipv6' && (authority === target.host || authority === authorityOf(target, null))) return true
  const named = parseAuthority(authority, target.port)
  if ('problem' in named || named.port !== target.port) return false
  // All names of loopback are this machine.
  return named.host === target.host || (isLoopbackHost(named.host) && isLoopbackHost(target.host))
}
