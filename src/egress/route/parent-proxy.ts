/**
 * The parent proxy of this machine: connections go through it by CONNECT, except for bypassed
 * hosts.
 */

import { isInIpv4Range } from '../../hosts/address.ts'
import { Fault } from '../../system/fault.ts'
import { type Target, targetOf } from '../wire/target.ts'
import { isLoopback } from './rules.ts'

export interface ParentProxy {
  readonly target: Target
  /** TLS to the proxy itself. */
  readonly secure: boolean
  /** The value of Proxy-Authorization; null without one. */
  readonly authorization: string | null
  /** False for bypassed hosts. */
  carries(target: Target): boolean
}

/** The person's settings for it. */
export interface ParentSettings {
  /** A URL, `none`, or `environment`: HTTPS_PROXY and similar variables. */
  readonly proxy: string
  /** Null: NO_PROXY decides. */
  readonly bypass: readonly string[] | null
  /** `user:password`; null: from the URL. */
  readonly credentials: string | null
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The parent proxy, or null for direct connections. An unusable URL is a fault. */
export function readParentProxy(settings: ParentSettings): ParentProxy | null {
  const { env } = settings
  if (settings.proxy === 'none') return null
  const written = settings.proxy !== 'environment'
  const first = (...names: string[]) =>
    names.map((name) => env[name]).find((value) => value !== undefined && value !== '')
  const text = written ? settings.proxy : first('https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY')
  const place = text === undefined ? null : readPlace(text)
  if (place === null) {
    // A variable may name another kind of proxy, for other programs.
    if (!written) return null
    throw new Fault('bad-config', 'parent_proxy under [network] is not a usable proxy', {
      remedy: 'Expected http://host:port, https://host:port, "environment" or "none".',
    })
  }
  const credentials = settings.credentials ?? place.credentials
  const bypass = (settings.bypass ?? (first('no_proxy', 'NO_PROXY') ?? '').split(/[\s,]+/)).flatMap(readBypass)
  return {
    target: place.target,
    secure: place.secure,
    authorization: credentials === null ? null : `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`,
    carries: (wanted) => !isLocal(wanted) && !bypass.some((matches) => matches(wanted)),
  }
}

interface Place {
  readonly target: Target
  readonly secure: boolean
  readonly credentials: string | null
}

function readPlace(text: string): Place | null {
  try {
    const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`)
    const secure = url.protocol === 'https:'
    if (!secure && url.protocol !== 'http:') return null
    const target = targetOf(url.hostname, Number(url.port || (secure ? 443 : 80)))
    if ('problem' in target) return null
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
    return { target, secure, credentials: user === '' ? null : `${user}:${password}` }
  } catch {
    return null
  }
}

function isLocal({ host, kind }: Target): boolean {
  return kind === 'name' ? host === 'localhost' || host.endsWith('.localhost') : isLoopback(host)
}

/**
 * Parses an entry as curl and Go do: `*`, a domain, an address or a range, each with an optional
 * port.
 */
function readBypass(entry: string): ((target: Target) => boolean)[] {
  const text = entry.trim().toLowerCase()
  if (text === '') return []
  if (text === '*') return [() => true]
  const range = /^([0-9.]+)\/(\d{1,2})$/.exec(text)
  if (range) return [({ host }) => isInIpv4Range(host, range[1]!, Number(range[2]))]
  const [, name = '', port] = /^\*?\.?(\[[^\]]+\]|[^:]+|[0-9a-f:]*:[0-9a-f:]*)(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = name.replace(/^\[|\]$/g, '')
  if (host === '') return []
  return [
    (target) =>
      (port === undefined || Number(port) === target.port) &&
      (target.host === host || (target.kind === 'name' && target.host.endsWith(`.${host}`))),
  ]
}
