import { describe, expect, it } from 'vitest'
import { parseHostPattern } from '../../hosts/pattern.ts'
import { tldtsSuffixes } from '../../hosts/suffix.ts'
import type { HostRule } from '../../policy/policy.ts'
import { parseAuthority, type Target } from '../wire/target.ts'
import {
  type EgressRules,
  isPassedThrough,
  isUndecided,
  judgeRequest,
  judgeTarget,
  mayCarryRawBytes,
  withAnswer,
} from './rules.ts'

function rule(host: string, narrowed: Pick<HostRule, 'methods' | 'paths' | 'tls'> = {}): HostRule {
  const parsed = parseHostPattern(host, tldtsSuffixes)
  if ('problem' in parsed) throw new TypeError(parsed.problem)
  return { rule: 'domains[0]', source: 'cordon.toml', pattern: parsed.pattern, ...narrowed }
}

function target(text: string): Target {
  const parsed = parseAuthority(text, 443)
  if ('problem' in parsed) throw new TypeError(parsed.problem)
  return parsed
}

function rules(allowed: readonly HostRule[] | null, more: Partial<EgressRules> = {}): EgressRules {
  return { command: 'npm test', allowed, denied: [], allowPrivate: false, suffixes: tldtsSuffixes, ...more }
}

describe('hosts', () => {
  const base = rules([rule('github.com'), rule('*.nodejs.org'), rule('db.example.org:5432')], {
    denied: [rule('bad.nodejs.org')],
  })
  const rows: { host: string; code: string; undecided: boolean }[] = [
    { host: 'github.com', code: 'host-listed', undecided: false },
    { host: 'evil.com', code: 'host-unlisted', undecided: true },
    { host: 'github.com:22', code: 'port-unlisted', undecided: true },
    { host: 'bad.nodejs.org', code: 'host-denied', undecided: false },
    { host: 'localhost', code: 'host-private', undecided: false },
    { host: '169.254.169.254', code: 'host-metadata', undecided: false },
  ]
  it.each(rows)('$host: $code', ({ host, code, undecided }) => {
    const judgement = judgeTarget(base, target(host))
    expect(judgement.code).toBe(code)
    expect(isUndecided(judgement)).toBe(undecided)
  })

  it('an answer opens one host and port, and no private one', () => {
    const answered = withAnswer(base, target('evil.com:8443'))
    expect(judgeTarget(answered, target('evil.com:8443')).verdict).toBe('allow')
    expect(judgeTarget(answered, target('evil.com')).verdict).toBe('deny')
    expect(judgeTarget(answered, target('evil.com:8443'), ['10.0.0.1']).verdict).toBe('deny')
    expect(judgeTarget(withAnswer(base, target('localhost')), target('localhost')).verdict).toBe('deny')
  })
})

