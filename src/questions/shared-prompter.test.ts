import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Answer, ApprovalRequest, Prompter } from '../approval/prompter.ts'
import { type Machine, thisMachine } from '../system/machine.ts'
import { openAsks } from './asks.ts'
import { sharedPrompter } from './shared-prompter.ts'
import { answerWaiting } from './waiting.ts'

let machine: Machine
beforeEach(() => {
  machine = { ...thisMachine(), stateDir: mkdtempSync(join(tmpdir(), 'cordon-asks-')) }
})
afterEach(() => rmSync(machine.stateDir, { recursive: true, force: true }))

const secret = `ghp_${'a1B2'.repeat(9)}`
const grant = { kind: 'command', value: `curl ${secret}`, admits: 'exactly that' } as const
const reason = { code: 'not-granted', message: 'It is not granted.' } as const
const request = {
  tool: 'bash',
  subject: `curl ${secret}`,
  input: { command: `curl ${secret}` },
  call: 'hash',
  facts: null,
  decision: { decision: 'ask', reason, rules: [], segments: [] },
  worst: { bound: 'lost', hosts: [], labels: [], text: 'anything' },
  asks: [],
  suggestions: [grant],
} as unknown as ApprovalRequest

interface Person {
  readonly prompter: Prompter
  readonly shown: string[]
  answer: (answer: Answer) => void
  wasAborted: boolean
}

function person(onceOnly = false): Person {
  const self: Person = {
    shown: [],
    answer: () => {},
    wasAborted: false,
    prompter: {
      name: 'terminal',
      onceOnly,
      tell: (text) => self.shown.push(text),
      ask: (_, signal) =>
        new Promise((resolve, reject) => {
          self.answer = resolve
          signal.addEventListener('abort', () => {
            self.wasAborted = true
            reject(signal.reason)
          })
        }),
    },
  }
  return self
}

const share = ({ prompter }: Person) => sharedPrompter(prompter, { machine, project: '/project', surface: 'chat' })
const open = () => openAsks(machine, Date.now())
const never = new AbortController().signal

it('an answer from elsewhere ends the prompt here, means what was really asked, and is shown', async () => {
  const here = person()
  const answered = share(here).ask(request, never)
  const [ask] = open()
  expect([ask!.host, ask!.view.subject.includes(secret), JSON.stringify(ask).includes(secret)]).toEqual([
    'chat',
    false,
    false,
  ])
  expect(answerWaiting(machine, ask!.id, { kind: 'session', choice: 0, by: 'page' })).toBeNull()
  expect(await answered).toEqual({ kind: 'session', grant, by: 'page' })
  expect([here.wasAborted, here.shown]).toEqual([true, ['Answered: “this session”, on the page.']])
  expect(answerWaiting(machine, ask!.id, { kind: 'deny', by: 'link' })).toContain(
    'answered already: “this session”, on the page',
  )
})

it('an answer here takes the question back from everywhere', async () => {
  const here = person()
  const answered = share(here).ask(request, never)
  const [ask] = open()
  here.answer({ kind: 'once' })
  expect(await answered).toEqual({ kind: 'once' })
  expect(open()).toEqual([])
  expect(answerWaiting(machine, ask!.id, { kind: 'once', by: 'page' })).toContain('at the terminal')
})

it('of two answers at the same time the first in the file counts, here too', async () => {
  const here = person()
  const answered = share(here).ask(request, never)
  const [ask] = open()
  answerWaiting(machine, ask!.id, { kind: 'deny', by: 'page' })
  here.answer({ kind: 'always', grant })
  expect(await answered).toEqual({ kind: 'deny', by: 'page' })
})

it.each([
  { given: { kind: 'session', choice: 7 }, note: 'an offer that is not there' },
  { given: { kind: 'time', choice: 0 }, note: 'a time without an end' },
  { given: { kind: 'time', choice: 0, seconds: 1e12 }, note: 'a time beyond every limit' },
  { given: { kind: 'yes' }, note: 'no answer at all' },
])('$note is a no', async ({ given }) => {
  const answered = share(person()).ask(request, never)
  answerWaiting(machine, open()[0]!.id, { ...given, by: 'page' } as never)
  expect(await answered).toEqual({ kind: 'deny', by: 'page' })
})

it('where clients share a session nothing can be saved from elsewhere', async () => {
  const answered = share(person(true)).ask(request, never)
  const [ask] = open()
  expect([ask!.view.offers, ask!.view.answers]).toEqual([[], ['once', 'deny', 'deny-message']])
  answerWaiting(machine, ask!.id, { kind: 'session', choice: 0, by: 'page' })
  expect(await answered).toEqual({ kind: 'deny', by: 'page' })
})

it('a question that is called off, or whose prompter fails, is withdrawn', async () => {
  const called = new AbortController()
  const answered = share(person()).ask(request, called.signal)
  called.abort(new Error('cancelled'))
  await expect(answered).rejects.toThrow('cancelled')
  const failing: Prompter = { name: 'x', ask: () => Promise.reject(new Error('nobody')) }
  await expect(sharedPrompter(failing, { machine, project: '/p', surface: 'mcp' }).ask(request, never)).rejects.toThrow(
    'nobody',
  )
  expect(open()).toEqual([])
})
