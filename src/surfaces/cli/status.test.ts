import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { HOME, policyOf, ROOT } from '../../../test/cases/policy-fixture.ts'
import { SELF_TEST_COMMAND } from '../../agents/hook/self-test.ts'
import { parsePathPattern } from '../../files/path-pattern.ts'
import { parseHostPattern } from '../../hosts/pattern.ts'
import type { AuditLine } from '../../report/audit-trail.ts'
import { type ProjectStatus, refusalsOf } from '../../report/project-status.ts'
import { pieces, widthOf } from '../../scan/display-text.ts'
import { canonicalJson } from '../../system/json.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { auditRow } from './audit-line.ts'
import { describeStanding } from './commands/machine/status.ts'

const screen = (width: number): Terminal => ({ out: () => {}, err: () => {}, color: false, width })

let seq = 0
function line(type: string, fields: Readonly<Record<string, unknown>> = {}): AuditLine {
  return { v: 1, seq: ++seq, time: '2026-11-16T07:30:16.000Z', session: 's1', prev: '', type, ...fields }
}

describe('a line of the record', () => {
  const rows: readonly (readonly [note: string, line: AuditLine, says: string])[] = [
    ['a session', line('session', { by: 'person', project: '/p' }), '─ session    s1; by you; /p'],
    [
      'a typed command',
      line('begin', {
        tool: 'bash',
        agent: 'person',
        decision: { verdict: 'ask', reason: 'level-ask', approver: 'typed' },
      }),
      '▸ bash       typed by you',
    ],
    [
      'a denial with its rule',
      line('denied', {
        tool: 'bash',
        subject: 'rm -rf /',
        agent: 'claude-code',
        decision: {
          verdict: 'deny',
          reason: 'denied-by-rule',
          rules: ['capabilities.deny.commands (cordon.toml:3:1)'],
        },
      }),
      '✗ bash       rm -rf /; DENIED: a deny rule; capabilities.deny.commands (cordon.toml:3:1); by claude-code',
    ],
    [
      'an end with what was stopped and changed',
      line('end', {
        outcome: 'failed',
        exit_code: 56,
        duration_ms: 1640,
        violations: [{ kind: 'host', subject: 'evil.example' }],
        refused_hosts: ['evil.example'],
        host_programs: { 'evil.example': ['python3', 'curl'] },
        changes: { made: 1, changed: 0, removed: 2, undo: '20261116-073016-000-abc' },
      }),
      '✗            failed (exit 56) after 1.6 s; stopped: host evil.example (python3, curl); files: 1 created, 2 removed (cordon undo 20261116-073016-000-abc)',
    ],
    ['a yes', line('approval', { approved: true, approver: 'terminal' }), '? answer     yes, once, by terminal'],
    [
      'a no',
      line('approval', { approved: false, refusal: 'declined', approver: 'terminal' }),
      '? answer     no (declined), by terminal',
    ],
    ['anything else', line('taint', { tool: 'read', score: 3 }), '· taint      tool read, score 3'],
  ]
  it('that does not hold the command has it from elsewhere, where it is known', () => {
    const begun = line('begin', { tool: 'bash', call: 'c1', agent: 'person', decision: { approver: 'typed' } })
    expect(auditRow(screen(80), begun, 'rm -rf src')).toContain('▸ bash       rm -rf src; typed by you')
  })

  it.each(rows)('%s', (_, given, says) => {
    expect(auditRow(screen(80), given).slice('2026-11-16 07:30:16 '.length)).toBe(says)
  })

  it('prints no control characters, whatever its values are', () => {
    const hostile = '\u001b[2J\u202e\r\nx'
    for (const type of ['session', 'begin', 'denied', 'end', 'approval', 'other', hostile]) {
      const fields = {
        tool: hostile,
        subject: hostile,
        agent: hostile,
        error: hostile,
        project: hostile,
        outcome: hostile,
      }
      const decision = { reason: hostile, message: hostile, rules: [hostile], approver: hostile, verdict: hostile }
      const row = auditRow(
        screen(80),
        line(type, { ...fields, decision, time: hostile, violations: [{ kind: hostile, subject: hostile }] }),
      )
      expect(pieces(row).filter((piece) => piece.escape)).toEqual([])
    }
  })
})

