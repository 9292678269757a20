/** Classes of wire attacks, many spellings each: none reaches the host, and every refusal is reported. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { World } from '../../contract/egress/world.ts'
import { createWireWorld, play, rulesOf, type WireRow } from './wire-row.ts'

const config = { allow: ['github.com', 'python.org', '*.nodejs.org'], deny: [], allowPrivate: false }
const tls = { connect: 'github.com:443', sni: 'github.com' } as const
const HOST = 'Host: github.com\r\n'

type Attack = Pick<WireRow, 'connect' | 'sni' | 'host' | 'raw' | 'plain'>
interface AttackClass {
  readonly name: string
  readonly spellings: readonly string[]
  readonly attack: (spelling: string) => Attack
}

const CLASSES: readonly AttackClass[] = [
  {
    name: 'header lines that frame a body in more than one way',
    spellings: [
      'Transfer-Encoding: identity',
      'Transfer-Encoding: chunked;q=1',
      'Transfer-Encoding: "chunked"',
      'Transfer-Encoding: chunked,',
      'Transfer-Encoding: ,chunked',
      'Transfer-Encoding: chunked chunked',
      'Transfer-Encoding:\vchunked',
      'Transfer-Encoding: chunked\0',
      'Transfer-Encoding\0: chunked',
      'Transfer-Encoding:\r\n\tchunked',
      ' Transfer-Encoding: chunked',
      'Transfer-Encoding',
      'Transfer-Encoding=chunked',
      'X: y\rTransfer-Encoding: chunked',
      'X: y\nTransfer-Encoding: chunked',
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
      'Transfer-Encoding: chunked\r\nContent-Length: 0',
      'Content-Length: -1',
      'Content-Length: 5_',
      'Content-Length: 5;',
      'Content-Length: 5\0',
      'Content-Length: 1e1',
      'Content-Length: 99999999999999999999',
      'Content-Length: 9007199254740993',
      'Content-Length:',
      'Content-Length\t: 5',
      'content-length: 5\r\nCONTENT-LENGTH: 6',
      'Foo\x7f: bar',
      'Foo(bar): x',
      'Foo: \x01',
      ': x',
      'Foo: a\0b',
    ],
    attack: (line) => ({ ...tls, raw: `POST / HTTP/1.1\r\n${HOST}${line}\r\n\r\nhello` }),
  },
  {
    name: 'chunks',
    spellings: [
      '+2\r\nhi\r\n0\r\n\r\n',
      ' 2\r\nhi\r\n0\r\n\r\n',
      '2 ;x\r\nhi\r\n0\r\n\r\n',
      '2\t\r\nhi\r\n0\r\n\r\n',
      '2\rhi\r\n0\r\n\r\n',
      '2\nhi\r\n0\r\n\r\n',
      '2\r\nhi0\r\n\r\n',
      '2\r\nhi\n0\r\n\r\n',
      '2\r\nhi\r\n0\n\n',
      '2;x\ny\r\nhi\r\n0\r\n\r\n',
      '2;\0\r\nhi\r\n0\r\n\r\n',
      'g\r\nhi\r\n0\r\n\r\n',
      '\r\n2\r\nhi\r\n0\r\n\r\n',
      '2_0\r\nhi\r\n0\r\n\r\n',
      '10000000000000002\r\nhi\r\n0\r\n\r\n',
      '2\r\nhi\r\n0\r\n X: y\r\n\r\n',
      '2\r\nhi\r\n0\r\nContent-Length: 4\r\n\r\n',
      '2\r\nhi\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    attack: (body) => ({ ...tls, raw: `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${body}` }),
  },
  {
    name: 'request lines',
    spellings: [
      'GET / HTTP/1.1 ',
      'GET / HTTP/1.2',
      'GET / HTTP/0.9',
      'GET / http/1.1',
      'GET / HTTP/1.10',
      'GET /',
      'get / HTTP/1.1',
      'FOO / HTTP/1.1',
      'GET /\0 HTTP/1.1',
      'GET /a b HTTP/1.1',
      'GET /#x HTTP/1.1',
      'GET evil.com HTTP/1.1',
      'GET ?x HTTP/1.1',
      'GET * HTTP/1.1',
      'GET https:/evil.com HTTP/1.1',
      'GET https:evil.com HTTP/1.1',
      'GET https://github.com@evil.com/ HTTP/1.1',
      'GET https://user@github.com/ HTTP/1.1',
      'GET https://github.com:80/ HTTP/1.1',
      'GET https://github.com\\@evil.com/ HTTP/1.1',
      'GET wss://evil.com/ HTTP/1.1',
      'TRACK / HTTP/1.1',
      'CONNECT / HTTP/1.1',
      'CONNECT github.com:443 HTTP/1.1',
      'PRI * HTTP/2.0',
      `GET /${'a'.repeat(70_000)} HTTP/1.1`,
    ],
    attack: (line) => ({ ...tls, raw: `${line}\r\n${HOST}\r\n` }),
  },
  {
    name: 'Host',
    spellings: [
      'github.com.evil.com',
      'github.com:80',
      'github.com:',
      'github.com:443:443',
      'github.com,',
      'github.com;',
      'github.com/',
      'github.com?',
      'github.com#',
      'http://github.com',
      '//github.com',
      '@github.com',
      'github.com@',
      'github.com%00',
      '*.github.com',
      '.github.com',
      'github..com',
      'api.github.com',
      '[::1]',
      'g\xecthub.com',
      '"github.com"',
      'github.com\\',
      'github.com:\xb944\xb3',
    ],
    attack: (host) => ({ ...tls, host }),
  },
  {
    name: 'Host lines',
    spellings: [
      '',
      'Host : github.com\r\n',
      'Host:\r\n github.com\r\n',
      'Host\0: evil.com\r\nHost: github.com\r\n',
      'Host: github.com\r\nhOST: github.com\r\n',
      'Host: github.com\r\nExpect: 200-ok\r\n',
    ],
    attack: (lines) => ({ ...tls, raw: `GET / HTTP/1.1\r\n${lines}\r\n` }),
  },
  {
    name: 'CONNECT',
    spellings: [
      'github.com',
      'github.com:',
      'github.com:443:443',
      'github.com:0443',
      'github.com:+443',
      'github.com:443/',
      'https://github.com:443',
      '//github.com:443',
      '/github.com:443',
      '@github.com:443',
      'evil.com:443@github.com',
      'github.com%3a443',
      'github.com:443?x',
      'github.com:443#x',
      '*:443',
      '.github.com:443',
      'github..com:443',
      '[github.com]:443',
      '[::ffff:140.82.112.3]:443',
      '::1:443',
      'github.com :443',
      'github.com:https',
      'xn--github-.com:443',
      '\xffgithub.com:443',
      ':443',
      '140.82.112.3:443',
      '[fe80::1%eth0]:443',
    ],
    attack: (target) => ({
      plain: true,
      raw: `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\nGET / HTTP/1.1\r\n${HOST}\r\n`,
    }),
  },
  {
    name: 'URLs to the proxy',
    spellings: [
      'http://github.com@evil.com/',
      'http://evil.com#@github.com/',
      'http://evil.com?@github.com/',
      'http://evil.com\\@github.com/',
      'http:/github.com/',
      'http:github.com',
      '//github.com/',
      'github.com/',
      'http://',
      'http:///x',
      'http://github.com:443/',
      'http://github.com:65536/',
      'http://[github.com]/',
      'http://github%2ecom/',
      'http://user:pw@github.com/',
      'http://.nodejs.org/',
      'http://nodejs.org/',
      'http://gith\xadub.com/',
      'http://github.com/\\x',
      'http+unix://x/',
    ],
    attack: (url) => ({ plain: true, raw: `GET ${url} HTTP/1.1\r\n${HOST}\r\n` }),
  },
  {
    name: 'something else than HTTP and SOCKS5',
    spellings: [
      '\x05\x00',
      '\x05\x01\x01',
      '\x05\x01\x00\x05\x01\x00\x05aaaa\x01\xbb',
      '\x05\x01\x00\x05\x01\x01\x03\x0agithub.com\x01\xbb',
      '\x05\x01\x00\x04\x01\x00\x03\x0agithub.com\x01\xbb',
      '\x05\x01\x00\x05\x00\x00\x03\x0agithub.com\x01\xbb',
      '\0\0\0\0',
      'hello world\r\n\r\n',
      'PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\nGET http://github.com/ HTTP/1.1\r\nHost: github.com\r\n\r\n',
    ],
    attack: (raw) => ({ plain: true, raw }),
  },
]

let world: World
beforeAll(async () => {
  world = await createWireWorld()
})
afterAll(() => world.close())

describe.each(CLASSES)('$name', ({ spellings, attack }) => {
  it.each(spellings.map((spelling) => ({ shown: JSON.stringify(spelling).slice(0, 80), spelling })))(
    'is refused and reported: $shown',
    async ({ spelling }) => {
      const { proxy, port } = await world.open(rulesOf(config))
      world.events.length = 0
      const row: WireRow = { id: 'class', why: '', expect: 'deny', config, ...attack(spelling) }
      expect(await play(port, world.ca.pem, row)).toBe('deny')
      await proxy.close()
      expect(world.events.map((event) => event.verdict)).toContain('deny')
    },
  )
})
