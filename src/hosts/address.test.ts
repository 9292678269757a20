import { isIPv4, isIPv6, SocketAddress } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AddressClass, canonicalAddress, classifyAddress, embeddedIpv4, parseIpv4, parseIpv6 } from './address.ts'

const classes: readonly [ip: string, expected: AddressClass, note: string][] = [
  ['8.8.8.8', 'public', 'an ordinary host'],
  ['0.0.0.0', 'reserved', 'connects to the machine itself'],
  ['0.255.255.255', 'reserved', 'top of 0/8'],
  ['1.0.0.0', 'public', 'above 0/8'],
  ['9.255.255.255', 'public', 'below 10/8'],
  ['10.0.0.0', 'private', 'RFC 1918'],
  ['10.255.255.255', 'private', 'RFC 1918 top'],
  ['11.0.0.0', 'public', 'above 10/8'],
  ['100.63.255.255', 'public', 'below CGNAT'],
  ['100.64.0.0', 'cgnat', 'CGNAT'],
  ['100.127.255.255', 'cgnat', 'CGNAT top'],
  ['100.128.0.0', 'public', 'above CGNAT'],
  ['100.100.100.200', 'metadata', 'Alibaba, inside CGNAT'],
  ['126.255.255.255', 'public', 'below loopback'],
  ['127.0.0.1', 'loopback', 'loopback'],
  ['127.255.255.255', 'loopback', 'loopback top'],
  ['128.0.0.0', 'public', 'above loopback'],
  ['168.63.129.16', 'metadata', 'Azure wire server, a public-looking address'],
  ['169.253.255.255', 'public', 'below link-local'],
  ['169.254.0.1', 'link-local', 'link-local'],
  ['169.254.169.254', 'metadata', 'the metadata address'],
  ['169.254.170.2', 'metadata', 'ECS'],
  ['169.254.170.23', 'metadata', 'EKS'],
  ['169.255.0.0', 'public', 'above link-local'],
  ['172.15.255.255', 'public', 'below 172.16/12'],
  ['172.16.0.0', 'private', 'RFC 1918'],
  ['172.31.255.255', 'private', 'RFC 1918 top'],
  ['172.32.0.0', 'public', 'above 172.16/12'],
  ['192.0.0.8', 'reserved', 'protocol assignments'],
  ['192.0.0.192', 'metadata', 'Oracle classic'],
  ['192.0.1.0', 'public', 'above 192.0.0/24'],
  ['192.0.2.1', 'reserved', 'documentation'],
  ['192.88.99.1', 'reserved', '6to4 relay'],
  ['192.167.255.255', 'public', 'below 192.168/16'],
  ['192.168.0.1', 'private', 'RFC 1918'],
  ['192.169.0.0', 'public', 'above 192.168/16'],
  ['198.17.255.255', 'public', 'below benchmarking'],
  ['198.18.0.0', 'reserved', 'benchmarking'],
  ['198.19.255.255', 'reserved', 'benchmarking top'],
  ['198.20.0.0', 'public', 'above benchmarking'],
  ['198.51.100.7', 'reserved', 'documentation'],
  ['203.0.113.7', 'reserved', 'documentation'],
  ['223.255.255.255', 'public', 'below multicast'],
  ['224.0.0.1', 'multicast', 'multicast'],
  ['239.255.255.255', 'multicast', 'multicast top'],
  ['240.0.0.1', 'reserved', 'class E'],
  ['255.255.255.255', 'reserved', 'broadcast'],
  ['::', 'reserved', 'unspecified'],
  ['::1', 'loopback', 'loopback'],
  ['::2', 'reserved', 'IPv4-compatible 0.0.0.2'],
  ['::7f00:1', 'loopback', 'IPv4-compatible'],
  ['::ffff:127.0.0.1', 'loopback', 'IPv4-mapped'],
  ['::ffff:10.0.0.1', 'private', 'IPv4-mapped'],
  ['::ffff:169.254.169.254', 'metadata', 'IPv4-mapped'],
  ['::ffff:8.8.8.8', 'reserved', 'a public address has no business inside an IPv6 one'],
  ['::ffff:0:127.0.0.1', 'loopback', 'SIIT'],
  ['64:ff9b::7f00:1', 'loopback', 'NAT64'],
  ['64:ff9b::169.254.169.254', 'metadata', 'NAT64'],
  ['64:ff9b::8.8.8.8', 'reserved', 'NAT64 of a public address'],
  ['64:ff9b:1::a00:1', 'reserved', 'local-use NAT64'],
  ['100::1', 'reserved', 'discard only'],
  ['1fff:ffff::1', 'reserved', 'below 2000::/3'],
  ['2000::1', 'public', 'global unicast'],
  ['2001::1', 'reserved', 'Teredo'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'reserved', 'Teredo'],
  ['2001:2::1', 'reserved', 'benchmarking'],
  ['2001:10::1', 'reserved', 'ORCHID'],
  ['2001:20::1', 'reserved', 'ORCHIDv2'],
  ['2001:1ff:ffff::1', 'reserved', 'top of protocol assignments'],
  ['2001:200::1', 'public', 'first allocation to a registry'],
  ['2001:db8::1', 'reserved', 'documentation'],
  ['2001:4860:4860::8888', 'public', 'an ordinary host'],
  ['2001:470::5efe:10.0.0.1', 'reserved', 'ISATAP'],
  ['2001:470::200:5efe:808:808', 'reserved', 'ISATAP, global'],
  ['2002:7f00:1::', 'reserved', '6to4'],
  ['2606:4700::6810:23', 'public', 'an ordinary host'],
  ['3ffe::1', 'reserved', '6bone'],
  ['3fff::1', 'reserved', 'documentation'],
  ['3fff:fff::1', 'reserved', 'documentation top'],
  ['3fff:1000::1', 'public', 'above documentation'],
  ['4000::1', 'reserved', 'above 2000::/3'],
  ['5f00::1', 'reserved', 'SRv6'],
  ['fc00::1', 'private', 'unique local'],
  ['fd00:ec2::254', 'metadata', 'AWS'],
  ['fd00:ec2::23', 'metadata', 'EKS'],
  ['fd20:ce::254', 'metadata', 'GCP'],
  ['fd20:ce::255', 'private', 'next to GCP'],
  ['fd00:c1::a9fe:a9fe', 'metadata', 'Oracle'],
  ['fe80::1', 'link-local', 'link-local'],
  ['febf:ffff::1', 'link-local', 'link-local top'],
  ['fec0::1', 'private', 'site-local'],
  ['ff02::1', 'multicast', 'multicast'],
  ['FE80::1', 'link-local', 'upper case'],
  ['', 'invalid', 'nothing'],
  ['127.1', 'invalid', 'short form'],
  ['0177.0.0.1', 'invalid', 'octal'],
  ['01.2.3.4', 'invalid', 'leading zero'],
  ['256.1.1.1', 'invalid', 'out of range'],
  ['1.2.3.4.5', 'invalid', 'five parts'],
  ['1.2.3.', 'invalid', 'missing part'],
  ['1..2.3', 'invalid', 'empty part'],
  [' 8.8.8.8', 'invalid', 'space'],
  ['fe80::1%eth0', 'invalid', 'zone'],
  ['[::1]', 'invalid', 'brackets'],
  ['1::2::3', 'invalid', 'two gaps'],
  [':::', 'invalid', 'three colons'],
  ['1:2:3:4:5:6:7', 'invalid', 'seven groups'],
  ['1:2:3:4:5:6:7:8:9', 'invalid', 'nine groups'],
  ['1:2:3:4::5:6:7:8', 'invalid', 'a gap of nothing'],
  ['1:2:3:4:5:6:7:1.2.3.4', 'invalid', 'IPv4 makes nine groups'],
  ['1.2.3.4::', 'invalid', 'IPv4 not last'],
  ['12345::', 'invalid', 'long group'],
  ['$HOST_INTERFACE_IP', 'invalid', 'not an address'],
  ['localhost', 'invalid', 'a name'],
]

