import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SpecialRange } from './address.ts'
import { type HostCode, type HostJudgeRules, judgeHops, judgeHost } from './judge.ts'
import { type HostPattern, parseHostPattern } from './pattern.ts'
import { tldtsSuffixes } from './suffix.ts'
import { parseUrl, type UrlFacts } from './url.ts'

interface Setup {
  readonly allowed?: readonly string[] | null
  readonly denied?: readonly string[]
  readonly allowPrivate?: boolean
  readonly opensNamedLoopback?: boolean
  readonly specialRanges?: readonly SpecialRange[]
  readonly ownAddresses?: readonly string[]
}

type Rule = { readonly pattern: HostPattern }

function rules({ allowed = null, denied = [], ...rest }: Setup): HostJudgeRules<Rule> {
  const parse = (text: string): Rule => {
    const parsed = parseHostPattern(text, tldtsSuffixes)
    if ('problem' in parsed) throw new Error(parsed.problem)
    return parsed
  }
  const lists = { allowed: allowed?.map(parse) ?? null, denied: denied.map(parse) }
  return { allowPrivate: false, suffixes: tldtsSuffixes, ...rest, ...lists }
}

function url(text: string): UrlFacts {
  const parsed = parseUrl(text)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.url
}

const LISTED: Setup = { allowed: ['github.com', '*.nodejs.org', 'git.example.com:22'] }
const PRIVATE: Setup = { allowPrivate: true }
const NAMED: Setup = { allowed: ['127.0.0.1:5432', '10.0.0.5:5432', 'db.internal:5432'], opensNamedLoopback: true }

const cases: readonly [url: string, setup: Setup, code: HostCode, note: string][] = [
  ['https://github.com/', LISTED, 'host-listed', 'literal'],
  ['https://a.nodejs.org/', LISTED, 'host-listed', 'wildcard'],
  ['https://evil.com/', LISTED, 'host-unlisted', 'not on the list'],
  ['https://github.com:22/', LISTED, 'port-unlisted', 'port not listed'],
  ['https://git.example.com:22/', LISTED, 'host-listed', 'port listed'],
  ['https://github.com/', { allowed: [] }, 'host-unlisted', 'an empty list is closed'],
  ['https://github.com/', {}, 'host-open', 'no list'],
  ['https://github.com:8443/', {}, 'host-open', 'no list, web port'],
  ['https://github.com:22/', {}, 'port-unlisted', 'no list, other port'],
  ['http://8.8.8.8/', {}, 'host-open', 'public address'],
  ['https://a.nodejs.org/', { ...LISTED, denied: ['a.nodejs.org'] }, 'host-denied', 'deny beats allow'],
  ['https://a.nodejs.org/', { ...LISTED, denied: ['*.nodejs.org'] }, 'host-denied', 'wildcard deny'],
  ['https://github.com:8443/', { allowed: ['github.com:8443'], denied: ['github.com'] }, 'host-denied', 'every port'],
  ['https://github.com/', { ...LISTED, denied: ['github.com:22'] }, 'host-listed', 'deny of another port'],
  ['http://127.0.0.1/', {}, 'host-private', 'loopback'],
  ['http://127.0.0.1/', { allowed: ['127.0.0.1'] }, 'host-private', 'whatever the list says'],
  ['http://localhost:9229/', {}, 'host-private', 'internal name'],
  ['http://localhost:9229/', PRIVATE, 'host-open', 'opened, any port'],
  ['http://localhost:9229/', { ...PRIVATE, allowed: ['localhost'] }, 'port-unlisted', 'the list still applies'],
  ['http://localhost:9229/', { ...PRIVATE, allowed: ['localhost:9229'] }, 'host-listed', 'listed with its port'],
  ['http://10.0.0.5/', { ...PRIVATE, denied: ['10.0.0.5'] }, 'host-denied', 'deny beats permission'],
  ['http://[::ffff:10.0.0.5]/', { ...PRIVATE, denied: ['10.0.0.5'] }, 'host-denied', 'deny sees through IPv6'],
  ['http://169.254.169.254/', { ...PRIVATE, allowed: ['169.254.169.254'] }, 'host-metadata', 'never'],
  ['http://metadata.google.internal/', { ...PRIVATE, allowed: ['metadata.google.internal'] }, 'host-metadata', 'never'],
  ['http://169.254.1.1/', PRIVATE, 'host-link-local', 'never'],
  ['http://[fe80::1]/', PRIVATE, 'host-link-local', 'never'],
  ['http://0.0.0.0/', PRIVATE, 'host-reserved', 'never'],
  ['http://224.0.0.1/', PRIVATE, 'host-reserved', 'never'],
  ['http://[2002:7f00:1::]/', PRIVATE, 'host-reserved', 'never'],
  ['http://127.0.0.1:5432/', NAMED, 'host-listed', 'a port of this machine, named'],
  ['http://localhost:5432/', NAMED, 'host-listed', 'the same by its name'],
  ['http://127.0.0.1:5433/', NAMED, 'host-private', 'another port'],
  ['http://127.0.0.1:80/', { ...NAMED, allowed: ['127.0.0.1'] }, 'host-private', 'no port was named'],
  ['http://10.0.0.5:5432/', NAMED, 'host-private', 'another machine needs the permission'],
  ['http://db.internal:5432/', NAMED, 'host-private', 'so does an internal name'],
  ['http://127.0.0.1:5432/', { ...NAMED, denied: ['127.0.0.1'] }, 'host-denied', 'deny beats it'],
  ['http://100.64.0.1/', {}, 'host-private', 'carrier-grade'],
  ['http://100.64.0.1/', PRIVATE, 'host-open', 'carrier-grade'],
  ['http://151.101.1.1/', { ownAddresses: ['151.101.1.1'] }, 'host-private', 'own public address'],
  ['https://sts.amazonaws.com/', { allowed: ['*.amazonaws.com'] }, 'host-listed', 'the operator itself'],
  ['https://s3.amazonaws.com/', { allowed: ['*.amazonaws.com'] }, 'host-listed', 'the suffix is the operator too'],
  ['https://x.s3.amazonaws.com/', { allowed: ['*.amazonaws.com'] }, 'host-below-suffix', 'a bucket is anyone'],
  ['https://x.compute.amazonaws.com/', { allowed: ['*.amazonaws.com'] }, 'host-below-suffix', 'an instance is anyone'],
  ['https://x.s3.amazonaws.com/', { allowed: ['*.amazonaws.com', 'x.s3.amazonaws.com'] }, 'host-listed', 'named'],
]

