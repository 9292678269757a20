import { expect, it } from 'vitest'
import { parseHostPattern } from '../../hosts/pattern.ts'
import { aliasesOf, proxiedLoopback } from './aliases.ts'

const rulesOf = (hosts: readonly string[]) => ({
  allowed: hosts.map((text) => {
    const parsed = parseHostPattern(text, { publicSuffix: () => 'org' })
    if ('problem' in parsed) throw new Error(parsed.problem)
    return { pattern: parsed.pattern, rule: text, source: 'test' }
  }),
})
const of = (...hosts: string[]) => aliasesOf(rulesOf(hosts))
const proxyPorts = (...hosts: string[]) =>
  of(...hosts).proxyPorts.map(({ address, port }) => `${address ?? '*'}:${port}`)

it('a host has one address, and its ports are served there; the web’s everywhere', () => {
  const { names } = of('api.example.org', 'db.example.org:5432', 'db.example.org:5433')
  expect(names).toEqual([
    { name: 'api.example.org', address: '127.64.0.1' },
    { name: 'db.example.org', address: '127.64.0.2' },
  ])
  expect(proxyPorts('api.example.org', 'db.example.org:5432')).toEqual(['*:80', '*:443', '127.64.0.2:5432'])
})

it.each([
  ['a server of this machine', ['127.0.0.1:5432'], ['127.0.0.1:5432']],
  ['the same by its name', ['localhost:5432'], ['127.0.0.1:5432']],
  ['the web’s ports of this machine', ['127.0.0.1'], ['127.0.0.1:80', '127.0.0.1:443']],
  ['the ports of the name service and the proxy', ['127.0.0.1:53', '127.0.0.1:3128'], []],
  ['a port that is served everywhere', ['a.example.org:80', '127.0.0.1:80'], ['*:80']],
  ['a wildcard', ['*.example.org'], ['*:80', '*:443']],
  ['a wildcard of another port', ['*.example.org:5432'], []],
  ['an address', ['140.82.112.3:443'], []],
])('%s', (_, hosts, expected) => expect(proxyPorts(...hosts)).toEqual(expected))

it('all names below a wildcard have one address', () => {
  const { names, domainOf, targetOf } = of('*.example.org', 'api.example.org')
  expect(names.map(({ name, address }) => `${name} ${address}`)).toEqual([
    'api.example.org 127.64.0.1',
    '*.example.org 127.65.0.1',
  ])
  expect([domainOf('127.65.0.1'), domainOf('127.64.0.1'), targetOf('127.65.0.1', 443)]).toEqual([
    'example.org',
    null,
    null,
  ])
})

it('an address and a port stand for the host they were given to', () => {
  const { targetOf } = of('api.example.org', '127.0.0.1:5432')
  expect(targetOf('127.64.0.1', 443)).toMatchObject({ host: 'api.example.org', port: 443 })
  expect(targetOf('127.64.0.2', 443)).toBeNull()
  expect(targetOf('127.0.0.1', 5432)).toMatchObject({ host: '127.0.0.1' })
  expect(targetOf('127.0.0.1', 5433)).toBeNull()
})

it.each([
  ['no loopback', ['api.example.org'], false, []],
  ['a port that is served inside', ['127.0.0.1:5432', 'localhost'], false, []],
  ['a port of the name service or the proxy', ['127.0.0.1:3128'], false, ['localhost', '127.0.0.1']],
  ['an address of IPv6', ['[::1]:5432'], false, ['::1']],
  ['a sandbox without its own loopback', ['127.0.0.1:5432'], true, ['localhost', '127.0.0.1', '::1']],
])('through the proxy alone: %s', (_, hosts, isShared, expected) =>
  expect(proxiedLoopback(rulesOf(hosts), isShared)).toEqual(expected),
)