const octet = fc.nat({ max: 255 })
const ipv4 = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'))
const almost = fc.string({ unit: fc.constantFrom(...'01259af:.%x'), maxLength: 24 })

describe('classifyAddress', () => {
  test.each(classes)('%s is %s (%s)', (ip, expected) => {
    expect(classifyAddress(ip)).toBe(expected)
  })

  test('an IPv4 address inside an IPv6 one is never public, and keeps what closes it', () => {
    const carriers = ['::ffff:', '::ffff:0:', '64:ff9b::', '::']
    fc.assert(
      fc.property(ipv4, fc.constantFrom(...carriers), (inner, carrier) => {
        fc.pre(!['0.0.0.0', '0.0.0.1'].includes(inner))
        const expected = classifyAddress(inner)
        expect(classifyAddress(carrier + inner)).toBe(expected === 'public' ? 'reserved' : expected)
        expect(embeddedIpv4(carrier + inner)).toBe(inner)
      }),
    )
  })
})

describe('parsing agrees with node:net', () => {
  test.each([['addresses', fc.oneof(ipv4, fc.ipV6())] as const, ['near misses', almost] as const])('%s', (_, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseIpv4(text) !== null).toBe(isIPv4(text))
        expect(parseIpv6(text) !== null).toBe(isIPv6(text) && !text.includes('%'))
      }),
      { numRuns: 2000 },
    )
  })

  test('the canonical spelling is that of the URL parser, names the same address and is stable', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const canonical = canonicalAddress(text)!
        expect(`[${canonical}]`).toBe(new URL(`http://[${text}]/`).hostname)
        expect(canonicalAddress(canonical)).toBe(canonical)
        expect(new SocketAddress({ address: canonical, family: 'ipv6' }).address).toBe(
          new SocketAddress({ address: text, family: 'ipv6' }).address,
        )
      }),
    )
  })
})

test('embeddedIpv4 leaves other addresses alone', () => {
  expect(embeddedIpv4('2606:4700::6810:23')).toBeNull()
  expect(embeddedIpv4('8.8.8.8')).toBeNull()
  expect(embeddedIpv4('::1')).toBeNull()
})
