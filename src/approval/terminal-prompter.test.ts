import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PartDecision } from '../policy/decision.ts'
import { cutTo, pieces, widthOf, wrapWords } from '../scan/display-text.ts'
import { answerOf, askView } from './ask-view.ts'
import { type PromptState, promptRows } from './prompt-view.ts'
import type { Answer, ApprovalRequest } from './prompter.ts'
import {
  answerTo,
  type PromptClock,
  type PromptPlace,
  type PromptTerminal,
  terminalPrompter,
} from './terminal-prompter.ts'

const start: PromptState = { choice: 0, scroll: null, step: 'answer', message: '', whole: false, armed: true }
const screen = { columns: 80, rows: 24 }

function requestOf(subject: string, more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  const part: PartDecision = {
    kind: 'command',
    text: subject,
    decision: 'ask',
    span: { start: 0, end: 3 },
    reason: { code: 'not-granted', message: `No grant covers \`${subject}\`.` },
    rules: [{ rule: 'capabilities.allow.commands', source: 'cordon.toml:3:1' }],
    step: 4,
  }
  return {
    tool: 'bash',
    subject,
    input: { command: subject },
    call: 'hash',
    once: 'hash',
    facts: null,
    decision: { decision: 'ask', reason: part.reason, rules: part.rules, segments: [part] },
    worst: { bound: 'lost', hosts: [], labels: [], text: 'changes project files.' },
    asks: [part],
    suggestions: [
      { kind: 'command', value: 'npm test', admits: 'exactly this command' },
      { kind: 'command', value: 'npm test:*', admits: 'npm test with any further words' },
    ],
    ...more,
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes of the prompt itself.
const withoutStyle = (row: string) => row.replace(/\u001b\[(?:1|2|4|7|22|24|27)m/g, '')

describe('text of strangers', () => {
  it('counts the cells of wide characters and cuts by them', () => {
    expect(widthOf('日本😀é')).toBe(7)
    expect(cutTo('日本語', 4)).toBe('日…')
    expect(wrapWords('ab 日本語日本語 cd', 6)).toEqual(['ab', '日本語', '日本語', 'cd'])
  })
})

describe('the prompt', () => {
  it('never contains a control or invisible character of the command, and no row is too wide', () => {
    const hostile = fc.string({ unit: 'binary', maxLength: 400 })
    fc.assert(
      fc.property(
        hostile,
        fc.integer({ min: 20, max: 200 }),
        fc.integer({ min: 8, max: 60 }),
        (text, columns, height) => {
          const request = requestOf(text, {
            where: text,
            suggestions: [{ kind: 'command', value: text, admits: text }],
          })
          const view = askView(request)
          const rows = promptRows(view, { ...start, message: text, step: 'message' }, { columns, rows: height })
          for (const row of [...rows, ...promptRows(view, start, { columns, rows: height })].map(withoutStyle)) {
            expect(pieces(row).filter((piece) => piece.escape)).toEqual([])
            expect(widthOf(row)).toBeLessThanOrEqual(columns)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('shows tool, command, reason, rule, grant and keys', () => {
    const text = promptRows(askView(requestOf('npm test')), start, screen)
      .map(withoutStyle)
      .join('\n')
    for (const part of [
      'cordon asks: bash',
      '│ npm test',
      'No grant covers',
      'cordon.toml:3:1',
      'save command npm test',
      'exactly this command',
      'y once',
      'd deny always',
    ]) {
      expect(text).toContain(part)
    }
  })

  it('underlines the segment that asks, and opens a long script in place', () => {
    const script = `${'true\n'.repeat(80)}rm -rf x`
    const base = requestOf(script)
    const asks = [{ ...base.asks[0]!, span: { start: 400, end: 408 } }]
    const rows = promptRows(askView({ ...base, asks }), start, screen)
    expect(rows.join('\n')).toContain('\u001b[4mr\u001b[24m\u001b[4mm')
    expect(rows.join('\n')).toMatch(/more rows of \d+/)
    expect(rows.length).toBeLessThanOrEqual(24)
  })

  it('offers nothing to save where nothing should be', () => {
    const text = promptRows(askView(requestOf('npm test', { suggestions: [] })), start, screen)
      .map(withoutStyle)
      .join('\n')
    expect(text).toContain('asked every time')
    expect(text).not.toContain('always')
  })
})

const request = requestOf('npm test')
const [exact, open] = request.suggestions
const keyRows: readonly { name: string; keys: readonly string[]; answer: Answer | null }[] = [
  { name: 'y', keys: ['y'], answer: { kind: 'once' } },
  { name: 's', keys: ['s', '\r'], answer: { kind: 'session', grant: exact! } },
  { name: 'broadened', keys: ['\u001b[C', '\u001b[C', 's', '\r'], answer: { kind: 'session', grant: open! } },
  {
    name: 'broadened and narrowed',
    keys: ['\u001b[C', '\u001b[D', 'a', '\r'],
    answer: { kind: 'always', grant: exact! },
  },
  { name: 'a time', keys: ['t', '2'], answer: { kind: 'time', grant: exact!, seconds: 3600 } },
  { name: 'a time and back', keys: ['t', '\u001b', 'n'], answer: { kind: 'deny' } },
  { name: 'never', keys: ['d', '\r'], answer: { kind: 'deny-always', grant: exact! } },
  {
    name: 'a message',
    keys: ['m', 'use', ' pnpm', '!', '\u007f', '\r'],
    answer: { kind: 'deny-message', message: 'use pnpm' },
  },
  {
    name: 'a message with y in it is not a yes',
    keys: ['m', 'y', '\r'],
    answer: { kind: 'deny-message', message: 'y' },
  },
  { name: 'an empty message is a no', keys: ['m', '\r'], answer: { kind: 'deny' } },
  { name: 'a single key is not an answer that is kept', keys: ['a'], answer: null },
  { name: 'nor is one with another after it', keys: ['a', 'n', 's', '\u001b', '\r'], answer: null },
  { name: 'Enter is not an answer', keys: ['\r'], answer: null },
  { name: 'several keys at once are no answer', keys: ['yy', 'y\r', '\u001b[200~y\u001b[201~'], answer: null },
  { name: 'upper case is not an answer', keys: ['Y', 'A'], answer: null },
]

describe('keys', () => {
  it.each(keyRows)('$name', ({ keys, answer }) => {
    let state = start
    let found: Answer | null = null
    for (const key of keys) {
      const turn = answerTo(askView(request), screen, key, state)
      if ('answer' in turn) found = answerOf(askView(request), request.suggestions, turn.answer)
      else state = turn.state
    }
    expect(found).toEqual(answer)
  })
})

function fakeTerminal(): PromptTerminal & {
  press(keys: string | null): void
  readonly closed: number
  readonly shown: string
  fails: boolean
} {
  let onKeys: (keys: string | null) => void = () => {}
  const terminal = {
    closed: 0,
    shown: '',
    fails: false,
    screen: () => screen,
    show: (rows: readonly string[]) => {
      if (terminal.fails) throw new Error('the terminal is gone')
      terminal.shown = rows.map(withoutStyle).join('\n')
    },
    listen: (listener: (keys: string | null) => void) => {
      onKeys = listener
      return () => {
        onKeys = () => {}
      }
    },
    close: () => {
      terminal.closed++
    },
    press: (keys: string | null) => onKeys(keys),
  }
  return terminal
}

describe('the terminal prompter', () => {
  const ends: readonly { name: string; keys: string | null }[] = [
    { name: 'Ctrl-C', keys: '\u0003' },
    { name: 'Ctrl-D', keys: '\u0004' },
    { name: 'the end of the input', keys: null },
  ]
  it.each(ends)('takes $name as no, and puts the terminal back', async ({ keys }) => {
    const terminal = fakeTerminal()
    const answer = terminalPrompter({ open: () => terminal }).ask(request, new AbortController().signal)
    terminal.press(keys)
    expect(await answer).toEqual({ kind: 'deny' })
    expect(terminal.closed).toBe(1)
  })

  it('ends with its signal, and puts the terminal back', async () => {
    const terminal = fakeTerminal()
    const abort = new AbortController()
    const answer = terminalPrompter({ open: () => terminal }).ask(request, abort.signal)
    abort.abort()
    await expect(answer).rejects.toThrow('aborted')
    expect(terminal.closed).toBe(1)
  })

  it('fails, and puts the terminal back, when it cannot be drawn', async () => {
    const terminal = fakeTerminal()
    terminal.fails = true
    await expect(terminalPrompter({ open: () => terminal }).ask(request, new AbortController().signal)).rejects.toThrow(
      'gone',
    )
    expect(terminal.closed).toBe(1)
  })

  it('takes an option by its number, own words, or nothing', async () => {
    for (const [keys, expected] of [
      [['2', '\r'], 'blue'],
      [['teal', '\r'], 'teal'],
      [['\u001b'], null],
    ] as const) {
      const terminal = fakeTerminal()
      const answer = terminalPrompter({ open: () => terminal }).question!(
        'Which?',
        ['red', 'blue'],
        new AbortController().signal,
      )
      for (const key of keys) terminal.press(key)
      expect(await answer).toBe(expected)
    }
  })
})

/** A clock that a test winds on by itself. */
function fakeClock(): PromptClock & { pass(ms: number): void } {
  let now = 0
  let waiting: { at: number; work: () => void }[] = []
  return {
    now: () => now,
    after: (ms, work) => {
      const entry = { at: now + ms, work }
      waiting.push(entry)
      return () => {
        waiting = waiting.filter((other) => other !== entry)
      }
    },
    pass: (ms) => {
      now += ms
      for (const { work } of waiting.filter(({ at }) => at <= now)) work()
      waiting = waiting.filter(({ at }) => at > now)
    },
  }
}

function asked(screenOf: PromptPlace['screen']) {
  const terminal = fakeTerminal()
  const clock = fakeClock()
  const unread: string[] = []
  const place = () => ({ screen: screenOf, unread: (keys: string) => void unread.push(keys) })
  let answer: Answer | null = null
  const prompter = terminalPrompter({ open: () => terminal, clock, place })
  const done = prompter.ask(request, new AbortController().signal).then((given) => {
    answer = given
  })
  const given = async (): Promise<Answer | null> => {
    await Promise.race([done, Promise.resolve().then(() => Promise.resolve())])
    return answer
  }
  return { terminal, clock, unread, given }
}

describe('keys that were meant for somebody else', () => {
  it('are no answer until nothing was typed for a while, in our own screen too', async () => {
    const { terminal, clock, given } = asked('own')
    clock.pass(100)
    terminal.press('a')
    clock.pass(170)
    terminal.press('y')
    expect(await given()).toBeNull()
    clock.pass(500)
    terminal.press('y')
    expect(await given()).toEqual({ kind: 'once' })
  })

  const words: readonly { name: string; keys: readonly string[]; answer: Answer | null }[] = [
    { name: 'a single y', keys: ['y'], answer: null },
    { name: 'a single a', keys: ['a'], answer: null },
    { name: 'a y and Enter', keys: ['y', '\r'], answer: null },
    { name: 'the word for once', keys: [...'allow', '\r'], answer: { kind: 'once' } },
    { name: 'the word for the run', keys: [...'session', '\r'], answer: { kind: 'session', grant: exact! } },
    { name: 'the word for an hour', keys: [...'hour', '\r'], answer: { kind: 'time', grant: exact!, seconds: 3600 } },
    { name: 'always, which is answered elsewhere', keys: [...'always', '\r'], answer: null },
    { name: 'never, which is answered elsewhere', keys: [...'never', '\r'], answer: null },
    { name: 'a word of Object', keys: [...'constructor', '\r'], answer: null },
    { name: 'a pasted word', keys: ['allow\r'], answer: null },
    { name: 'Enter alone: no', keys: ['\r'], answer: { kind: 'deny' } },
    { name: 'Escape: no', keys: ['\u001b'], answer: { kind: 'deny' } },
  ]
  it.each(words)('in somebody else’s screen: $name', async ({ keys, answer }) => {
    const { terminal, clock, given } = asked('borrowed')
    clock.pass(1000)
    for (const key of keys) {
      clock.pass(170)
      terminal.press(key)
    }
    expect(await given()).toEqual(answer)
  })

  it('an invalid word says why it is not an answer', () => {
    const { terminal, clock } = asked('borrowed')
    clock.pass(1000)
    for (const key of ['y', '\r']) terminal.press(key)
    expect(terminal.shown).toContain('could be meant for the command')
    terminal.press('a')
    expect(terminal.shown).not.toContain('could be meant for the command')
  })

  it.each([
    ['once and Enter: the command goes on', '\r', []],
    ['twice: the command gets it', '\u0003', ['\u0003']],
  ])('Ctrl-C %s', async (_, key, passed) => {
    const { terminal, unread, given } = asked('borrowed')
    terminal.press('\u0003')
    expect([terminal.shown, await given()]).toEqual([expect.stringContaining('The answer is no'), null])
    terminal.press(key)
    expect([await given(), unread]).toEqual([{ kind: 'deny' }, passed])
  })

  it('go to the command that had the screen', async () => {
    const { terminal, clock, unread, given } = asked('borrowed')
    expect(terminal.shown).toContain('Keys go to the command')
    for (const key of 'ple') {
      clock.pass(170)
      terminal.press(key)
    }
    clock.pass(1000)
    expect(terminal.shown).toContain('allow once')
    for (const key of ['\u001b[I', ...'allow', '\r']) terminal.press(key)
    expect([unread.join(''), await given()]).toEqual(['ple', { kind: 'once' }])
  })

  const WORD = fc.constantFrom(
    'please',
    'allow',
    'session',
    'hour',
    'yes',
    'always',
    'fix',
    'y',
    'a',
    's',
    'the bug',
    '',
  )
  const TEXT = fc.oneof(
    fc.array(WORD, { minLength: 1, maxLength: 6 }).map((all) => `${all.join(' ')}\r`),
    fc.string({ maxLength: 40 }),
    fc.string({ unit: 'binary', maxLength: 20 }),
  )

  it('1,000 random texts at 170 ms a key grant nothing', () => {
    return fc.assert(
      fc.asyncProperty(fc.constantFrom('own', 'borrowed'), TEXT, async (screenOf, text) => {
        const { terminal, clock, given } = asked(screenOf as PromptPlace['screen'])
        for (const key of text) {
          clock.pass(170)
          terminal.press(key)
        }
        expect([null, 'deny']).toContain((await given())?.kind ?? null)
      }),
      { numRuns: 1000 },
    )
  })

  it('nor do texts of several words after any pause, in somebody else’s screen', () => {
    const text = fc.array(WORD, { minLength: 2, maxLength: 6 }).map((all) => `${all.join(' ')}\r`)
    return fc.assert(
      fc.asyncProperty(
        text.filter((one) => !/^ *(?:allow|session|hour) *\r$/.test(one)),
        async (typed) => {
          const { terminal, clock, given } = asked('borrowed')
          clock.pass(5000)
          for (const key of typed) {
            clock.pass(170)
            terminal.press(key)
          }
          expect([null, 'deny']).toContain((await given())?.kind ?? null)
        },
      ),
      { numRuns: 300 },
    )
  })
})
