/** Maps requests and addresses to places, and places to registries and releases. */

import { canonicalName, type PackageFacts, type Registry, type Release } from '../packages/release.ts'
import type { RequestTarget } from '../wire/request-head.ts'
import { authorityOf, type Target } from '../wire/target.ts'
import type { Tunnel } from './passage.ts'

export interface PackageRequest {
  readonly read: RequestTarget
  readonly method: string
  readonly rawHeaders: readonly string[]
  readonly tunnel: Tunnel | null
}

export interface Place {
  readonly host: string
  readonly port: number
  /** Decoded, without the query; null if ambiguous. */
  readonly path: string | null
}

export function placeOf({ host, port }: Target, path: string): Place {
  return { host, port, path: plainPath(path) }
}

function plainPath(path: string): string | null {
  try {
    const plain = decodeURIComponent(path.replace(/[?#].*$/s, ''))
    return /[\\;%?#]|\/\/|(?:^|\/)\.{1,2}(?:\/|$)|[^\x20-\x7e]/.test(plain) ? null : plain
  } catch {
    return null
  }
}

/** Without the web's default ports. */
export const hostOf = ({ host, port }: Place): string => (port === 80 || port === 443 ? host : `${host}:${port}`)

export const keyOf = ({ host, port, path }: Place): string => `${host}:${port === 80 ? 443 : port}${path}`

export function urlKey(url: URL): string {
  const port = url.port === '' ? 443 : Number(url.port)
  return keyOf({ host: url.hostname.replace(/^\[|\]$/g, ''), port, path: plainPath(url.pathname) })
}

/** An address whose key can be read without the URL parser, which is slow for thousands of files. */
const PLAIN_FILE =
  /^https?:\/\/((?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*|127\.0\.0\.1)(?::([1-9]\d{0,4}))?((?:\/(?!\.{1,2}(?:\/|$))[\w.@+-]+)+)$/

/** The key of a release's file; null if its address cannot be parsed. */
export function fileKey(file: string): string | null {
  const [, host, port, path] = PLAIN_FILE.exec(file) ?? []
  if (host !== undefined) {
    const number = port === undefined ? 443 : Number(port)
    return `${host}:${number === 80 ? 443 : number}${path}`
  }
  return URL.canParse(file) ? urlKey(new URL(file)) : null
}

/** The registry of a place: the one with the longest matching path. */
export function registryOf(registries: readonly Registry[], place: Place): Registry | null {
  const found = registries.filter(
    (registry) => place.path?.startsWith(basePath(registry, place)) ?? isHost(registry, place),
  )
  return found.toSorted((a, b) => a.url.length - b.url.length).at(-1) ?? null
}

/** The path of the registry on that host; otherwise one that matches nothing. */
export function basePath(registry: Registry, place: Place): string {
  if (!isHost(registry, place)) return '\0'
  const url = new URL(registry.url)
  return registry.subdomains && place.host !== url.hostname ? '/' : plainPath(url.pathname)!
}

function isHost({ url, subdomains }: Registry, { host, port }: Place): boolean {
  const own = new URL(url)
  const ports = own.port === '' ? [80, 443] : [Number(own.port)]
  return ports.includes(port) && (host === own.hostname || (subdomains && host.endsWith(`.${own.hostname}`)))
}

/** The index address of a registry that serves it from a subdomain. */
export function indexUrl({ ecosystem, url, subdomains }: Registry): URL {
  const index = new URL(url)
  if (ecosystem === 'crates' && subdomains) index.hostname = `index.${index.hostname}`
  return index
}

export function releaseAt({ releases }: PackageFacts, { target, path }: RequestTarget, isOwn: boolean): Release | null {
  const place = placeOf(target, path)
  const wanted = place.path?.replace(/\.metadata$/, '') ?? null
  if (wanted === null) return null
  const key = keyOf({ ...place, path: wanted })
  const base = wanted.slice(wanted.lastIndexOf('/') + 1)
  return (
    releases.find(({ file }) => file !== null && fileKey(file) === key) ??
    // A mirror serves files below its own address, under the public registry's names.
    (isOwn && base !== 'download' ? releases.find(({ file }) => file?.endsWith(`/${base}`)) : undefined) ??
    null
  )
}

/** Each Python file is published separately; elsewhere a version is one file. */
export function idOf({ ecosystem }: Registry, { version, file }: Release): string {
  return ecosystem === 'pypi' ? (file ?? version) : version
}

export function factsKey({ ecosystem, url }: Registry, name: string): string {
  return `${url} ${canonicalName(ecosystem, name)}`
}

export function hrefOf({ target, secure, path }: RequestTarget): string {
  return `${secure ? 'https' : 'http'}://${authorityOf(target, secure ? 443 : 80)}${path}`
}

/** A request of Cordon itself; the client's credentials go to the same host only. */
export function elsewhere({ read, rawHeaders, tunnel }: PackageRequest, url: URL): PackageRequest {
  const secure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  const kind = host.includes(':') ? 'ipv6' : /^[\d.]+$/.test(host) ? 'ipv4' : 'name'
  const target: Target = { host, port, kind }
  const same = host === read.target.host && port === read.target.port
  return {
    read: { target, secure, path: `${url.pathname}${url.search}` },
    method: 'GET',
    rawHeaders: same ? rawHeaders : [],
    tunnel: same ? tunnel : null,
  }
}
