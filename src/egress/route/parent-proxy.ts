/** The proxy that this machine itself is behind: connections go through it by CONNECT, but for those it is not for. */

import { isInIpv4Range } from '../../hosts/address.ts'
import { Fault } from '../../system/fault.ts'
import { type Target, targetOf } from '../wire/target.ts'
import { isLoopback } from './loopback.ts'

export interface ParentProxy {
  readonly target: Target
  /** TLS to the proxy itself. */
  readonly secure: boolean
  /** The value of Proxy-Authorization; null where it wants none. */
  readonly authorization: string | null
  /** False for hosts that are reached without it. */
  carries(target: Target): boolean
}

/** What the person says about it. */
export interface ParentSettings {
  /** A URL, `none`, or `environment`: what HTTPS_PROXY and its kin say. */
  readonly proxy: string
  /** Null: what NO_PROXY says. */
  readonly bypass: readonly string[] | null
  /** `user:password`; null: as the URL has it. */
  readonly credentials: string | null
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The parent proxy, or null where connections go out directly. A URL that was written and cannot be used is a fault. */
export function readParentProxy(settings: ParentSettings): ParentProxy | null {
  const { env } = settings
  if (settings.proxy === 'none') return null
  const written = settings.proxy !== 'environment'
  const first = (...names: string[]) =>
    names.map((name) => env[name]).find((value) => value !== undefined && value !== '')
  const text = written ? settings.proxy : first('https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY')
  const place = text === undefined ? null : readPlace(text)
  if (place === null) {
    // A variable may name a proxy of another kind, which other programs use.
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

/** An entry as curl and Go read it: `*`, a host and all below it, an address, a range of addresses, each with a port or not. */
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
