import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Script } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { crashReport, openAppLog, writeCrashReport } from '../report/crash.ts'
import { createRedactor } from '../scan/redact/redact.ts'
import type { AuditLine } from './event.ts'
import { auditReport, PAGE_SCRIPT, reportedCalls } from './report.ts'

const line = (seq: number, fields: Record<string, unknown>): AuditLine =>
  ({ v: 1, seq, time: `2026-01-01T00:00:0${seq}.000Z`, session: 's', prev: '', ...fields }) as AuditLine

const decision = { verdict: 'allow', reason: 'granted' }

function temporaryFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

describe('the report', () => {
  it('joins what began with how it ended', () => {
    const calls = reportedCalls([
      line(1, { type: 'begin', call: 'a', tool: 'bash', decision, hosts: ['x.com'] }),
      line(2, { type: 'denied', call: 'b', tool: 'http', decision: { verdict: 'deny', reason: 'host-denied' } }),
      line(3, { type: 'end', call: 'a', outcome: 'ok', duration_ms: 5, exit_code: 0, hosts: ['x.com', 'y.com'] }),
      line(4, { type: 'begin', call: 'c', tool: 'bash', decision }),
      line(5, {
        type: 'background',
        call: 'a',
        hosts: ['z.com'],
        violations: [{ seen: 'observed', kind: 'host', subject: 'evil.com' }],
      }),
    ])
    expect(calls.map((call) => [call.id, call.outcome])).toEqual([
      ['a', 'ok'],
      ['b', 'denied'],
      ['c', 'open'],
    ])
    expect(calls[0]!.hosts).toEqual(['x.com', 'y.com', 'z.com'])
    expect(calls[0]!.violations).toEqual([{ seen: 'observed', kind: 'host', subject: 'evil.com' }])
  })

  it('is one page that asks nobody for anything and takes no markup from the log', () => {
    const attack = '</script><script>alert(1)</script><img src=x onerror=alert(2)>'
    const page = auditReport({
      lines: [line(1, { type: 'begin', call: 'a', tool: attack, subject: attack, decision })],
      verification: [],
      generatedAt: 'now',
      title: attack,
    })
    expect(page).not.toContain('<img')
    expect(page).not.toContain('<script>alert')
    expect(page.match(/<script/g)).toHaveLength(2)
    expect(page).not.toMatch(/<[^>]*\s(?:src|href)=/)
    expect(page).toContain("default-src 'none'")
  })

  it('has a script that parses', () => {
    expect(() => new Script(PAGE_SCRIPT)).not.toThrow()
  })
})

describe('crash reports', () => {
  const facts = {
    stateDir: '',
    now: '2026-04-22T15:30:12.345Z',
    command: 'cordon run --token ghp_abc deploy',
    version: '0.1.0',
    os: { platform: 'linux', release: '6.1', arch: 'x64' },
    runtime: 'node 24',
    redact: createRedactor(['s3cret-value']).redact,
  }

  it('hold the chain of errors, without secrets and without arguments', () => {
    const cause = new Error('could not log in with s3cret-value')
    const report = crashReport(new Error('outer', { cause }), 'abcd1234', facts)
    expect(report.errors.map((error) => error.message)).toEqual(['outer', 'could not log in with [REDACTED]'])
    expect(report.command).toBe('cordon run')
    expect(JSON.stringify(report)).not.toContain('s3cret')
  })

  it('end with errors that cause each other', () => {
    const error = new Error('round')
    error.cause = error
    expect(crashReport(error, 'x', facts).errors).toHaveLength(1)
  })

  it('are named by time and id, for the owner alone', () => {
    const stateDir = join(temporaryFolder('cordon-crash-'), 'state')
    const written = writeCrashReport('just a text', { ...facts, stateDir })!
    expect(written.path).toMatch(/crashdump\/20260422-153012-[0-9a-f]{8}\.json$/)
    expect(statSync(written.path).mode & 0o777).toBe(0o600)
  })

  it('do not crash themselves', () => {
    expect(writeCrashReport(new Error('x'), { ...facts, stateDir: '/proc/nowhere' })).toBeNull()
  })
})

it('the app log masks secrets and keeps to one line', () => {
  const stateDir = join(temporaryFolder('cordon-log-'), 'state')
  const log = openAppLog(stateDir, createRedactor().redact, () => 'T')
  log.write('error', 'password=hunter2hunter2\nsecond line')
  log.close()
  expect(readFileSync(join(stateDir, 'app.log'), 'utf8')).toBe('T error password=[REDACTED] | second line\n')
})
