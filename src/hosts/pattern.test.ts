import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  containsHost,
  type HostPattern,
  matchesDenied,
  matchesHost,
  needsSuffixes,
  parseHostPattern,
} from './pattern.ts'
import { tldtsSuffixes } from './suffix.ts'

function pattern(text: string): HostPattern {
  const parsed = parseHostPattern(text, tldtsSuffixes)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.pattern
}

const accepted: readonly [text: string, expected: Partial<HostPattern>, note: string][] = [
  ['github.com', { host: 'github.com', wildcard: false, port: null, kind: 'name' }, 'literal'],
  ['GitHub.COM.', { host: 'github.com' }, 'case and root dot'],
  ['github.com:8443', { host: 'github.com', port: 8443 }, 'port'],
  ['github.com:65535', { port: 65535 }, 'last port'],
  ['*.nodejs.org', { host: 'nodejs.org', wildcard: true }, 'registrable domain'],
  ['*.nodejs.org:443', { host: 'nodejs.org', wildcard: true, port: 443 }, 'wildcard with port'],
  ['*.evil.nodejs.org', { host: 'evil.nodejs.org', wildcard: true }, 'below a registrable domain'],
  ['*.example.co.uk', { host: 'example.co.uk' }, 'two-label suffix'],
  ['*.octocat.github.io', { host: 'octocat.github.io' }, 'below a private suffix'],
  ['*.www.ck', { host: 'www.ck' }, 'exception of the list'],
  ['*.city.kawasaki.jp', { host: 'city.kawasaki.jp' }, 'exception of the list'],
  ['*.corp.internal', { host: 'corp.internal' }, 'internal domain'],
  ['github.io', { host: 'github.io', wildcard: false }, 'a suffix as a literal is one host'],
  ['bücher.de', { host: 'xn--bcher-kva.de' }, 'U-label'],
  ['*.foo.公司.cn', { host: 'foo.xn--55qx5d.cn' }, 'U-label in the suffix'],
  ['127.0.0.1', { host: '127.0.0.1', kind: 'ipv4' }, 'IPv4'],
  ['169.254.169.254.', { host: '169.254.169.254', kind: 'ipv4' }, 'IPv4 with root dot'],
  ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }, 'IPv4 with port'],
  ['[::1]:5173', { host: '::1', port: 5173, kind: 'ipv6' }, 'IPv6 with port'],
  ['[0:0::1]', { host: '::1', port: null }, 'IPv6 becomes canonical'],
  ['::1', { host: '::1', port: null }, 'IPv6 that cannot end in a port'],
  ['fd00::a:b', { host: 'fd00::a:b', port: null }, 'IPv6 whose last group is not a number'],
  ['localhost:3000', { host: 'localhost', port: 3000 }, 'single label'],
  ['a_b.example.com', { host: 'a_b.example.com' }, 'underscore'],
]

