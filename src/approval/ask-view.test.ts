import { describe, expect, it } from 'vitest'
import type { PartDecision } from '../policy/decision.ts'
import type { ReasonCode } from '../policy/reason.ts'
import { worstCaseOf } from '../policy/worst-case.ts'
import { widthOf } from '../scan/display-text.ts'
import { ANSWERS, type AnswerForm, answerOf, askText, askView, withAnswers } from './ask-view.ts'
import { promptRows } from './prompt-view.ts'
import type { Answer, ApprovalRequest } from './prompter.ts'
import type { Suggestion } from './suggestion.ts'
import { answerTo } from './terminal-prompter.ts'

function part(code: ReasonCode, text: string, more: Partial<PartDecision> = {}): PartDecision {
  return {
    kind: 'command',
    text,
    decision: 'ask',
    reason: { code, message: `${text} (${code}).` },
    rules: [{ rule: 'permission.mode', source: 'cordon.toml:3:1' }],
    step: 4,
    ...more,
  }
}

const grants: readonly Suggestion[] = [
  { kind: 'command', value: 'npm test', admits: 'exactly this command' },
  { kind: 'command', value: 'npm test:*', admits: 'npm test with any further words' },
]

function requestOf(
  subject: string,
  asks: readonly PartDecision[],
  more: Partial<ApprovalRequest> = {},
): ApprovalRequest {
  const [{ reason, rules }] = asks as [PartDecision]
  const decision = { decision: 'ask' as const, reason, rules, segments: asks }
  const input = { command: subject }
  const worst = worstCaseOf(decision, null)
  return {
    tool: 'bash',
    subject,
    input,
    call: 'hash',
    once: 'hash',
    facts: null,
    decision,
    worst,
    asks,
    suggestions: grants,
    ...more,
  }
}

