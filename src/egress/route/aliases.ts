/** Names inside a sandbox: each granted host has a loopback address that serves its ports. PURE. */

import { classifyAddress } from '../../hosts/address.ts'
import type { Target } from '../wire/target.ts'
import type { EgressRules } from './rules.ts'

/** The names of a sandbox, and the host of each address. */
export interface Aliases {
  readonly names: readonly { readonly name: string; readonly address: string }[]
  /** Served ports; null for every address. */
  readonly proxyPorts: readonly { readonly address: string | null; readonly port: number }[]
  /** The host for a connection to this address and port, or null. */
  targetOf(address: string, port: number): Target | null
  /** The domain whose hosts share this address; the client's first bytes name the host. */
  domainOf(address: string): string | null
}

/** Above 127.0.0.1, the address of the command's servers. */
const FIRST = (127 << 24) | (64 << 16)
const FIRST_DOMAIN = (127 << 24) | (65 << 16)
const MAX_DOMAINS = 20
const MAX_NAMES = 1_000
const WEB_PORTS: readonly number[] = [80, 443]
/**
 * The ports of the name service and the proxy on 127.0.0.1; such a server of the machine is reached
 * through the proxy.
 */
const TAKEN: ReadonlySet<number> = new Set([53, 3128])

/**
 * A wildcard has one address for all its names, for the web's ports only, in which clients name the
 * host. The web's ports are served on every address, since commands cannot bind them. Other ports
 * are served on the host's own address, so that the command's servers may use them elsewhere.
 */
export function aliasesOf({ allowed }: Pick<EgressRules, 'allowed'>): Aliases {
  const patterns = (allowed ?? [])
    .map((rule) => rule.pattern)
    .filter(({ wildcard, kind }) => !wildcard && kind !== 'unix')
  const hosts = [...new Set(patterns.filter(({ kind }) => kind === 'name').map(({ host }) => host))]
  const addresses = new Map<string, string>()
  for (const [at, host] of hosts.slice(0, MAX_NAMES).entries())
    addresses.set(host, isOwnName(host) ? '127.0.0.1' : dotted(FIRST + at + 1))
  const byAddress = new Map(Array.from(addresses, ([host, address]) => [address, host]))
  const proxyPorts = new Map<string, { address: string | null; port: number }>()
  const loopback = new Map<number, Target>()
  for (const { host, port, kind } of patterns) {
    if (kind === 'name' ? isOwnName(host) : classifyAddress(host) === 'loopback' && host.startsWith('127.')) {
      for (const each of port === null ? WEB_PORTS : [port])
        if (!TAKEN.has(each)) loopback.set(each, { host, port: each, kind: kind === 'name' ? 'name' : 'ipv4' })
    } else if (kind === 'name') {
      for (const each of port === null ? WEB_PORTS : [port]) {
        const address = WEB_PORTS.includes(each) ? null : (addresses.get(host) ?? null)
        if (address !== null || WEB_PORTS.includes(each)) proxyPorts.set(`${address}:${each}`, { address, port: each })
      }
    }
  }
  const wildcards = (allowed ?? []).filter(
    ({ pattern: { wildcard, port } }) => wildcard && (port === null || WEB_PORTS.includes(port)),
  )
  const domains = [...new Set(wildcards.map(({ pattern }) => pattern.host))].slice(0, MAX_DOMAINS)
  const byDomain = domains.map((host, at) => ({ name: `*.${host}`, address: dotted(FIRST_DOMAIN + at + 1), host }))
  for (const { pattern } of wildcards)
    for (const port of pattern.port === null ? WEB_PORTS : [pattern.port])
      proxyPorts.set(`null:${port}`, { address: null, port })
  // Granted servers of the machine: programs find them at the usual address.
  for (const port of loopback.keys()) {
    if (!proxyPorts.has(`null:${port}`)) proxyPorts.set(`127.0.0.1:${port}`, { address: '127.0.0.1', port })
  }
  return {
    domainOf: (address) => byDomain.find((one) => one.address === address)?.host ?? null,
    names: [
      ...Array.from(addresses, ([name, address]) => ({ name, address })).filter(({ name }) => !isOwnName(name)),
      ...byDomain.map(({ name, address }) => ({ name, address })),
    ],
    proxyPorts: [...proxyPorts.values()],
    targetOf: (address, port) => {
      if (address === '127.0.0.1') return loopback.get(port) ?? null
      const host = byAddress.get(address)
      return host === undefined ? null : { host, port, kind: 'name' }
    },
  }
}

/**
 * Granted names and addresses of this machine that need the proxy: the others are served at the
 * usual address.
 */
export function proxiedLoopback({ allowed }: Pick<EgressRules, 'allowed'>, isShared: boolean): readonly string[] {
  const hosts = (allowed ?? []).flatMap(({ pattern: { host, port } }) => {
    if (!isOwnName(host) && classifyAddress(host) !== 'loopback') return []
    // A sandbox without its own loopback cannot serve there.
    if (isShared) return ['localhost', '127.0.0.1', '::1']
    if (host.includes(':')) return [host]
    return port !== null && TAKEN.has(port) ? ['localhost', '127.0.0.1'] : []
  })
  return [...new Set(hosts)]
}

function isOwnName(host: string): boolean {
  return host === 'localhost'
}

function dotted(address: number): string {
  return [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255].join('.')
}