const refused: readonly [text: string, problem: RegExp, suggestion: string | undefined, note: string][] = [
  ['', /empty/, undefined, 'nothing'],
  ['*', /every host/, undefined, 'bare star'],
  ['*:443', /every host/, undefined, 'bare star with port'],
  ['**', /first label/, undefined, 'two stars'],
  ['*.com', /anyone can register/, undefined, 'suffix'],
  ['*.co.uk', /anyone can register/, undefined, 'suffix'],
  ['*.github.io', /anyone can register/, undefined, 'private section'],
  ['*.s3.amazonaws.com', /anyone can register/, undefined, 'private section'],
  ['*.ck', /anyone can register/, undefined, 'wildcard rule'],
  ['*.foo.ck', /anyone can register/, undefined, 'suffix through a wildcard rule'],
  ['*.kawasaki.jp', /anyone can register/, undefined, 'everything below is a suffix'],
  ['*.рф', /anyone can register/, undefined, 'IDN suffix'],
  ['*.公司.cn', /anyone can register/, undefined, 'IDN suffix of two labels'],
  ['*.internal', /anyone can register/, undefined, 'a single label'],
  ['*.no-such-suffix', /anyone can register/, undefined, 'an unknown single label'],
  ['*nodejs.org', /first label/, '*.nodejs.org', 'partial label'],
  ['foo*.nodejs.org', /first label/, undefined, 'partial label'],
  ['*.*.nodejs.org', /first label/, '*.nodejs.org', 'two stars'],
  ['a.*.nodejs.org', /first label/, undefined, 'star in the middle'],
  ['nodejs.*', /first label/, undefined, 'star at the end'],
  ['*.', /not a host/, undefined, 'star on nothing'],
  ['*。nodejs.org', /first label/, undefined, 'star on an ideographic dot'],
  ['＊.nodejs.org', /host label/, undefined, 'fullwidth star'],
  ['*.1.2.3.4', /no subdomains/, '1.2.3.4', 'wildcard on an address'],
  ['*.127.1', /no subdomains/, undefined, 'wildcard on a short address'],
  ['*.[::1]', /brackets/, undefined, 'wildcard on IPv6'],
  ['https://github.com', /scheme/, 'github.com', 'scheme'],
  ['http:github.com', /port/, undefined, 'half a scheme'],
  ['user@github.com', /user name/, 'github.com', 'userinfo'],
  ['github.com/path', /path/, 'github.com', 'path'],
  ['github.com?q', /path/, 'github.com', 'query'],
  ['github.com\\', /path/, undefined, 'backslash'],
  ['10.0.0.0/8', /range/, undefined, 'CIDR'],
  [' github.com', /space/, 'github.com', 'leading space'],
  ['git hub.com', /space/, undefined, 'space inside'],
  ['git\u200bhub.com', /invisible/, 'github.com', 'zero width space'],
  ['.github.com', /starts with a dot/, '*.github.com', 'leading dot'],
  ['.github.io', /starts with a dot/, undefined, 'a suggestion is never itself refused'],
  ['github..com', /empty label/, undefined, 'empty label'],
  ['github.com:', /port/, 'github.com', 'empty port'],
  ['github.com:0', /port/, 'github.com', 'port 0'],
  ['github.com:65536', /port/, 'github.com', 'port out of range'],
  ['github.com:080', /port/, 'github.com', 'leading zero'],
  ['github.com:*', /port/, 'github.com', 'star as port'],
  ['github.com:1:2', /more than one port/, undefined, 'two ports'],
  ['::1:443', /may end in a port/, '[::1]:443', 'ambiguous'],
  ['[::1]443', /\[address\]/, undefined, 'text after the bracket'],
  ['[github.com]', /not a host/, undefined, 'brackets round a name'],
  ['fe80::1%eth0', /zone/, undefined, 'zone id'],
  ['0x7f.1', /another spelling/, '127.0.0.1', 'hex'],
  ['127.1', /another spelling/, '127.0.0.1', 'short'],
  ['2130706433', /another spelling/, '127.0.0.1', 'decimal'],
  ['0177.0.0.1', /another spelling/, '127.0.0.1', 'octal'],
  ['256.1.1.1', /not a host/, undefined, 'out of range'],
  ['xn--', /Punycode/, undefined, 'empty Punycode'],
  ['$HOST', /host label/, undefined, 'unexpanded variable'],
  [`${'a'.repeat(64)}.com`, /63/, undefined, 'long label'],
  ['\ud800.com', /surrogate/, undefined, 'half a pair'],
]

