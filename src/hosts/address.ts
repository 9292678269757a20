/**
 * Address classes: the part of the internet, or of the local network, to which an IPv4 or IPv6
 * address belongs.
 */

export type AddressClass =
  | 'public'
  | 'private'
  | 'loopback'
  | 'link-local'
  | 'cgnat'
  | 'multicast'
  | 'metadata'
  | 'reserved'
  | 'invalid'

/** Prefix, its length, its class; the first row that matches decides. */
type Ipv4Row = readonly [prefix: string, bits: number, name: AddressClass]

/** As above; `embedded` rows carry an IPv4 address in their last 32 bits and are judged by it. */
type Ipv6Row = readonly [prefix: string, bits: number, name: AddressClass | 'embedded']

const IPV4_RANGES: readonly Ipv4Row[] = [
  ['169.254.169.254', 32, 'metadata'], // AWS, Azure, GCP, DigitalOcean, OpenStack, Oracle
  ['169.254.170.2', 32, 'metadata'], // AWS ECS task credentials
  ['169.254.170.23', 32, 'metadata'], // AWS EKS pod identity
  ['169.254.42.42', 32, 'metadata'], // Scaleway
  ['169.254.0.23', 32, 'metadata'], // Tencent
  ['100.100.100.200', 32, 'metadata'], // Alibaba
  ['192.0.0.192', 32, 'metadata'], // Oracle classic
  ['168.63.129.16', 32, 'metadata'], // Azure wire server: outside every private range
  ['0.0.0.0', 8, 'reserved'], // Linux connects 0.0.0.0 to the machine itself
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'cgnat'],
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link-local'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'reserved'], // IETF protocol assignments
  ['192.0.2.0', 24, 'reserved'], // documentation
  ['192.88.99.0', 24, 'reserved'], // 6to4 relay anycast
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'reserved'], // benchmarking
  ['198.51.100.0', 24, 'reserved'], // documentation
  ['203.0.113.0', 24, 'reserved'], // documentation
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'], // class E and broadcast
]

const IPV6_RANGES: readonly Ipv6Row[] = [
  ['fd00:ec2::', 32, 'metadata'], // AWS: metadata, pod identity, resolver
  ['fd20:ce::254', 128, 'metadata'], // GCP
  ['fd00:c1::a9fe:a9fe', 128, 'metadata'], // Oracle
  ['fd00:42::42', 128, 'metadata'], // Scaleway
  ['::', 128, 'reserved'],
  ['::1', 128, 'loopback'],
  ['::', 96, 'embedded'], // IPv4-compatible
  ['::ffff:0:0', 96, 'embedded'], // IPv4-mapped
  ['::ffff:0:0:0', 96, 'embedded'], // SIIT
  ['64:ff9b::', 96, 'embedded'], // NAT64
  ['fe80::', 10, 'link-local'],
  ['fec0::', 10, 'private'], // site-local
  ['fc00::', 7, 'private'],
  ['ff00::', 8, 'multicast'],
  ['2001::', 23, 'reserved'], // Teredo, ORCHID, benchmarking and other protocol assignments
  ['2001:db8::', 32, 'reserved'], // documentation
  ['2002::', 16, 'reserved'], // 6to4
  ['3ffe::', 16, 'reserved'], // 6bone
  ['3fff::', 20, 'reserved'], // documentation
  ['2000::', 3, 'public'],
  ['::', 0, 'reserved'], // everything that is not handed out, local-use NAT64 64:ff9b:1::/48 included
]

const ZEROS: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0]
const IPV4_TABLE = IPV4_RANGES.map(([prefix, bits, name]) => ({ prefix: parseIpv4(prefix)!, bits, name }))
const IPV6_TABLE = IPV6_RANGES.map(([prefix, bits, name]) => ({ prefix: parseIpv6(prefix)!, bits, name }))

/**
 * Classifies an address as DNS or a canonical URL writes it. An IPv4 address inside an IPv6 one takes the class of the
 * inner address, or `reserved` when that is public: a carrier is not a way to reach what can be named directly.
 */
export function classifyAddress(ip: string): AddressClass {
  const ipv4 = parseIpv4(ip)
  if (ipv4 !== null) return classifyIpv4(ipv4)
  const ipv6 = parseIpv6(ip)
  return ipv6 === null ? 'invalid' : classifyIpv6(ipv6)
}

/** One spelling for each address (RFC 5952, hexadecimal throughout); null for any other text. */
export function canonicalAddress(ip: string): string | null {
  const ipv4 = parseIpv4(ip)
  if (ipv4 !== null) return formatIpv4(ipv4)
  const ipv6 = parseIpv6(ip)
  return ipv6 === null ? null : formatIpv6(ipv6)
}

/** Ranges of special use that a resolver or a VPN of the person may answer with instead of real addresses. */
export type SpecialRange = 'benchmarking' | 'documentation' | 'class-e'

const SPECIAL_IPV4: readonly (readonly [prefix: string, bits: number, name: SpecialRange])[] = [
  ['198.18.0.0', 15, 'benchmarking'],
  ['192.0.2.0', 24, 'documentation'],
  ['198.51.100.0', 24, 'documentation'],
  ['203.0.113.0', 24, 'documentation'],
  ['240.0.0.0', 5, 'class-e'],
]

