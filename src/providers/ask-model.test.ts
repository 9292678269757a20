/** Asking a model over a transport that fails in every way: what is tried again, what is given up, and what is closed. */

import { describe, expect, it } from 'vitest'
import { type AskOptions, askModel, retryAfter, type TransportAnswer } from './ask-model.ts'
import type { ProviderEvent, ProviderFault } from './conversation.ts'
import { EventStreamReader } from './wire.ts'
import { openaiChat } from './wires/openai-chat.ts'

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ delta, finish_reason: finish }] })}\n\n`
const WHOLE = `${chunk({ content: 'hé' })}${chunk({}, 'stop')}data: [DONE]\n\n`

type Body = () => AsyncGenerator<Uint8Array>

/** Bodies and statuses one after the other; what was closed early is counted. */
function world(answers: readonly { status?: number; headers?: Record<string, string>; body: Body }[]) {
  const seen = { requests: 0, closed: 0, waits: [] as number[] }
  const stop = new AbortController()
  const options: AskOptions = {
    transport: async (): Promise<TransportAnswer> => {
      const { status = 200, headers = {}, body } = answers[Math.min(seen.requests++, answers.length - 1)]!
      return { status, headers, body: watched(body) }
    },
    signal: stop.signal,
    sleep: async (wait) => void seen.waits.push(wait),
    random: () => 0.5,
    now: () => 0,
  }
  async function* watched(body: Body): AsyncGenerator<Uint8Array> {
    let ended = false
    try {
      yield* body()
      ended = true
    } finally {
      if (!ended) seen.closed++
    }
  }
  const ask = (more: Partial<AskOptions> = {}) =>
    askModel(
      { wire: openaiChat, baseUrl: 'https://m.example/v1/', key: null, headers: {} },
      { model: 'm', system: '', messages: [], tools: [], maxTokens: 1 },
      { ...options, ...more },
    )
  return { seen, stop, ask }
}

const sends = (...texts: readonly string[]): Body =>
  async function* () {
    for (const text of texts) yield Buffer.from(text)
  }

async function all(events: AsyncGenerator<ProviderEvent>): Promise<readonly string[]> {
  const types: string[] = []
  for await (const event of events) types.push(event.type)
  return types
}

const fault = (found: Partial<ProviderFault>) => expect.objectContaining(found)

describe('tried again', () => {
  it('before anything came, with growing waits or when the provider says', async () => {
    const { seen, ask } = world([
      { status: 529, body: sends('') },
      { status: 503, headers: { 'retry-after': '7' }, body: sends('') },
      { body: sends('') },
      { body: sends(WHOLE) },
    ])
    expect(await all(ask())).toEqual(['text', 'done'])
    expect(seen.waits).toEqual([500, 7000, 2000])
  })

  it('never once something came, however it ends', async () => {
    const { seen, ask } = world([{ body: sends(chunk({ content: 'half' })) }])
    await expect(all(ask())).rejects.toEqual(fault({ code: 'provider-cut', resumable: true }))
    expect(seen.requests).toBe(1)
  })

  it('not for a request that is wrong, nor for longer than anybody sits through', async () => {
    for (const answer of [
      { status: 400, body: sends('{"error":{"message":"no"}}') },
      { status: 429, headers: { 'retry-after': '3600' }, body: sends('') },
    ]) {
      const { seen, ask } = world([answer])
      await expect(all(ask())).rejects.toEqual(fault({ status: answer.status }))
      expect(seen.requests).toBe(1)
    }
  })
})

describe('given up', () => {
  const comments: Body = async function* () {
    for (;;) yield Buffer.from(': still here\n')
  }
  const words: Body = async function* () {
    for (;;) yield Buffer.from(chunk({ content: 'more and more ' }))
  }

  it.each<[note: string, body: Body]>([
    ['words without end', words],
    ['comments without end', comments],
  ])('%s, and the connection is closed', async (_, body) => {
    const { seen, ask } = world([{ body }])
    await expect(all(ask({ maxBytes: 1024 * 1024 }))).rejects.toEqual(
      fault({ code: 'provider-malformed', resumable: false }),
    )
    expect([seen.requests, seen.closed]).toEqual([1, 1])
  })

  it('an event of ever more lines, empty ones included', () => {
    const events = new EventStreamReader()
    const lines = Buffer.from('data:\n'.repeat(200_000))
    expect(() => {
      for (let round = 0; round < 20; round++) events.take(lines)
    }).toThrow(fault({ code: 'provider-malformed' }))
  })

  it('an answer that is cancelled, at any byte', async () => {
    const bytes = Buffer.from(WHOLE)
    for (let at = 0; at < bytes.length; at++) {
      const { seen, stop, ask } = world([
        {
          body: async function* () {
            yield bytes.subarray(0, at)
            stop.abort()
            yield bytes.subarray(at)
          },
        },
      ])
      await expect(all(ask())).rejects.toThrow(/abort/i)
      expect([seen.requests, seen.closed]).toEqual([1, 1])
    }
  })
})

it.each<[note: string, headers: Record<string, string>, wait: number | null]>([
  ['nothing', {}, null],
  ['seconds', { 'retry-after': '2' }, 2000],
  ['milliseconds first', { 'retry-after-ms': '30', 'retry-after': '2' }, 30],
  ['a date', { 'retry-after': 'Thu, 01 Jan 1970 00:00:05 GMT' }, 5000],
  ['a date that is over', { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
  ['less than nothing', { 'retry-after': '-5' }, null],
  ['words', { 'retry-after': 'soon' }, null],
])('waits as the answer says: %s', (_, headers, wait) => {
  expect(retryAfter(headers, 0)).toBe(wait)
})

it('events are the same with a byte order mark, lone carriage returns, and cut between the bytes of a letter', () => {
  const body = Buffer.from('\ufeffevent: a\rdata: hé\r\rdata:x\r\n\r\ndata\n\nid: 3\ndata: last\n')
  const events = [
    { event: 'a', data: 'hé' },
    { event: '', data: 'x' },
    { event: '', data: '' },
  ]
  for (let at = 0; at <= body.length; at++) {
    const reader = new EventStreamReader()
    expect([...reader.take(body.subarray(0, at)), ...reader.take(body.subarray(at))]).toEqual(events)
  }
})