const start = { choice: 0, scroll: null, step: 'answer', message: '', whole: false, armed: true } as const
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes of the prompt itself.
const plain = (rows: readonly string[]) => rows.map((row) => row.replace(/\u001b\[\d+m/g, '')).join('\n')

describe('an ask', () => {
  it('has the worst reason first, and one of each', () => {
    const asks = [
      part('not-granted', 'make'),
      part('host-not-granted', 'evil.example', { kind: 'host' }),
      part('not-granted', 'make'),
      part('destructive', 'git reset --hard'),
      part('not-granted', 'ls'),
      part('secret', '.env'),
    ]
    const view = askView(requestOf('x', asks))
    expect(view.reasons.map(({ code }) => code)).toEqual(['secret', 'destructive', 'host-not-granted', 'not-granted'])
    expect(view.reasons.at(-1)?.messages).toEqual([
      { text: 'make (not-granted).', count: 2 },
      { text: 'ls (not-granted).', count: 1 },
    ])
    expect(askText(view)).toContain('make (not-granted). (2 times)')
  })

  it('reads the same in 60, 80 and 120 columns, in every script, and never wider', () => {
    const asks = [part('destructive', '`rm -rf 日本語`'), part('host-not-granted', 'пример.example', { kind: 'host' })]
    const view = askView(requestOf('rm -rf 日本語 😀 ‮evil && curl пример.example', asks))
    for (const columns of [60, 80, 120]) {
      const rows = promptRows(view, start, { columns, rows: 30 })
      expect(plain(rows)).toMatchSnapshot(`${columns} columns`)
      for (const row of rows) expect(widthOf(plain([row]))).toBeLessThanOrEqual(columns)
    }
  })

  it('is read to its end by scrolling, with the worst reason and the grant in sight all the while', () => {
    const asks = Array.from({ length: 30 }, (_, index) => part('not-granted', `step ${index}`))
    const view = askView(requestOf('true\n'.repeat(40), [...asks, part('secret', '.env')]))
    const screen = { columns: 60, rows: 16 }
    const seen = new Set<string>()
    let state: Parameters<typeof answerTo>[3] = start
    for (let press = 0; press < 120; press++) {
      const rows = promptRows(view, state, screen)
      expect(rows.length).toBeLessThanOrEqual(16)
      expect(plain(rows)).toContain('why  .env (secret).')
      expect(plain(rows)).toContain('save command npm test')
      for (const row of rows) seen.add(plain([row]).trim())
      const turn = answerTo(view, screen, '\u001b[B', state)
      if ('state' in turn) state = turn.state
    }
    for (let index = 0; index < 30; index++) expect(seen).toContain(`why  step ${index} (not-granted).`)
    expect(seen).toContain('covers exactly this command')
  })

  it('counts what is saved together, where only the first has space', () => {
    const also = [{ kind: 'host', value: '*.evil.example', admits: 'every host below it' }] as const
    const view = askView(
      requestOf('a\n'.repeat(80), [part('not-granted', 'a')], { suggestions: [{ ...grants[0]!, also }] }),
    )
    expect(plain(promptRows(view, start, { columns: 60, rows: 14 }))).toContain(
      'save 2 grants, the first command npm test',
    )
    expect(askText(view)).toContain('host *.evil.example')
  })

  it('shows both ends of a long place, and of a long host', () => {
    const host = `${'a.'.repeat(60)}evil.example`
    const where = `/home/you/${'x'.repeat(200)}/the-end`
    const view = askView(requestOf('curl', [part('host-not-granted', host, { kind: 'host' })], { where }))
    const text = plain(promptRows(view, start, { columns: 60, rows: 40 }))
    expect(text).toContain('/the-end')
    expect(text).toMatch(/host .*evil\.example/)
  })

  it('hides no secret of the text from answers, and shows none', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`
    const suggestions = [{ kind: 'command', value: `curl -H ${token}`, admits: 'exactly this command' }] as const
    const view = askView(requestOf(`curl -H ${token}`, [part('not-granted', `curl -H ${token}`)], { suggestions }))
    expect(JSON.stringify(view)).not.toContain(token)
    expect(answerOf(view, suggestions, { answer: 'session' })).toEqual({ kind: 'session', grant: suggestions[0] })
  })
})

const view = askView(requestOf('npm test', [part('not-granted', 'npm test')]))
const forms: readonly (readonly [note: string, form: AnswerForm, answer: Answer | null])[] = [
  ['once', { answer: 'once' }, { kind: 'once' }],
  ['the broader offer', { answer: 'always', choice: 1 }, { kind: 'always', grant: grants[1]! }],
  ['a time', { answer: 'time', seconds: 60 }, { kind: 'time', grant: grants[0]!, seconds: 60 }],
  ['a time without an end', { answer: 'time', seconds: Number.POSITIVE_INFINITY }, null],
  ['an invalid time', { answer: 'time', seconds: Number.NaN }, null],
  ['a time in words', { answer: 'time', seconds: '60' }, null],
  ['an offer that is not there', { answer: 'session', choice: 2 }, null],
  ['an offer before the first', { answer: 'session', choice: -1 }, null],
  ['an offer in words', { answer: 'session', choice: '0' }, null],
  ['no answer', { answer: undefined }, null],
  ['an invalid kind', { answer: 'constructor' }, null],
  ['a message', { answer: 'deny-message', message: ' use pnpm ' }, { kind: 'deny-message', message: 'use pnpm' }],
  ['an invalid message', { answer: 'deny-message', message: 7 }, { kind: 'deny' }],
]

describe('an answer from outside', () => {
  it.each(forms)('%s', (_, form, answer) => expect(answerOf(view, grants, form)).toEqual(answer))

  it('is only one that was offered', () => {
    const shared = withAnswers(view, ['once', 'deny'])
    expect(shared.offers).toEqual([])
    for (const { kind } of ANSWERS.filter(({ saves }) => saves))
      expect(answerOf(shared, grants, { answer: kind, seconds: 60 })).toBeNull()
  })

  it('has every kind there is', () => {
    expect(view.answers).toEqual(ANSWERS.map(({ kind }) => kind))
    expect(withAnswers(view, ['once', 'always']).answers).toEqual(['once', 'always'])
  })
})