/** The range of special use that an IPv4 address belongs to; null for any other, IPv6 and what carries IPv4 included. */
export function specialRangeOf(ip: string): SpecialRange | null {
  return SPECIAL_IPV4.find(([prefix, bits]) => isInIpv4Range(ip, prefix, bits))?.[2] ?? null
}

/** True for an IPv4 address in `prefix/bits`. */
export function isInIpv4Range(ip: string, prefix: string, bits: number): boolean {
  const [address, start] = [parseIpv4(ip), parseIpv4(prefix)]
  if (address === null || start === null || bits < 0 || bits > 32) return false
  const size = 2 ** (32 - bits)
  return Math.floor(address / size) === Math.floor(start / size)
}

/** The IPv4 address that a mapped, compatible, SIIT or NAT64 address carries; null for any other. */
export function embeddedIpv4(ip: string): string | null {
  if (!ip.includes(':')) return null
  const groups = parseIpv6(ip)
  if (groups === null || ipv6Row(groups) !== 'embedded') return null
  return formatIpv4(innerIpv4(groups))
}

/** Four decimal numbers without leading zeros, as one unsigned number; null for every other spelling. */
export function parseIpv4(text: string): number | null {
  if (text.length < 7 || text.length > 15) return null
  let value = 0
  let part = -1
  let dots = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 46) {
      if (part < 0 || dots === 3) return null
      value = value * 256 + part
      part = -1
      dots++
      continue
    }
    if (code < 48 || code > 57 || part === 0) return null
    part = part < 0 ? code - 48 : part * 10 + code - 48
    if (part > 255) return null
  }
  return dots === 3 && part >= 0 ? value * 256 + part : null
}

/** Eight groups of an IPv6 address without brackets; null for anything else, zone identifiers included. */
export function parseIpv6(text: string): readonly number[] | null {
  if (text.length < 2 || text.length > 45) return null
  const groups: number[] = []
  let gap = -1
  let at = 0
  if (text.startsWith('::')) {
    gap = 0
    at = 2
  }
  while (at < text.length) {
    const start = at
    let group = 0
    let digit = hexDigit(text, at)
    for (; digit >= 0 && at - start < 4; digit = hexDigit(text, ++at)) group = group * 16 + digit
    if (text[at] === '.') {
      const ipv4 = parseIpv4(text.slice(start))
      if (ipv4 === null) return null
      groups.push(Math.floor(ipv4 / 65536), ipv4 % 65536)
      break
    }
    if (at === start || groups.push(group) > 8) return null
    if (at === text.length) break
    if (text[at] !== ':') return null
    at++
    if (text[at] === ':') {
      if (gap >= 0) return null
      gap = groups.length
      at++
    } else if (at === text.length) return null
  }
  if (gap < 0) return groups.length === 8 ? groups : null
  if (groups.length > 7) return null
  return [...groups.slice(0, gap), ...ZEROS.slice(groups.length), ...groups.slice(gap)]
}

function hexDigit(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code >= 48 && code <= 57) return code - 48
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

function classifyIpv4(address: number): AddressClass {
  for (const row of IPV4_TABLE) {
    const size = 2 ** (32 - row.bits)
    if (address >= row.prefix && address < row.prefix + size) return row.name
  }
  return 'public'
}

function classifyIpv6(groups: readonly number[]): AddressClass {
  const name = ipv6Row(groups)
  if (name === 'embedded') {
    const inner = classifyIpv4(innerIpv4(groups))
    return inner === 'public' ? 'reserved' : inner
  }
  // ISATAP (RFC 5214) tunnels to the IPv4 address in the last 32 bits, under any prefix.
  if (name === 'public' && groups[5] === 0x5efe && (groups[4]! & 0xfdff) === 0) return 'reserved'
  return name
}

function ipv6Row(groups: readonly number[]): AddressClass | 'embedded' {
  for (const row of IPV6_TABLE) if (sharesPrefix(groups, row.prefix, row.bits)) return row.name
  return 'reserved'
}

function sharesPrefix(groups: readonly number[], prefix: readonly number[], bits: number): boolean {
  let left = bits
  for (let index = 0; left > 0; index++, left -= 16) {
    const drop = left >= 16 ? 0 : 16 - left
    if (groups[index]! >> drop !== prefix[index]! >> drop) return false
  }
  return true
}

function innerIpv4(groups: readonly number[]): number {
  return groups[6]! * 65536 + groups[7]!
}

function formatIpv4(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`
}

function formatIpv6(groups: readonly number[]): string {
  let start = -1
  let length = 1
  for (let at = 0; at < 8; at++) {
    let end = at
    while (end < 8 && groups[end] === 0) end++
    if (end - at > length) {
      start = at
      length = end - at
    }
  }
  const hex = groups.map((group) => group.toString(16))
  if (start < 0) return hex.join(':')
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}

/** A loopback address or `localhost`; a name that resolves to one is not. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || classifyAddress(host) === 'loopback'
}
