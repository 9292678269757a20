/** Wire attacks found here, beside those of `hosts.jsonl`: each was tried against a proxy, and each stays a row. */

import { readFileSync } from 'node:fs'
import type { WireRow } from './wire-row.ts'

const LISTED = {
  allow: ['github.com', 'python.org', '*.nodejs.org', '[2606:4700::1111]'],
  deny: [],
  allowPrivate: false,
}
const OPEN = { allow: ['*'], deny: ['evil.com'], allowPrivate: false }
const PRIVATE = { allow: ['127.0.0.1:8080', 'localhost:8080'], deny: [], allowPrivate: false }

type Case = Omit<WireRow, 'id' | 'expect' | 'config'> & { readonly config?: WireRow['config'] }

const tls = { connect: 'github.com:443', sni: 'github.com' } as const
const get = (path: string, ...headers: string[]) =>
  `GET ${path} HTTP/1.1\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`
const post = (body: string, ...headers: string[]) =>
  `POST / HTTP/1.1\r\nHost: github.com\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n${body}`

const DENIED: Readonly<Record<string, Case>> = {
  'connect-unlisted': { why: 'CONNECT to a host nobody granted', connect: 'evil.com:443', sni: 'evil.com' },
  'connect-denied': {
    why: 'a denied host where public ones are open',
    connect: 'evil.com:443',
    sni: 'evil.com',
    config: OPEN,
  },
  'connect-port': { why: 'a granted host on another port', connect: 'github.com:22', raw: 'SSH-2.0-x\r\n' },
  'connect-no-port': { why: 'CONNECT without a port', connect: 'github.com', sni: 'github.com' },
  'connect-userinfo': { why: 'user name in the authority', connect: 'github.com@evil.com:443', sni: 'evil.com' },
  'connect-zero-port': { why: 'port 0', connect: 'github.com:0' },
  'connect-big-port': { why: 'a port that wraps around to 443', connect: 'github.com:65979' },
  'connect-apex': { why: 'a wildcard is not its apex', connect: 'nodejs.org:443', sni: 'nodejs.org' },
  'connect-suffix': {
    why: 'a name that only ends like the wildcard',
    connect: 'evilnodejs.org:443',
    sni: 'evilnodejs.org',
  },
  'connect-nul': { why: 'a zero byte in the authority', connect: 'github.com\0.evil.com:443' },
  'connect-percent': { why: 'an encoded dot in the authority', connect: 'github%2ecom:443' },
  'connect-ipv4': { why: 'an address for a granted name', connect: '140.82.112.3:443', sni: 'github.com' },
  'connect-decimal': { why: 'loopback as one number', connect: '2130706433:443', config: OPEN },
  'connect-octal': { why: 'loopback in octal', connect: '0177.0.0.1:443', config: OPEN },
  'connect-hex': { why: 'loopback in hexadecimal', connect: '0x7f.1:443', config: OPEN },
  'connect-metadata': { why: 'the metadata address', connect: '169.254.169.254:80', config: OPEN },
  'connect-ipv6-loopback': { why: 'IPv6 loopback', connect: '[::1]:443', config: OPEN },
  'connect-ipv6-mapped': { why: 'IPv4-mapped loopback', connect: '[::ffff:127.0.0.1]:443', config: OPEN },
  'connect-ipv6-mapped-hex': {
    why: 'IPv4-mapped metadata in hexadecimal',
    connect: '[::ffff:a9fe:a9fe]:80',
    config: OPEN,
  },
  'connect-ipv6-nat64': { why: 'NAT64 of a private address', connect: '[64:ff9b::a00:1]:443', config: OPEN },
  'connect-ipv6-6to4': { why: '6to4 of loopback', connect: '[2002:7f00:1::]:443', config: OPEN },
  'connect-ipv6-zone': { why: 'a zone id', connect: '[fe80::1%25eth0]:443', config: OPEN },
  'connect-ipv6-unique-local': { why: 'a unique local address', connect: '[fd00::1]:443', config: OPEN },
  'connect-private-unlocked': {
    why: 'a listed private host without allow_private_hosts',
    connect: '127.0.0.1:8080',
    config: PRIVATE,
  },
  'connect-localhost-unlocked': {
    why: 'a listed internal name without allow_private_hosts',
    connect: 'localhost:8080',
    config: PRIVATE,
  },
  'connect-host-header': {
    why: 'CONNECT whose Host names another',
    plain: true,
    raw: 'CONNECT github.com:443 HTTP/1.1\r\nHost: evil.com:443\r\n\r\n',
  },
  'connect-two-hosts': {
    why: 'CONNECT with two Host headers',
    plain: true,
    raw: 'CONNECT github.com:443 HTTP/1.1\r\nHost: github.com:443\r\nHost: evil.com\r\n\r\n',
  },
  'connect-version': {
    why: 'CONNECT of another version',
    raw: 'CONNECT github.com:80 HTTP/2.0\r\nHost: github.com:80\r\n\r\nGET / HTTP/1.1\r\nHost: github.com\r\n\r\n',
  },
  'connect-soft-hyphen': {
    why: 'an authority with a character that vanishes',
    raw: 'CONNECT gith\xadub.com:80 HTTP/1.1\r\nHost: github.com:80\r\n\r\nGET / HTTP/1.1\r\nHost: github.com\r\n\r\n',
  },
  'expect-unknown': {
    why: 'an expectation that nobody knows',
    ...tls,
    raw: post('', 'Content-Length: 0', 'Expect: 200-ok'),
  },
  'connect-body': {
    why: 'CONNECT with a length',
    plain: true,
    raw: 'CONNECT github.com:443 HTTP/1.1\r\nHost: github.com:443\r\nContent-Length: 4\r\n\r\nabcd',
  },
  'sni-other': { why: 'fronting: another server name', connect: 'github.com:443', sni: 'evil.com', host: 'github.com' },
  'sni-granted-other': {
    why: 'another granted server name',
    connect: 'github.com:443',
    sni: 'python.org',
    host: 'github.com',
  },
  'sni-below': {
    why: 'a name below the tunnel host',
    connect: 'github.com:443',
    sni: 'a.github.com',
    host: 'github.com',
  },
  'host-other': { why: 'fronting: another Host', ...tls, host: 'evil.com' },
  'host-port': { why: 'the Host of another port', ...tls, host: 'github.com:8443' },
  'host-userinfo': { why: 'a user name in Host', ...tls, host: 'github.com@evil.com' },
  'host-empty': { why: 'an empty Host', ...tls, host: '' },
  'host-soft-hyphen': { why: 'a Host with a character that vanishes', ...tls, host: 'gith\xadub.com' },
  'host-mapped': {
    why: 'a Host with a character that becomes a letter',
    connect: 'python.org:443',
    sni: 'python.org',
    host: 'pyth\xban.org',
  },
  'host-percent': { why: 'an encoded character in Host', ...tls, host: 'g%69thub.com' },
  'host-zero-port': { why: 'a Host whose port has a leading zero', ...tls, host: 'github.com:0443' },
  'host-address': { why: 'the address for the name', ...tls, host: '140.82.112.3' },
  'host-list': { why: 'two names in one Host', ...tls, host: 'github.com, evil.com' },
  'host-missing': { why: 'no Host', ...tls, raw: get('/') },
  'host-missing-1.0': { why: 'HTTP/1.0 without Host', ...tls, raw: 'GET / HTTP/1.0\r\n\r\n' },
  'host-twice': { why: 'two Host headers', ...tls, raw: get('/', 'Host: github.com', 'Host: evil.com') },
  'host-twice-same': { why: 'the same Host twice', ...tls, raw: get('/', 'Host: github.com', 'Host: github.com') },
  'host-no-sni': { why: 'no server name, and another Host', connect: 'github.com:443', sni: null, host: 'evil.com' },
  'absolute-other': {
    why: 'an absolute request line inside a tunnel',
    ...tls,
    raw: get('https://evil.com/', 'Host: github.com'),
  },
  'absolute-both-other': {
    why: 'request line and Host agree on another',
    ...tls,
    raw: get('https://evil.com/', 'Host: evil.com'),
  },
  'absolute-scheme': {
    why: 'another scheme in the request line',
    ...tls,
    raw: get('http://github.com/', 'Host: github.com'),
  },
  'plain-host-other': { why: 'request line granted, Host another', raw: get('http://github.com/', 'Host: evil.com') },
  'plain-origin-form': { why: 'a request to the proxy itself', raw: get('/', 'Host: github.com') },
  'plain-https': { why: 'an https URL without CONNECT', raw: get('https://github.com/', 'Host: github.com') },
  'plain-443': { why: 'plain HTTP to the port of TLS', raw: get('http://github.com:443/', 'Host: github.com:443') },
  'plain-ftp': { why: 'ftp through the proxy', raw: get('ftp://github.com/', 'Host: github.com') },
  'plain-file': { why: 'a file URL', raw: get('file:///etc/passwd', 'Host: github.com') },
  'plain-backslash': {
    why: 'a backslash that parsers read differently',
    raw: get('http://evil.com\\@github.com/', 'Host: github.com'),
  },
  'plain-userinfo': {
    why: 'a user name that looks like the host',
    raw: get('http://github.com@evil.com/', 'Host: github.com'),
  },
  'plain-loopback': {
    why: 'the proxy as a way to itself',
    raw: get('http://127.0.0.1:3128/', 'Host: 127.0.0.1:3128'),
    config: OPEN,
  },
  'plain-metadata': {
    why: 'the metadata service',
    raw: get('http://169.254.169.254/latest/', 'Host: 169.254.169.254'),
    config: OPEN,
  },
  'plain-localhost': { why: 'an internal name', raw: get('http://localhost/', 'Host: localhost'), config: OPEN },
  'plain-trailing-dot-denied': {
    why: 'a denied host with a trailing dot',
    raw: get('http://evil.com./', 'Host: evil.com.'),
    config: OPEN,
  },
  'second-request-other': {
    why: 'keep-alive: the second request names another',
    ...tls,
    raw: `HEAD / HTTP/1.1\r\nHost: evil.com\r\n\r\n`,
  },
  'smuggle-cl-te': {
    why: 'Content-Length and Transfer-Encoding',
    ...tls,
    raw: post('0\r\n\r\n', 'Content-Length: 5', 'Transfer-Encoding: chunked'),
  },
  'smuggle-te-cl': {
    why: 'the same in the other order',
    ...tls,
    raw: post('0\r\n\r\n', 'Transfer-Encoding: chunked', 'Content-Length: 5'),
  },
  'smuggle-two-lengths': { why: 'two lengths', ...tls, raw: post('abcd', 'Content-Length: 4', 'Content-Length: 0') },
  'smuggle-same-lengths': {
    why: 'the same length twice',
    ...tls,
    raw: post('abcd', 'Content-Length: 4', 'Content-Length: 4'),
  },
  'smuggle-length-list': { why: 'a list of lengths', ...tls, raw: post('abcd', 'Content-Length: 4, 4') },
  'smuggle-length-plus': { why: 'a signed length', ...tls, raw: post('abcd', 'Content-Length: +4') },
  'smuggle-length-hex': { why: 'a hexadecimal length', ...tls, raw: post('abcd', 'Content-Length: 0x4') },
  'smuggle-te-unknown': {
    why: 'an encoding that only looks chunked',
    ...tls,
    raw: post('0\r\n\r\n', 'Transfer-Encoding: xchunked'),
  },
  'smuggle-te-list': {
    why: 'chunked is not last',
    ...tls,
    raw: post('0\r\n\r\n', 'Transfer-Encoding: chunked, identity'),
  },
  'smuggle-te-gzip': {
    why: 'a second coding under chunked',
    ...tls,
    raw: post('0\r\n\r\n', 'Transfer-Encoding: gzip, chunked'),
  },
  'smuggle-te-twice': {
    why: 'Transfer-Encoding twice',
    ...tls,
    raw: post('0\r\n\r\n', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'),
  },
  'smuggle-te-space': {
    why: 'a space before the colon',
    ...tls,
    raw: post('0\r\n\r\n', 'Transfer-Encoding : chunked'),
  },
  'smuggle-te-1.0': {
    why: 'chunked on HTTP/1.0',
    ...tls,
    raw: 'POST / HTTP/1.0\r\nHost: github.com\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  },
  'smuggle-fold': { why: 'a folded header line', ...tls, raw: get('/', 'Host: github.com', 'X: a', ' Host: evil.com') },
  'smuggle-fold-tab': { why: 'folded with a tab', ...tls, raw: get('/', 'Host: github.com', 'X: a', '\tb') },
  'smuggle-leading-space': { why: 'a space before the first header', ...tls, raw: get('/', ' Host: github.com') },
  'smuggle-bare-lf': { why: 'line feeds alone', ...tls, raw: 'GET / HTTP/1.1\nHost: github.com\n\n' },
  'smuggle-bare-lf-header': {
    why: 'one line feed alone',
    ...tls,
    raw: 'GET / HTTP/1.1\r\nHost: github.com\r\nX: a\nHost: evil.com\r\n\r\n',
  },
  'smuggle-bare-cr': {
    why: 'a carriage return alone',
    ...tls,
    raw: 'GET / HTTP/1.1\r\nHost: github.com\r\nX: a\rHost: evil.com\r\n\r\n',
  },
  'smuggle-nul': { why: 'a zero byte in a value', ...tls, raw: get('/', 'Host: github.com', 'X: a\0b') },
  'smuggle-nul-name': { why: 'a zero byte in a name', ...tls, raw: get('/', 'Host: github.com', 'X\0: a') },
  'smuggle-space-name': { why: 'a space in a name', ...tls, raw: get('/', 'Host: github.com', 'X Y: a') },
  'smuggle-chunk-size': {
    why: 'a chunk size with 0x',
    ...tls,
    raw: post('0x2\r\nhi\r\n0\r\n\r\n', 'Transfer-Encoding: chunked'),
  },
  'smuggle-chunk-negative': {
    why: 'a negative chunk size',
    ...tls,
    raw: post('-2\r\nhi\r\n0\r\n\r\n', 'Transfer-Encoding: chunked'),
  },
  'smuggle-chunk-overflow': {
    why: 'a chunk size that overflows',
    ...tls,
    raw: post('fffffffffffffffff\r\nhi\r\n0\r\n\r\n', 'Transfer-Encoding: chunked'),
  },
  'smuggle-chunk-space': {
    why: 'a space after the chunk size',
    ...tls,
    raw: post('2 \r\nhi\r\n0\r\n\r\n', 'Transfer-Encoding: chunked'),
  },
  'smuggle-chunk-lf': {
    why: 'line feeds alone between chunks',
    ...tls,
    raw: post('2\nhi\n0\n\n', 'Transfer-Encoding: chunked'),
  },
  'smuggle-chunk-long': {
    why: 'more data than the chunk says',
    ...tls,
    raw: post('2\r\nhiX\r\n0\r\n\r\n', 'Transfer-Encoding: chunked'),
  },
  'smuggle-tab-line': { why: 'tabs in the request line', ...tls, raw: 'GET\t/\tHTTP/1.1\r\nHost: github.com\r\n\r\n' },
  'smuggle-version': { why: 'HTTP/2.0 in a request line', ...tls, raw: 'GET / HTTP/2.0\r\nHost: github.com\r\n\r\n' },
  trace: { why: 'TRACE echoes what was put in', ...tls, raw: 'TRACE / HTTP/1.1\r\nHost: github.com\r\n\r\n' },
  'connect-in-tunnel': {
    why: 'CONNECT to a granted host inside a tunnel',
    ...tls,
    raw: 'CONNECT python.org:443 HTTP/1.1\r\nHost: python.org:443\r\n\r\n',
  },
  'connect-in-plain-tunnel': {
    why: 'CONNECT inside a tunnel to port 80',
    connect: 'github.com:80',
    raw: 'CONNECT python.org:443 HTTP/1.1\r\nHost: python.org:443\r\n\r\n',
  },
  'plain-tunnel-other': {
    why: 'plain HTTP through CONNECT :80 for another host',
    connect: 'github.com:80',
    host: 'evil.com',
  },
  'plain-in-443': {
    why: 'plain HTTP through CONNECT :443, for the right host',
    connect: 'github.com:443',
    host: 'github.com',
  },
  'raw-in-80': { why: 'ssh through CONNECT :80', connect: 'github.com:80', raw: 'SSH-2.0-OpenSSH_9.2\r\n' },
  'tls-in-proxy': { why: 'TLS spoken to the proxy itself', plain: true, raw: '\x16\x03\x01\x00\x05hello' },
  'http2-other': {
    why: 'the HTTP/2 preface to the proxy itself',
    plain: true,
    raw: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  },
  'upgrade-h2c': {
    why: 'an upgrade to HTTP/2 in the clear, for another host',
    raw: get(
      'http://evil.com/',
      'Host: evil.com',
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABk',
    ),
  },
  'upgrade-other-host': {
    why: 'a WebSocket upgrade that names another host',
    ...tls,
    raw: get(
      '/ws',
      'Host: evil.com',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: x',
    ),
  },
  'socks-unlisted': { why: 'SOCKS to a host nobody granted', socks: { host: 'evil.com', port: 443 } },
  'socks-ipv4-loopback': {
    why: 'SOCKS to loopback',
    socks: { atyp: 'ipv4', host: '127.0.0.1', port: 22 },
    config: OPEN,
  },
  'socks-ipv4-as-name': { why: 'an address spelt as a name', socks: { host: '0x7f.1', port: 443 }, config: OPEN },
  'socks-ipv6-mapped': {
    why: 'IPv4-mapped metadata',
    socks: { atyp: 'ipv6', host: '00000000000000000000ffffa9fea9fe', port: 80 },
    config: OPEN,
  },
  'socks-ipv6-loopback': {
    why: 'IPv6 loopback',
    socks: { atyp: 'ipv6', host: '00000000000000000000000000000001', port: 80 },
    config: OPEN,
  },
  'socks-bind': { why: 'SOCKS BIND', socks: { cmd: 'bind', host: 'github.com', port: 443 } },
  'socks-port': { why: 'a granted host on another port', socks: { host: 'github.com', port: 25 } },
  'socks-zero-port': { why: 'port 0', socks: { host: 'github.com', port: 0 } },
  'socks-soft-hyphen': { why: 'a name with a character that vanishes', socks: { host: 'gith\xadub.com', port: 443 } },
  'socks-with-port': { why: 'a port in the name', socks: { host: 'github.com:443', port: 443 } },
  'socks-empty': { why: 'a name of no characters', plain: true, raw: '\x05\x01\x00\x05\x01\x00\x03\x00\x01\xbb' },
  'socks-resolve': {
    why: "Tor's own command",
    plain: true,
    raw: '\x05\x01\x00\x05\xf0\x00\x03\x0agithub.com\x01\xbb',
  },
  socks4a: { why: 'SOCKS4a, another host', plain: true, raw: '\x04\x01\x01\xbb\x00\x00\x00\x01\x00evil.com\x00' },
  'socks-nul': { why: 'a zero byte in the name', socks: { host: 'github.com\0.evil.com', port: 443 } },
  socks4: { why: 'SOCKS4', plain: true, raw: '\x04\x01\x01\xbb\x8c\x52\x70\x03\x00' },
}

const ALLOWED: Readonly<Record<string, Case>> = {
  'benign-get': { why: 'the ordinary request', ...tls, host: 'github.com' },
  'benign-case': { why: 'names have no case', connect: 'GitHub.com:443', sni: 'GITHUB.com', host: 'github.COM' },
  'benign-host-port': { why: 'Host with the port that is dialled', ...tls, host: 'github.com:443' },
  'benign-trailing-dot': {
    why: 'a trailing dot is the same name',
    connect: 'github.com.:443',
    sni: 'github.com',
    host: 'github.com.',
  },
  'benign-wildcard': {
    why: 'below a wildcard',
    connect: 'dist.nodejs.org:443',
    sni: 'dist.nodejs.org',
    host: 'dist.nodejs.org',
  },
  'benign-absolute': {
    why: 'an absolute request line that agrees',
    ...tls,
    raw: get('https://github.com/', 'Host: github.com'),
  },
  'benign-plain-tunnel': {
    why: 'plain HTTP through CONNECT :80 (undici does it)',
    connect: 'github.com:80',
    host: 'github.com',
  },
  'benign-post': { why: 'a body with a length', ...tls, raw: post('abcd', 'Content-Length: 4') },
  'benign-chunk-extension': {
    why: 'a chunk extension is read and dropped',
    ...tls,
    raw: post('2;a=b\r\nhi\r\n0\r\n\r\n', 'Transfer-Encoding: chunked'),
  },
  'benign-expect': {
    why: 'Expect: 100-continue',
    ...tls,
    raw: post('abcd', 'Content-Length: 4', 'Expect: 100-continue'),
  },
  'benign-1.0': { why: 'HTTP/1.0 with Host', ...tls, raw: 'GET / HTTP/1.0\r\nHost: github.com\r\n\r\n' },
  'benign-proxy-headers': {
    why: 'headers for the proxy alone',
    raw: get('http://github.com/', 'Host: github.com', 'Proxy-Connection: keep-alive'),
  },
  'benign-open': {
    why: 'a public host where no list limits',
    connect: 'example.org:443',
    sni: 'example.org',
    host: 'example.org',
    config: OPEN,
  },
  'benign-ipv6': { why: 'a listed IPv6 address', connect: '[2606:4700::1111]:80', host: '[2606:4700::1111]' },
  'benign-ws-plain': {
    why: 'a WebSocket without TLS',
    raw: get(
      'http://github.com/ws',
      'Host: github.com',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: x',
    ),
  },
}

function rowsOf(cases: Readonly<Record<string, Case>>, expect: WireRow['expect']): WireRow[] {
  return Object.entries(cases).map(([id, row]) => ({ config: LISTED, ...row, id, expect }))
}

export const wireRows: readonly WireRow[] = [...rowsOf(DENIED, 'deny'), ...rowsOf(ALLOWED, 'allow')]

/** The wire rows of the public corpus. */
export const corpusRows: readonly WireRow[] = readFileSync(new URL('../../cases/hosts.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.includes('"stage": "wire"'))
  .map((line) => JSON.parse(line) as WireRow)