const ALLOWS: readonly HostCode[] = ['host-listed', 'host-open']

describe('judgeHost', () => {
  test.each(cases)('%s with %j: %s (%s)', (text, setup, code) => {
    const judgement = judgeHost({ url: url(text) }, rules(setup))
    expect(judgement).toMatchObject({ code, verdict: ALLOWS.includes(code) ? 'allow' : 'deny' })
  })

  const SPECIAL: Setup = { ...LISTED, specialRanges: ['benchmarking'] }
  const own: Setup = { ...LISTED, ownAddresses: ['151.101.1.1', '2606:4700:0:0::1'] }
  test('an address of an opened range in a URL stays closed', () => {
    const listed = rules({ allowed: ['198.18.0.9'], specialRanges: ['benchmarking'] })
    expect(judgeHost({ url: url('https://198.18.0.9/'), resolved: ['198.18.0.9'] }, listed).code).toBe('host-reserved')
  })

  test.each<[resolved: string[], setup: Setup, code: HostCode, note: string]>([
    [['140.82.121.4'], LISTED, 'host-listed', 'public answer'],
    [['140.82.121.4', '2606:4700::6810:23'], LISTED, 'host-listed', 'dual stack'],
    [[], LISTED, 'host-unresolved', 'no answer'],
    [['140.82.121.4', '127.0.0.1'], LISTED, 'host-private', 'mixed answer'],
    [['10.0.0.1'], { ...LISTED, allowPrivate: true }, 'host-listed', 'private answer with permission'],
    [['10.0.0.1', '169.254.169.254'], { ...LISTED, allowPrivate: true }, 'host-metadata', 'metadata never'],
    [['::ffff:140.82.121.4'], LISTED, 'host-reserved', 'IPv4 in IPv6'],
    [['0.0.0.0'], LISTED, 'host-reserved', 'unspecified'],
    [['fe80::1%eth0'], LISTED, 'host-reserved', 'not an address'],
    [['198.18.0.9'], LISTED, 'host-reserved', 'a stand-in address that nobody opened'],
    [['198.18.0.9'], SPECIAL, 'host-listed', 'a fake-IP resolver, opened by name'],
    [['192.0.2.9'], SPECIAL, 'host-reserved', 'another range than the one that was opened'],
    [['198.18.0.9', '10.0.0.1'], SPECIAL, 'host-private', 'opened beside private'],
    [['::ffff:198.18.0.9'], SPECIAL, 'host-reserved', 'carried in IPv6'],
    [['255.255.255.255'], { ...LISTED, specialRanges: ['class-e'] }, 'host-reserved', 'broadcast is in no range'],
    [['127.0.0.1'], { allowed: ['github.com', '127.0.0.1:443'], opensNamedLoopback: true }, 'host-private', 'rebound'],
    [['151.101.1.1'], own, 'host-private', 'own IPv4'],
    [['2606:4700:0::1'], own, 'host-private', 'own IPv6, another spelling'],
    [['140.82.121.4'], { ...LISTED, denied: ['140.82.121.4'] }, 'host-denied', 'denied address'],
    [['2606:4700:0:0::23'], { ...LISTED, denied: ['[2606:4700::23]'] }, 'host-denied', 'denied, another spelling'],
  ])('github.com resolved to %j with %j: %s (%s)', (resolved, setup, code) => {
    expect(judgeHost({ url: url('https://github.com/'), resolved }, rules(setup)).code).toBe(code)
  })

  test('names the rule that decided', () => {
    const setup = rules({ ...LISTED, denied: ['evil.nodejs.org'] })
    expect(judgeHost({ url: url('https://a.nodejs.org/') }, setup).matched).toBe(setup.allowed![1])
    expect(judgeHost({ url: url('https://evil.nodejs.org/') }, setup).matched).toBe(setup.denied[0])
    expect(judgeHost({ url: url('https://evil.com/') }, setup).matched).toBeNull()
  })

  const entry = fc.constantFrom(
    'github.com',
    '*.nodejs.org',
    'a.nodejs.org:8443',
    '10.0.0.5',
    '[::1]:80',
    'localhost',
    'a.b.com',
  )
  const host = fc.constantFrom(
    'github.com',
    'a.nodejs.org',
    'nodejs.org',
    '10.0.0.5',
    '[::1]',
    'localhost',
    'a.b.com',
    '8.8.8.8',
  )
  const request = fc.record(
    {
      url: fc.tuple(host, fc.constantFrom(80, 443, 8443)).map(([name, port]) => url(`http://${name}:${port}/`)),
      resolved: fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('10.0.0.5', '8.8.8.8')), { maxLength: 3 }),
    },
    { requiredKeys: ['url'] },
  )
  const setups = fc.record({
    allowed: fc.option(fc.array(entry)),
    denied: fc.array(entry),
    allowPrivate: fc.boolean(),
  })

  test('adding a deny, closing private hosts or resolving never opens anything', () => {
    fc.assert(
      fc.property(request, setups, entry, (asked, setup, extra) => {
        fc.pre(judgeHost(asked, rules(setup)).verdict === 'deny')
        expect(judgeHost(asked, rules({ ...setup, denied: [...setup.denied, extra] })).verdict).toBe('deny')
        expect(judgeHost(asked, rules({ ...setup, allowPrivate: false })).verdict).toBe('deny')
        if (asked.resolved === undefined) {
          expect(judgeHost({ ...asked, resolved: ['8.8.8.8'] }, rules(setup)).verdict).toBe('deny')
        }
      }),
      { numRuns: 1000 },
    )
  })

  test('a denied host stays denied whatever is allowed', () => {
    fc.assert(
      fc.property(request, setups, (asked, setup) => {
        const bare = asked.url.kind === 'ipv6' ? `[${asked.url.host}]` : asked.url.host
        expect(judgeHost(asked, rules({ ...setup, denied: [bare] })).code).toBe('host-denied')
      }),
    )
  })
})

