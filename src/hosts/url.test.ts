import { domainToASCII, domainToUnicode } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodePunycode, parseAuthority, parseHost } from './host.ts'
import { parseUrl } from './url.ts'

const accepted: readonly [url: string, host: string, port: number, note: string][] = [
  ['https://github.com/', 'github.com', 443, 'plain'],
  ['HTTPS://GITHUB.COM', 'github.com', 443, 'case'],
  ['https://github.com./', 'github.com', 443, 'root dot'],
  ['ws://github.com/ws', 'github.com', 80, 'websocket'],
  ['wss://github.com:8443/', 'github.com', 8443, 'port'],
  ['https://github.com:/', 'github.com', 443, 'empty port'],
  ['https://evil.com@github.com/', 'github.com', 443, 'what precedes @ is not the host'],
  ['https://github.com@evil.com/', 'evil.com', 443, 'what follows @ is the host'],
  ['https://github.com:443@evil.com/', 'evil.com', 443, 'the same with a port'],
  ['https://evil.com#@github.com/', 'evil.com', 443, 'fragment'],
  ['https://evil.com?@github.com/', 'evil.com', 443, 'query'],
  ['https://github.com/a b?c=\\d', 'github.com', 443, 'space in path, backslash in query'],
  ['https://github.com/@evil.com', 'github.com', 443, '@ in path'],
  ['https://bücher.de/', 'xn--bcher-kva.de', 443, 'U-label'],
  ['https://xn--bcher-kva.de/', 'xn--bcher-kva.de', 443, 'A-label'],
  ['https://xn--fa-hia.de/', 'xn--fa-hia.de', 443, 'sharp s'],
  ['https://xn--ls8h.la/', 'xn--ls8h.la', 443, 'emoji'],
  ['https://ｇｉｔｈｕｂ.com/', 'github.com', 443, 'fullwidth letters are judged as what they map to'],
  ['https://github.com\u200b.evil.com/', 'github.com.evil.com', 443, 'zero width space is dropped'],
  ['http://0x7f.0x0.0x0.0x1/', '127.0.0.1', 80, 'hex'],
  ['http://017700000001/', '127.0.0.1', 80, 'octal'],
  ['http://127.1/', '127.0.0.1', 80, 'short'],
  ['http://127.0.0.1./', '127.0.0.1', 80, 'address with root dot'],
  ['http://127。0。0。1/', '127.0.0.1', 80, 'ideographic full stop'],
  ['http://%31%32%37.0.0.1/', '127.0.0.1', 80, 'percent-encoded digits'],
  ['http://[0:0::1]:5173/', '::1', 5173, 'IPv6'],
  ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1', 80, 'IPv4-mapped'],
  ['https://a_b.example.com/', 'a_b.example.com', 443, 'underscore'],
]

const refused: readonly [url: string, problem: RegExp, note: string][] = [
  ['', /empty/, 'nothing'],
  ['github.com', /no scheme/, 'bare host'],
  ['//github.com/', /no scheme/, 'scheme-relative without a base'],
  ['ftp://github.com/', /"ftp:"/, 'scheme'],
  ['file:///etc/passwd', /"file:"/, 'scheme'],
  ['blob:https://github.com/x', /"blob:"/, 'nested URL'],
  ['https:github.com', /"\/\/"/, 'missing slashes'],
  ['https:/github.com', /"\/\/"/, 'missing slash'],
  ['https:///github.com', /no host/, 'third slash'],
  ['https://', /no host/, 'no authority'],
  [' https://github.com/', /space/, 'leading space'],
  ['https://git hub.com/', /space/, 'space in the host'],
  ['https://git\thub.com/', /control/, 'tab would be stripped'],
  ['https://github.com/\r\nHost: evil.com', /control/, 'newline would be stripped'],
  ['https://github.com/\0', /control/, 'null byte'],
  ['https://github.com\\@evil.com/', /backslash/, 'parsers disagree about the host'],
  ['https://evil.com\\.github.com/', /backslash/, 'parsers disagree about the host'],
  ['https://a@b@github.com/', /more than one "@"/, 'parsers disagree about the host'],
  ['https://github%2ecom/', /percent-encoded dot/, 'encoded dot'],
  ['https://evil.com%23.github.com/', /not a valid URL/, 'encoded #'],
  ['https://evil.com%00.github.com/', /not a valid URL/, 'encoded null'],
  ['https://github.com＠evil.com/', /not a valid URL/, 'fullwidth @'],
  ['https://evil.com／.github.com/', /not a valid URL/, 'fullwidth slash'],
  ['https://github.com:65536/', /not a valid URL/, 'port out of range'],
  ['https://github.com:443:80/', /not a valid URL/, 'two ports'],
  ['https://github.com:0443.evil.com/', /not a valid URL/, 'host after port'],
  ['https://github.com:0/', /port 0/, 'port 0'],
  ['http://256.256.256.256/', /not a valid URL/, 'address out of range'],
  ['http://４２.127.0.0.1/', /not a valid URL/, 'five parts'],
  ['https://[github.com]/', /not a valid URL/, 'brackets round a name'],
  ['http://[fe80::1%25eth0]/', /not a valid URL/, 'zone id'],
  ['https://.nodejs.org/', /empty label/, 'empty first label'],
  ['https://a..nodejs.org/', /empty label/, 'empty middle label'],
  ['https://nodejs.org../', /empty label/, 'two root dots'],
  ['https://xn--/', /Punycode/, 'empty Punycode'],
  ['https://xn--a.nodejs.org/', /Punycode/, 'truncated Punycode'],
  ['https://xn--wca.nodejs.org/', /Punycode/, 'Punycode of a capital letter'],
  ['https://xn--abc-.nodejs.org/', /Punycode/, 'ASCII in Punycode'],
  ['https://-x.nodejs.org/', /host label/, 'an option in disguise'],
  ['https://a,b.nodejs.org/', /host label/, 'comma'],
  ['https://*.nodejs.org/', /host label/, 'star'],
  [`https://${'a'.repeat(64)}.nodejs.org/`, /63/, 'long label'],
  [`https://${'a.'.repeat(130)}org/`, /253/, 'long name'],
  [`https://github.com/${'a'.repeat(20_000)}`, /16384/, 'long URL'],
  ['https://github.com/\ud800', /surrogate/, 'half a pair'],
]