describe('requests', () => {
  const api = target('api.example.org')
  const narrowed = rules([rule('api.example.org', { methods: ['GET', 'HEAD'], paths: ['/v1/*', '/v2/**'] })])
  const rows: { note: string; method: string; path: string; headers?: string[]; code: string | null }[] = [
    { note: 'as granted', method: 'GET', path: '/v1/users', code: null },
    { note: 'one level only', method: 'GET', path: '/v1/users/1', code: 'path-unlisted' },
    { note: 'any depth', method: 'GET', path: '/v2/users/1', code: null },
    { note: 'another method', method: 'POST', path: '/v1/users', code: 'method-unlisted' },
    {
      note: 'a method in a header',
      method: 'GET',
      path: '/v1/users',
      headers: ['X-HTTP-Method-Override', 'DELETE'],
      code: 'method-unlisted',
    },
    { note: 'dots', method: 'GET', path: '/v2/../admin', code: 'path-unlisted' },
    { note: 'encoded dots', method: 'GET', path: '/v2/%2E%2e/admin', code: 'path-unlisted' },
    { note: 'an encoded slash', method: 'GET', path: '/v1/a%2fb', code: 'path-unlisted' },
    { note: 'encoded twice', method: 'GET', path: '/v2/%252e%252e/admin', code: 'path-unlisted' },
    { note: 'a path parameter', method: 'GET', path: '/v2/..;/admin', code: 'path-unlisted' },
    { note: 'two slashes', method: 'GET', path: '/v2//admin', code: 'path-unlisted' },
    { note: 'a query', method: 'GET', path: '/v1/users?q=../admin&p=//x', code: null },
    { note: 'encoded letters', method: 'GET', path: '/v2/caf%C3%A9/a%20b', code: null },
    { note: 'an overlong dot', method: 'GET', path: '/v2/%c0%ae%c0%ae/admin', code: 'path-unlisted' },
    { note: 'an overlong slash', method: 'GET', path: '/v2/..%c0%afadmin', code: 'path-unlisted' },
    { note: "IIS's own encoding", method: 'GET', path: '/v2/%u002e%u002e/admin', code: 'path-unlisted' },
    { note: 'encoded digits of a code', method: 'GET', path: '/v2/%%32%65%%32%65/admin', code: 'path-unlisted' },
    { note: 'full-width dots', method: 'GET', path: '/v2/%EF%BC%8E%EF%BC%8E/admin', code: 'path-unlisted' },
    { note: 'a full-width slash', method: 'GET', path: '/v1/a%EF%BC%8Fb', code: 'path-unlisted' },
    { note: 'a space behind the dots', method: 'GET', path: '/v2/..%20/admin', code: 'path-unlisted' },
    { note: 'a tab before the dots', method: 'GET', path: '/v2/%09../admin', code: 'path-unlisted' },
    { note: 'three dots', method: 'GET', path: '/v2/.../admin', code: 'path-unlisted' },
    { note: 'dots before an encoded question mark', method: 'GET', path: '/v2/..%3f/admin', code: 'path-unlisted' },
    { note: 'a line feed', method: 'GET', path: '/v2/a%0d%0ab', code: 'path-unlisted' },
    { note: 'an encoded path parameter', method: 'GET', path: '/v2/a%3bb', code: 'path-unlisted' },
    { note: 'another case', method: 'GET', path: '/V2/users', code: 'path-unlisted' },
    {
      note: 'a path in a header',
      method: 'GET',
      path: '/v1/users',
      headers: ['X-Original-URL', '/admin'],
      code: 'path-unlisted',
    },
    {
      note: 'a path in a header that a gateway spells the same',
      method: 'GET',
      path: '/v1/users',
      headers: ['X_Rewrite_URL', '/admin'],
      code: 'path-unlisted',
    },
    { note: 'a method in a parameter', method: 'GET', path: '/v1/users?_method=DELETE', code: 'method-unlisted' },
    {
      note: 'a method in a parameter, encoded and behind a semicolon',
      method: 'GET',
      path: '/v1/users?a=1;%5Fmethod=DELETE',
      code: 'method-unlisted',
    },
  ]
  it.each(rows)('$note', ({ method, path, headers = [], code }) => {
    expect(judgeRequest(narrowed, api, { method, path, rawHeaders: headers })?.code ?? null).toBe(code)
  })

  it('a rule that is not narrowed opens the whole host', () => {
    const both = rules([rule('api.example.org', { methods: ['GET'] }), rule('*.example.org')])
    expect(judgeRequest(both, api, { method: 'POST', path: '/%2e%2e', rawHeaders: [] })).toBeNull()
  })
})

describe('bytes that are not read', () => {
  const base = rules([
    rule('github.com', { tls: 'pass' }),
    rule('github.com:22'),
    rule('api.example.org:443'),
    rule('x.example.org:8080', { methods: ['GET'], tls: 'pass' }),
    rule('x.example.org:8080'),
  ])
  const rows: { host: string; raw: boolean; passed: boolean; note: string }[] = [
    { host: 'github.com:22', raw: true, passed: false, note: 'granted by port, and by another entry' },
    { host: 'github.com:443', raw: false, passed: true, note: 'the web is always read, or TLS' },
    { host: 'api.example.org:443', raw: false, passed: false, note: '443 by name is still TLS' },
    { host: 'x.example.org:8080', raw: true, passed: false, note: 'a narrowed entry passes nothing' },
    { host: 'github.com:25', raw: false, passed: false, note: 'not granted' },
  ]
  it.each(rows)('$host ($note)', ({ host, raw, passed }) => {
    expect(mayCarryRawBytes(base, target(host))).toBe(raw)
    expect(isPassedThrough(base, target(host))).toBe(passed)
  })
  it('none where no list names ports', () => expect(mayCarryRawBytes(rules(null), target('github.com:22'))).toBe(false))
})