describe('judgeHops', () => {
  test.each<[hops: string[], code: HostCode, hop: number, downgraded: boolean, note: string]>([
    [[], 'host-listed', -1, false, 'no redirect'],
    [['/b', 'c', '?d'], 'host-listed', 2, false, 'relative'],
    [['//a.nodejs.org/x', 'y'], 'host-listed', 1, false, 'scheme-relative, then relative to that'],
    [['//evil.com/'], 'host-unlisted', 0, false, 'scheme-relative to another host'],
    [['/a', 'https://github.com@evil.com/'], 'host-unlisted', 1, false, 'userinfo'],
    [['http://169.254.169.254/'], 'host-metadata', 0, true, 'metadata'],
    [['http://github.com/'], 'host-listed', 0, true, 'downgrade is reported'],
    [['http://github.com/', 'https://github.com/'], 'host-listed', 1, true, 'downgrade stays reported'],
    [['///evil.com/'], 'url-invalid', 0, false, 'three slashes'],
    [['/\\evil.com/'], 'url-invalid', 0, false, 'backslash'],
    [['https:evil.com'], 'url-invalid', 0, false, 'no slashes'],
    [['javascript:alert(1)'], 'url-invalid', 0, false, 'scheme'],
    [[''], 'url-invalid', 0, false, 'empty'],
    [new Array<string>(21).fill('/again'), 'too-many-hops', 20, false, 'loop'],
  ])('%j ends in %s at hop %i (downgraded %s)', (hops, code, hop, downgraded) => {
    expect(judgeHops({ url: url('https://github.com/a/b') }, hops, rules(LISTED))).toMatchObject({
      code,
      hop,
      downgraded,
    })
  })

  test('a relative hop is read from the hop before it, not from the first request', () => {
    const setup = rules(LISTED)
    const judgement = judgeHops({ url: url('https://github.com/') }, ['https://a.nodejs.org/', '/b'], setup)
    expect(judgement.matched).toBe(setup.allowed![1])
  })

  test('the first request is judged before any hop', () => {
    expect(judgeHops({ url: url('https://evil.com/') }, ['https://github.com/'], rules(LISTED))).toMatchObject({
      verdict: 'deny',
      hop: -1,
    })
  })

  test('a hop back to the first host is limited to what that resolved to', () => {
    const first = { url: url('https://github.com/'), resolved: ['140.82.121.4'] }
    const setup = rules({ allowed: ['github.com'], denied: ['140.82.121.4:80'] })
    expect(judgeHops(first, ['http://github.com/'], setup).code).toBe('host-denied')
  })
})