describe('parseUrl', () => {
  test.each(accepted)('reads %j as %s:%i (%s)', (text, host, port) => {
    expect(parseUrl(text)).toMatchObject({ url: { host, port } })
  })

  test.each(refused)('refuses %j: %s (%s)', (text, problem) => {
    expect(parseUrl(text)).toMatchObject({ problem: expect.stringMatching(problem) })
  })

  test('gives every fact', () => {
    expect(parseUrl('https://me:pw@[::1]:8443/a/../b?c#d')).toEqual({
      url: {
        scheme: 'https',
        host: '::1',
        port: 8443,
        kind: 'ipv6',
        hadUserinfo: true,
        path: '/b',
        href: 'https://[::1]:8443/b?c',
      },
    })
  })

  test('no text crashes it, and parsing its own href changes nothing', () => {
    const pieces = fc.constantFrom(
      'https://',
      'http:',
      '//',
      '@',
      ':',
      '.',
      '[',
      ']',
      '%2e',
      '\\',
      '/',
      '。',
      'xn--',
      'a',
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl(),
      fc.array(fc.oneof(pieces, fc.string())).map((p) => p.join('')),
    )
    fc.assert(
      fc.property(text, (input) => {
        const parsed = parseUrl(input)
        if ('problem' in parsed) return
        expect(parseUrl(parsed.url.href)).toEqual({ url: { ...parsed.url, hadUserinfo: false } })
      }),
      { numRuns: 2000 },
    )
  })
})

describe('parseAuthority', () => {
  test.each<[text: string, host: string, port: number | null, note: string]>([
    ['github.com:443', 'github.com', 443, 'CONNECT'],
    ['GitHub.com.', 'github.com', null, 'SNI and Host are folded'],
    ['[0::1]:8443', '::1', 8443, 'IPv6'],
    ['0x7f.1:80', '127.0.0.1', 80, 'another spelling is judged as the address'],
  ])('reads %s as %s and %s (%s)', (text, host, port) => {
    expect(parseAuthority(text)).toMatchObject({ host, port })
  })

  test.each([
    ['', 'nothing'],
    ['github.com:', 'empty port'],
    ['github.com:0', 'port 0'],
    ['github.com:65536', 'port out of range'],
    ['github.com:0443', 'leading zero'],
    ['github.com:443:80', 'two ports'],
    ['github.com:443\n', 'newline'],
    ['github.com, evil.com', 'two hosts'],
    ['user@github.com:443', 'userinfo'],
    ['github.com:443/x', 'path'],
    ['gith%75b.com', 'percent-encoded'],
    ['ｇithub.com', 'not ASCII'],
    ['::1:443', 'IPv6 without brackets'],
    ['[fe80::1%25eth0]', 'zone id'],
    ['[github.com]', 'brackets round a name'],
    ['a..github.com', 'empty label'],
    ['256.1.1.1', 'address out of range'],
  ])('refuses %j (%s)', (text) => {
    expect(parseAuthority(text)).toHaveProperty('problem')
  })
})

describe('hosts', () => {
  test('making a host canonical twice is making it canonical once', () => {
    fc.assert(
      fc.property(fc.oneof(fc.domain(), fc.string({ unit: 'grapheme' })), (text) => {
        const first = parseHost(text)
        if ('problem' in first || first.kind === 'ipv6') return
        expect(parseHost(first.host)).toEqual(first)
        expect(parseHost(`${first.host}.`)).toEqual(first)
      }),
      { numRuns: 1000 },
    )
  })

  test('Punycode decodes what Node encodes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'abz09üßжд中文日本ก💩'), minLength: 1, maxLength: 12 }),
        (label) => {
          const encoded = domainToASCII(label)
          fc.pre(encoded.startsWith('xn--'))
          expect(decodePunycode(encoded.slice(4))).toBe(domainToUnicode(encoded))
        },
      ),
    )
  })

  test.each<[text: string, expected: string | null, note: string]>([
    ['bcher-kva', 'bücher', 'one letter'],
    ['', '', 'nothing, which no label may decode to'],
    ['abc-', 'abc', 'ASCII alone, which no label may decode to'],
    ['a', '\u0080', 'a control character'],
    ['b-', 'b', 'delimiter at the end'],
    ['zz', null, 'ends inside a number'],
    ['99999999', null, 'overflow'],
    ['é', null, 'not a digit'],
    ['A', null, 'upper case is folded before'],
  ])('Punycode %j is %j (%s)', (text, expected) => {
    expect(decodePunycode(text)).toBe(expected)
  })
})