describe('what was stopped', () => {
  it('is of this project, each once with its number and what would let it through, the newest first', () => {
    const violations = [{ kind: 'host', subject: 'evil.example' }]
    const lines = [
      line('session', { session: 's1', project: '/p' }),
      line('end', { call: 'a', violations }),
      line('end', { call: 'b', violations: [...violations, { kind: 'file', subject: '/p/.env' }] }),
      line('session', { session: 's2', project: '/other' }),
      line('end', { session: 's2', call: 'c', violations: [{ kind: 'host', subject: 'not-ours.example' }] }),
    ]
    const place = { root: '/p', home: HOME, policy: null, isProtected: () => false }
    expect(refusalsOf(lines, place).map(({ what, count, fix }) => [what, count, fix])).toEqual([
      ['file /p/.env', 1, 'secrets stay hidden; to use one unseen: cordon secrets --help'],
      ['host evil.example', 2, 'if it should: cordon add host evil.example'],
    ])
  })

  it('is not what an installation was tried with', () => {
    const denied = (command: string) =>
      line('denied', {
        ...{ session: 's1', project: '/p', call: command, tool: 'bash', decision: { reason: 'privilege', rules: [] } },
        args_hash: hash('sha256', canonicalJson({ command })),
      })
    const place = { root: '/p', home: HOME, policy: null, isProtected: () => false }
    expect(refusalsOf([denied(SELF_TEST_COMMAND)], place)).toEqual([])
    expect(refusalsOf([denied('sudo true')], place)).toHaveLength(1)
  })

  it('is not what was granted since; a protected file is opened for writing', () => {
    const pattern = (text: string) => {
      const parsed = parsePathPattern(text, { root: ROOT, home: HOME, files: null })
      if (!('pattern' in parsed)) throw new Error(text)
      return { pattern: parsed.pattern, prompt: false, rule: 'test', source: 'test' }
    }
    const host = parseHostPattern('evil.example', null)
    const denied = parseHostPattern('denied.example', null)
    if (!('pattern' in host && 'pattern' in denied)) throw new Error('no pattern')
    const files = ['.env', 'notes.txt', 'two words.txt', '.git/hooks/x'].map((name) => `${ROOT}/${name}`)
    const violations = [
      ...files.map((subject) => ({ kind: 'file', subject })),
      { kind: 'host', subject: 'evil.example' },
      { kind: 'host', subject: 'other.example' },
      { kind: 'host', subject: 'evil.example:8080', code: 'host-unlisted' },
      { kind: 'host', subject: 'denied.example:22', code: 'host-denied' },
      { kind: 'host', subject: '10.0.0.1', code: 'host-private' },
    ]
    const lines = [line('session', { session: 's1', project: ROOT }), line('end', { call: 'a', violations })]
    const built = policyOf()
    const policy = policyOf({
      reads: { ...built.reads, declared: true, allow: [pattern('notes.txt'), pattern('.env')] },
      commands: { ...built.commands, defaultDomains: [{ pattern: host.pattern, rule: 'test', source: 'test' }] },
      http: { ...built.http, denied: [{ pattern: denied.pattern, rule: 'test', source: 'test' }] },
    })
    const place = { root: ROOT, home: HOME, policy, isProtected: (path: string) => path.includes('/hooks/') }
    expect(refusalsOf(lines, place).map(({ fix }) => fix)).toEqual([
      'if it should: set allow_private_hosts = true in [http] and grant "10.0.0.1"',
      'a rule denies it',
      'if it should: cordon add host evil.example:8080',
      'if it should: cordon add host other.example',
      'programs run it outside the sandbox: change it yourself',
      "if it should: cordon add read 'two words.txt'",
    ])
  })
})

describe('cordon alone', () => {
  const standing: ProjectStatus = {
    root: '/home/you/project',
    manifest: { status: 'signed', by: 'user', signedAt: '2026-11-16T00:00:00Z' },
    refusals: [],
    asks: [],
    undo: { calls: 2, last: 'rm -rf src' },
  }

  it('shows the state of the project', () => {
    const agents = [{ agent: 'codex', scope: 'project', status: 'works', detail: '' }] as never
    expect(describeStanding(screen(80), standing, agents)).toBe(`cordon     /home/you/project
manifest   signed by you, on 2026-11-16
agents     codex (project): guarded
stopped    nothing in the last day
asks       no open questions
undo       2 calls, the last: rm -rf src
           cordon undo --last, or --list
`)
  })

  it.each([60, 80, 120])('fits %i columns and is one row each, whatever names there are', (width) => {
    const hostile = `\u001b[2J\u202e\r\n${'日本'.repeat(90)}`
    const refusals = Array.from({ length: 9 }, (_, index) => ({
      what: `${index}${hostile}`,
      fix: hostile,
      count: 1,
      time: '',
    }))
    const asks = [{ view: { subject: hostile } }] as never
    const text = describeStanding(
      screen(width),
      { ...standing, root: hostile, refusals, asks, undo: { calls: 1, last: hostile } },
      [{ agent: 'codex', scope: 'project', status: 'broken', detail: hostile, remedy: hostile }] as never,
    )
    const rows = text.trimEnd().split('\n')
    expect(rows).toHaveLength(2 + 2 + 11 + 2 + 2)
    expect(text).toContain('and 4 more')
    for (const row of rows) {
      expect(pieces(row).filter((piece) => piece.escape)).toEqual([])
      expect(widthOf(row)).toBeLessThanOrEqual(width)
    }
  })
})
