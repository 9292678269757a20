import { describe, expect, it } from 'vitest'
import { httpRefusal, refusalBytes } from '../wire/refusal.ts'
import type { Target } from '../wire/target.ts'
import { allowed, refused, summarize, summaryLine } from './event.ts'

const TARGET: Target = { host: 'api.example.com', port: 443, kind: 'name' }
const FACTS = { command: 'npm test', kind: 'connect', target: TARGET } as const

describe('the summary', () => {
  it('names host, command and remedy', () => {
    const event = refused(FACTS, { code: 'host-unlisted', message: 'is not on the list' })
    expect(summaryLine(event)).toBe(
      'blocked: api.example.com (not granted to `npm test`); to allow: cordon run --allow-host api.example.com …, or for good: cordon add host api.example.com',
    )
  })

  it('counts what repeats and leaves out what went through', () => {
    const refusal = { code: 'host-denied', message: 'is denied by "x"' } as const
    const lines = summarize([allowed(FACTS), refused(FACTS, refusal), refused(FACTS, refusal)])
    expect(lines).toEqual(['blocked: api.example.com (host-denied: is denied by "x") [2 times]'])
  })

  it('has one line for all that was declined', () => {
    const declined = (host: string) =>
      refused({ ...FACTS, target: { ...TARGET, host } }, { code: 'host-declined', message: 'x' })
    expect(summarize([declined('a.example'), declined('b.example'), declined('a.example')])).toEqual([
      'declined without a question, for its updates, catalogues and telemetry: a.example, b.example; to allow one: cordon run --allow-host a.example …',
    ])
  })

  it('distinguishes a failure from a refusal', () => {
    const event = refused(FACTS, { code: 'upstream-unreachable', message: 'cannot be reached' })
    expect(event.verdict).toBe('fault')
    expect(summaryLine(event)).toMatch(/^failed: api\.example\.com /)
  })

  it('shows no control characters', () => {
    const event = refused({ ...FACTS, command: 'a\u001b[2Jb\u202e' }, { code: 'host-unlisted', message: '' })
    expect(summaryLine(event)).toContain('a\\e[2Jb\\u{202e}')
  })
})

describe('a refusal over HTTP', () => {
  const refusal = { code: 'host-unlisted', message: '"api.example.com" is not on the list' } as const

  it('is a sentence and JSON for people', () => {
    const { status, statusText, body } = httpRefusal(refusal, TARGET, 'npm test', '*/*')
    expect([status, statusText]).toEqual([403, 'Blocked by Cordon (host-unlisted)'])
    const [sentence, json] = body.split('\n')
    expect(sentence).toMatch(/^blocked by Cordon \(host-unlisted\): "api\.example\.com" is not on the list; to allow: /)
    expect(JSON.parse(json!)).toMatchObject({ code: 'host-unlisted', host: 'api.example.com', command: 'npm test' })
  })

  it('is JSON only on request', () => {
    const { body } = httpRefusal(refusal, TARGET, 'npm test', 'application/json')
    expect(JSON.parse(body)).toMatchObject({ error: 'blocked', code: 'host-unlisted' })
  })

  it('cannot be split by what the client sent', () => {
    const evil = { code: 'host-mismatch', message: 'x\r\nSet-Cookie: a=b\r\n\r\n<html>' } as const
    const [head] = refusalBytes(httpRefusal(evil, TARGET, 'a\r\nX: y', undefined))
      .toString()
      .split('\r\n\r\n')
    expect(head!.split('\r\n').map((line) => line.split(':')[0])).toEqual([
      'HTTP/1.1 403 Blocked by Cordon (host-mismatch)',
      'Content-Type',
      'Content-Length',
      'Cordon-Code',
      'Connection',
    ])
  })
})
