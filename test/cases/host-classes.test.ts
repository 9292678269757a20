/** Hosts and URLs by class, many spellings each: what is open, what is closed, whatever the spelling. */

import { describe, expect, it } from 'vitest'
import { judgeHops } from '../../src/hosts/judge.ts'
import { tldtsSuffixes } from '../../src/hosts/suffix.ts'
import { parseUrl } from '../../src/hosts/url.ts'
import { hosts } from '../contract/egress/world.ts'

const LISTED = hosts('github.com', 'python.org', '*.nodejs.org', '*.example.co.uk')

function judge(url: string, listed: boolean, hops: readonly string[] = []): 'allow' | 'deny' {
  const parsed = parseUrl(url)
  if ('problem' in parsed) return 'deny'
  const allowed = listed ? LISTED : null
  return judgeHops({ url: parsed.url }, hops, { allowed, denied: [], allowPrivate: false, suffixes: tldtsSuffixes })
    .verdict
}

interface HostClass {
  readonly name: string
  readonly verdict: 'allow' | 'deny'
  /** Judged by the list, or with public hosts open. */
  readonly listed: boolean
  readonly urls: readonly string[]
}

const http = (names: string): string[] => names.split(' ').map((name) => `http://${name}/`)

const CLASSES: readonly HostClass[] = [
  {
    name: 'IPv4 in other spellings',
    verdict: 'deny',
    listed: false,
    urls: http(
      '0177.0.0.1 0x7f000001 0x7F.1 127.0.0.1. 0 0.0 00000000177.1 0x0a000001 012.1 192.168.257 0xa9fea9fe 2852039166 ' +
        '169.254.43518 0251.0376.0251.0376 025177524776 ①②⑦.0.0.1 １２７.０.０.１ 127．0．0．1 127｡0｡0｡1 ' +
        '%31%32%37.0.0.1 127%2e0%2e0%2e1 0x 0x7f.0.0.0x 1.2.3.4.5 1.2.3.256 1..2.3 09.1.1.1 08 0xg -1 1e3 [127.0.0.1] ' +
        '127.0.0.1%20 0x100000000 4294967295 ٠.0.0.1',
    ),
  },
  {
    name: 'IPv4 that is not public',
    verdict: 'deny',
    listed: false,
    urls: http(
      '10.255.255.255 172.16.0.0 192.168.255.255 100.64.0.0 100.127.255.255 192.0.0.9 192.0.0.170 192.0.2.1 198.18.0.0 ' +
        '198.51.100.7 203.0.113.255 239.255.255.255 240.0.0.0 255.255.255.254 0.1.2.3 169.254.0.0 168.63.129.16 ' +
        '100.100.100.200 192.88.99.255 233.252.0.1',
    ),
  },
  {
    name: 'IPv4 beside what is not public',
    verdict: 'allow',
    listed: false,
    urls: http(
      '9.255.255.255 11.0.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 100.63.255.255 100.128.0.0 198.20.0.0 ' +
        '126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 223.255.255.255 192.0.1.0 192.0.3.0 192.88.100.0 ' +
        '203.0.112.255 198.51.101.0 168.63.129.15',
    ),
  },
  {
    name: 'IPv6 that is not public, or carries IPv4',
    verdict: 'deny',
    listed: false,
    urls: http(
      '[::] [::1] [::127.0.0.1] [::FFFF:10.0.0.1] [0:0:0:0:0:ffff:c0a8:0101] [::ffff:8.8.8.8] [64:ff9b::8.8.8.8] ' +
        '[64:ff9b:1:ffff::1] [100::1] [2001::1] [2001:2::1] [2001:4:112::1] [2001:1f:ffff::] [2001:2f::1] [2001:db8::1] ' +
        '[2002:808:808::1] [3ffe::1] [3fff:fff::1] [5f00::1] [fdff::1] [fd00:ec2::23] [febf::1] [feff::1] [ff0e::1] ' +
        '[4000::1] [::ffff:0:127.0.0.1] [2001:470:1f0b::5efe:7f00:1] [2620::200:5efe:10.0.0.1] [1fff::1] [8000::1]',
    ),
  },
  {
    name: 'IPv6 that cannot be read',
    verdict: 'deny',
    listed: false,
    urls: http(
      '[fe80::1%eth0] [::1%25lo] [::1]extra [::1 ::1 [1::2::3] [::ffff:127.1] [::ffff:0x7f.0.0.1] [v1.fe80] [] [:::1] ' +
        '[::00001] [::1.2.3.4.5] [：：1] [::①]',
    ),
  },
  {
    name: 'public IPv6',
    verdict: 'allow',
    listed: false,
    urls: http(
      '[2606:4700::6810:23] [2620:fe::fe] [2001:4860:4860::8888] [2001:200::1] [2003::1] [3ffd::1] [3fff:1000::1]',
    ),
  },
  {
    name: 'names of the house and of the cloud',
    verdict: 'deny',
    listed: false,
    urls: http(
      'LocalHost localhost. a.localhost localhost6 localhost6.localdomain6 ip6-loopback printer.local. host.docker.internal ' +
        'kubernetes.default.svc.cluster.local kubernetes vault.service.consul db.lan nas.home router.home.arpa x.corp ' +
        'wpad.localdomain metadata METADATA.GOOGLE.INTERNAL. metadata.goog instance-data rancher-metadata fritz.box gateway ' +
        'ｌｏｃａｌｈｏｓｔ loc\u00adalhost localhos\u200bt ⓛocalhost localhoſt 127.0.0.1.localhost ip-10-0-0-1.ec2.internal',
    ),
  },
  {
    name: 'URLs that another parser may read otherwise',
    verdict: 'deny',
    listed: true,
    urls: [
      'https://github.com@evil.com/',
      'https://github.com:443@evil.com/',
      'https://evil.com\\@github.com/',
      'https:\\\\github.com/',
      'https:/github.com/',
      'https:github.com/',
      'https:///github.com/',
      '//github.com/',
      'github.com/x',
      'https://git\nhub.com/',
      'https://github.com\tevil.com/',
      ' https://github.com/',
      'https://github.com/ ',
      'https://github.com%00.evil.com/',
      'https://github.com%2f.evil.com/',
      'https://github.com%5c.evil.com/',
      'https://a@b@github.com/',
      'https://github.com../',
      'https://.github.com/',
      'https://..nodejs.org/',
      'https://*.nodejs.org/',
      'https://github.com]/',
      'https://github.com|evil.com/',
      'https://github.com%/',
      'https://github.com:-1/',
      'https://github.com:0/',
      'https://github.com:8４43/',
      'https://\u202egithub.com/',
      'https://github.com\u00a0/',
      'https://evil.com／.nodejs.org/',
      'https://evil.com？.nodejs.org/',
      'https://evil.com＃.nodejs.org/',
      'https://evil.com＠github.com/',
      'https://a℀b.nodejs.org/',
      'blob:https://github.com/x',
      'view-source:https://github.com/',
      'http+unix://%2fvar%2frun%2fdocker.sock/',
    ],
  },
  {
    name: 'names that only look like a listed one',
    verdict: 'deny',
    listed: true,
    urls: [
      'https://gіthub.com/',
      'https://xn--gthub-n2e.com/',
      'https://ɡithub.com/',
      'https://github.cоm/',
      'https://github.com。evil.com/',
      'https://xn--github-.com/',
      'https://xn--.nodejs.org/',
      'https://xn--a.nodejs.org/',
      'https://xn--ascii-.nodejs.org/',
      'https://xn--999999999.nodejs.org/',
      'https://nodejs.org/',
      'https://xnodejs.org/',
      'https://example.co.uk/',
      'https://evil.co.uk/',
      'https://gist.github.com/',
      `https://${'a'.repeat(64)}.nodejs.org/`,
      `https://${'a.'.repeat(125)}nodejs.org/`,
    ],
  },
  {
    name: 'other spellings of a listed host',
    verdict: 'allow',
    listed: true,
    urls: [
      'https://github.com',
      'https://github.com./',
      'https://GITHUB.com:443/',
      'https://github.com:0443/',
      'https://user:pass@github.com/',
      'https://github.com?x',
      'https://github.com/@evil.com',
      'https://github.com//evil.com/',
      'https://github.com/?q=a\\b',
      'https://a.b.c.nodejs.org/',
      'https://githuｂ.com/',
      'https://github。com/',
      'https://bücher.nodejs.org/',
      'https://faß.nodejs.org/',
      'https://_dmarc.nodejs.org/',
      'https://r3---sn-abc.nodejs.org/',
      'https://127.0.0.1.nodejs.org/',
      'wss://github.com/',
      `https://${'a'.repeat(63)}.nodejs.org/`,
    ],
  },
]

describe.each(CLASSES)('$name: $verdict', ({ verdict, listed, urls }) => {
  it.each(urls)('%s', (url) => expect(judge(url, listed)).toBe(verdict))
})

describe('redirects', () => {
  it.each([
    ...['/x', 'x/y', '?q', '#f', '../..', 'https://python.org/', '//python.org/x', 'http://github.com/'].map((hop) => ({
      hop,
      verdict: 'allow',
    })),
    ...['//evil.com', '///evil.com', '\\\\evil.com', '/\\evil.com', 'https:evil.com', 'http:/evil.com', '/\tx', ''].map(
      (hop) => ({ hop, verdict: 'deny' }),
    ),
    ...['file:///etc/passwd', 'javascript:1', 'data:,x', 'ftp://github.com/', '//github.com:22/', '//localhost/'].map(
      (hop) => ({ hop, verdict: 'deny' }),
    ),
  ])('$verdict: $hop', ({ hop, verdict }) => expect(judge('https://github.com/r', true, [hop])).toBe(verdict))
})