describe('parseHostPattern', () => {
  test.each(accepted)('accepts %s', (text, expected) => {
    expect(pattern(text)).toMatchObject({ text, ...expected })
  })

  test.each(refused)('refuses %j: %s', (text, problem, suggestion) => {
    const parsed = parseHostPattern(text, tldtsSuffixes)
    expect(parsed).toMatchObject({ problem: expect.stringMatching(problem) })
    expect('suggestion' in parsed ? parsed.suggestion : undefined).toBe(suggestion)
  })

  test('a literal needs no suffix list, a wildcard is refused without one', () => {
    expect(needsSuffixes('github.com')).toBe(false)
    expect(parseHostPattern('github.com', null)).toHaveProperty('pattern')
    expect(needsSuffixes('*.github.com')).toBe(true)
    expect(parseHostPattern('*.github.com', null)).toHaveProperty('problem')
  })

  test('no text crashes it, and what it accepts is stable', () => {
    const pieces = fc.constantFrom(
      '*',
      '*.',
      '.',
      ':',
      '443',
      '[',
      ']',
      '::1',
      'com',
      'github.io',
      '/',
      '@',
      '%',
      'xn--',
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.domain(),
      fc.array(pieces).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(text, (input) => {
        const parsed = parseHostPattern(input, tldtsSuffixes)
        if ('problem' in parsed) return
        const { host, wildcard, kind, port } = parsed.pattern
        const again = `${wildcard ? '*.' : ''}${kind === 'ipv6' ? `[${host}]` : host}${port === null ? '' : `:${port}`}`
        expect(parseHostPattern(again, tldtsSuffixes)).toEqual({ pattern: { ...parsed.pattern, text: again } })
      }),
      { numRuns: 2000 },
    )
  })
})

const matches: readonly [text: string, host: string, port: number, allow: boolean, deny: boolean, note: string][] = [
  ['github.com', 'github.com', 443, true, true, 'https'],
  ['github.com', 'github.com', 80, true, true, 'http'],
  ['github.com', 'github.com', 22, false, true, 'a deny without a port closes every port'],
  ['github.com:22', 'github.com', 22, true, true, 'port'],
  ['github.com:22', 'github.com', 443, false, false, 'another port'],
  ['github.com', 'api.github.com', 443, false, false, 'a literal is exact'],
  ['github.com', 'notgithub.com', 443, false, false, 'a literal is exact'],
  ['*.nodejs.org', 'nodejs.org', 443, false, false, 'not the apex'],
  ['*.nodejs.org', 'a.nodejs.org', 443, true, true, 'one label'],
  ['*.nodejs.org', 'a.b.nodejs.org', 443, true, true, 'two labels'],
  ['*.nodejs.org', 'evilnodejs.org', 443, false, false, 'label boundary'],
  ['*.nodejs.org', '.nodejs.org', 443, false, false, 'empty label'],
  ['*.nodejs.org', 'a.nodejs.org.evil.com', 443, false, false, 'prefix'],
  ['10.0.0.5', '::ffff:a00:5', 443, false, true, 'a deny sees through IPv6'],
  ['[::ffff:10.0.0.5]', '10.0.0.5', 443, false, true, 'and the other way round'],
  ['[::1]:5173', '::1', 5173, true, true, 'IPv6'],
]

describe('matching', () => {
  test.each(matches)('%s on %s:%i: allow %s, deny %s (%s)', (text, host, port, allow, deny) => {
    expect(matchesHost(pattern(text), host, port)).toBe(allow)
    expect(matchesDenied(pattern(text), host, port)).toBe(deny)
  })

  test.each([
    ['*.nodejs.org', 'a.nodejs.org', true, 'literal below'],
    ['*.nodejs.org', '*.a.nodejs.org', true, 'wildcard below'],
    ['*.nodejs.org', '*.nodejs.org', true, 'itself'],
    ['*.nodejs.org', 'nodejs.org', false, 'the apex'],
    ['nodejs.org', '*.nodejs.org', false, 'narrower'],
    ['nodejs.org', 'nodejs.org:443', true, 'a port of the default ones'],
    ['nodejs.org', 'nodejs.org:22', false, 'another port'],
    ['nodejs.org:443', 'nodejs.org', false, 'port 80 is missing'],
  ])('%s contains %s: %s (%s)', (outer, inner, expected) => {
    expect(containsHost(pattern(outer), pattern(inner))).toBe(expected)
  })
})
