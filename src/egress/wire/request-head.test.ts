import { describe, expect, it } from 'vitest'
import { endToEndHeaders, readRequest, type TunnelFacts, upstreamHeaders } from './request-head.ts'

const TUNNEL: TunnelFacts = { target: { host: 'github.com', port: 443, kind: 'name' }, secure: true }
const OWN: TunnelFacts = { target: { host: '127.0.0.1', port: 3000, kind: 'ipv4' }, secure: false }
const read = (
  url: string,
  headers: readonly string[],
  tunnel: TunnelFacts | null = TUNNEL,
  method = 'GET',
  httpVersion = '1.1',
) => {
  const result = readRequest({ method, url, httpVersion, rawHeaders: headers }, tunnel)
  return 'refusal' in result ? result.refusal.code : `${result.target.host}:${result.target.port}${result.path}`
}

describe('where a request goes', () => {
  const host = ['Host', 'github.com']
  const rows: { note: string; result: string; expected: string }[] = [
    { note: 'in a tunnel', result: read('/a?b', host), expected: 'github.com:443/a?b' },
    { note: 'OPTIONS *', result: read('*', host, TUNNEL, 'OPTIONS'), expected: 'github.com:443*' },
    { note: 'GET *', result: read('*', host), expected: 'url-invalid' },
    { note: 'the whole URL, the same host', result: read('https://github.com/a', host), expected: 'github.com:443/a' },
    { note: 'the whole URL, another port', result: read('https://github.com:444/', host), expected: 'host-mismatch' },
    {
      note: 'this machine by another of its names',
      result: read('/', ['Host', 'localhost:3000'], OWN),
      expected: '127.0.0.1:3000/',
    },
    {
      note: 'this machine, another port',
      result: read('/', ['Host', 'localhost:3001'], OWN),
      expected: 'host-mismatch',
    },
    {
      note: 'a name that may point to it',
      result: read('/', ['Host', 'localhost.example.org:3000'], OWN),
      expected: 'host-mismatch',
    },
    { note: 'a fragment', result: read('/a#b', host), expected: 'malformed-request' },
    {
      note: 'to the proxy',
      result: read('http://github.com:8080/a', ['Host', 'github.com:8080'], null),
      expected: 'github.com:8080/a',
    },
    { note: 'to the proxy, no path', result: read('http://github.com', host, null), expected: 'github.com:80/' },
    {
      note: 'to the proxy, query alone',
      result: read('http://github.com?q', host, null),
      expected: 'github.com:80/?q',
    },
    {
      note: 'to the proxy, user name',
      result: read('http://me@github.com/', host, null),
      expected: 'malformed-request',
    },
    { note: 'to the proxy, https', result: read('https://github.com/', host, null), expected: 'malformed-request' },
    { note: 'to the proxy, no host', result: read('/', host, null), expected: 'malformed-request' },
    { note: 'two Hosts', result: read('/', [...host, 'host', 'github.com']), expected: 'malformed-request' },
    {
      note: 'an Expect that nobody knows',
      result: read('/', [...host, 'Expect', 'magic']),
      expected: 'malformed-request',
    },
    { note: 'HTTP/2.0', result: read('/', host, TUNNEL, 'GET', '2.0'), expected: 'malformed-request' },
  ]
  it.each(rows)('$note', ({ result, expected }) => expect(result).toBe(expected))
})

describe('headers that leave', () => {
  it('are without those that end at this hop', () => {
    const raw = [
      'Connection',
      'close, X-Private, Authorization',
      'X-Private',
      '1',
      'Authorization',
      'me',
      'Proxy-Authorization',
      'x',
      'TE',
      'trailers',
      'A',
      '1',
      'A',
      '2',
    ]
    expect(endToEndHeaders(raw)).toEqual(['Authorization', 'me', 'A', '1', 'A', '2'])
  })

  const target = { ...TUNNEL, path: '/' }
  const rows: { note: string; method: string; headers: string[]; expected: string[] }[] = [
    { note: 'our own Host', method: 'GET', headers: ['Host', 'GITHUB.com:443'], expected: ['Host', 'github.com'] },
    {
      note: 'chunked stays',
      method: 'POST',
      headers: ['Host', 'x', 'Transfer-Encoding', 'chunked'],
      expected: ['Host', 'github.com', 'Transfer-Encoding', 'chunked'],
    },
    {
      note: 'a length stays',
      method: 'POST',
      headers: ['Host', 'x', 'Content-Length', '3'],
      expected: ['Host', 'github.com', 'Content-Length', '3'],
    },
    {
      note: 'no body is said',
      method: 'POST',
      headers: ['Host', 'x'],
      expected: ['Host', 'github.com', 'Content-Length', '0'],
    },
  ]
  it.each(rows)('$note', ({ method, headers, expected }) => {
    expect(upstreamHeaders({ method, url: '/', httpVersion: '1.1', rawHeaders: headers }, target)).toEqual(expected)
  })
})
