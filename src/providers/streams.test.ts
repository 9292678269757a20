/** Every wire reads its recorded-form streams however they are cut, as the AI SDK reads them, and nothing that broke off. */

import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { describe, expect, it } from 'vitest'
import { type StreamRow, streams } from '../../test/model-server/streams.ts'
import { type AssistantMessage, NO_USAGE, type ProviderEvent, ProviderFault, type WireName } from './conversation.ts'
import { EventStreamReader } from './wire.ts'
import { wires } from './wires/wires.ts'

/** Reads a body that comes in these pieces. */
function read(wire: WireName, pieces: readonly Uint8Array[]): ProviderEvent[] {
  const events = new EventStreamReader()
  const reader = wires[wire].reader()
  const reported = pieces.flatMap((bytes) => events.take(bytes).flatMap((event) => reader.take(event)))
  return [...reported, ...reader.end()]
}

function doneOf(events: readonly ProviderEvent[]) {
  const [done, ...rest] = events.filter((event) => event.type === 'done')
  if (!done || rest.length > 0) throw new Error(`${rest.length + 1} ends`)
  return done
}

function said(events: readonly ProviderEvent[], type: 'text' | 'thinking'): string {
  return events.flatMap((event) => (event.type === type ? [event.text] : [])).join('')
}

describe.each(streams)('$wire: $note', (row) => {
  const bytes = Buffer.from(row.body)
  const whole = read(row.wire, [bytes])

  it('is read', () => {
    const { message, stop, usage } = doneOf(whole)
    expect(message).toEqual({ role: 'assistant', wire: row.wire, parts: row.parts })
    expect(stop).toBe(row.stop)
    expect(usage).toEqual({ ...NO_USAGE, ...usage, ...row.usage })
    for (const type of ['text', 'thinking'] as const) {
      expect(said(whole, type)).toBe(row.parts.flatMap((part) => (part.type === type ? [part.text] : [])).join(''))
    }
  })

  it('is read the same when it is cut at any byte, and byte by byte', () => {
    const wanted = JSON.stringify(whole)
    const unlike = Array.from({ length: bytes.length + 1 }, (_, at) => at).filter(
      (at) => JSON.stringify(read(row.wire, [bytes.subarray(0, at), bytes.subarray(at)])) !== wanted,
    )
    expect(unlike).toEqual([])
    expect(
      read(
        row.wire,
        Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)),
      ),
    ).toEqual(whole)
  })

  it('is an error that can be resumed when it ends at any byte before its end', () => {
    const reached = Array.from({ length: bytes.length }, (_, at) => {
      try {
        return JSON.stringify(doneOf(read(row.wire, [bytes.subarray(0, at)])).message.parts)
      } catch (error) {
        if (error instanceof ProviderFault && error.resumable) return null
        throw error
      }
    })
    // What only closes the stream (a last [DONE]) may be missing; nothing of the answer may.
    const { parts } = doneOf(whole).message
    expect(reached.filter((found) => found !== null && found !== JSON.stringify(parts))).toEqual([])
    expect(reached[Math.floor(bytes.length / 2)]).toBe(null)
  })

  it('is read as the AI SDK reads it', async () => {
    const oracle = await readByOracle(row)
    const { message, stop } = doneOf(whole)
    const own = { text: said(whole, 'text'), thinking: said(whole, 'thinking'), calls: callsOf(message), stop }
    if (row.unlike === undefined) expect(own).toEqual(oracle)
    else expect(own).not.toEqual(oracle)
  })
})

function callsOf({ parts }: AssistantMessage): unknown[] {
  return parts.flatMap((part) =>
    part.type === 'call' ? [{ name: part.name, input: part.problem === undefined ? part.input : null }] : [],
  )
}

async function readByOracle({ wire, body }: StreamRow) {
  const options = {
    apiKey: 'none',
    baseURL: 'http://oracle.invalid/v1',
    fetch: async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
  }
  const model = {
    anthropic: () => createAnthropic(options)('m'),
    'openai-chat': () => createOpenAICompatible({ ...options, name: 'oracle' })('m'),
    'openai-responses': () => createOpenAI(options).responses('gpt-5'),
    gemini: () => createGoogleGenerativeAI(options)('gemini-2.5-pro'),
  }[wire]()
  const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] })
  const found = { text: '', thinking: '', calls: [] as unknown[], stop: '' }
  for await (const part of stream) {
    if (part.type === 'text-delta') found.text += part.delta
    if (part.type === 'reasoning-delta') found.thinking += part.delta
    if (part.type === 'tool-call') found.calls.push({ name: part.toolName, input: parsed(part.input) })
    if (part.type === 'finish') found.stop = STOPS[part.finishReason.unified] ?? part.finishReason.unified
  }
  return found
}

const STOPS: Readonly<Record<string, string>> = {
  stop: 'end',
  'tool-calls': 'calls',
  length: 'length',
  'content-filter': 'refused',
}

function parsed(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    return null
  }
}

describe('what no answer looks like', () => {
  const sent = (...events: readonly object[]) =>
    Buffer.from(events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''))
  const start = { type: 'message_start', message: { usage: {} } }
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
  it.each<[note: string, wire: WireName, body: Buffer, code: string, resumable: boolean]>([
    ['an event that is not JSON', 'anthropic', Buffer.from('data: {"type":\n\n'), 'provider-malformed', true],
    ['an event that is a list', 'openai-chat', Buffer.from('data: []\n\n'), 'provider-malformed', true],
    ['the start twice', 'anthropic', sent(start, start), 'provider-malformed', true],
    ['a block twice', 'anthropic', sent(start, block, block), 'provider-malformed', true],
    [
      'a piece of a block that was never opened',
      'anthropic',
      sent(start, { type: 'content_block_delta', index: 4, delta: { type: 'text_delta', text: 'x' } }),
      'provider-malformed',
      true,
    ],
    [
      'the end before the blocks are closed',
      'anthropic',
      sent(start, block, { type: 'message_stop' }),
      'provider-malformed',
      true,
    ],
    [
      'an overload in the middle',
      'anthropic',
      sent(start, { type: 'error', error: { type: 'overloaded_error', message: 'later' } }),
      'provider-error',
      true,
    ],
    [
      'a request that is refused in the middle',
      'anthropic',
      sent(start, { type: 'error', error: { type: 'invalid_request_error', message: 'no' } }),
      'provider-error',
      false,
    ],
    [
      'an error instead of a chunk',
      'openai-chat',
      sent({ error: { message: 'no', code: 'server_error' } }),
      'provider-error',
      true,
    ],
    [
      'a response that failed',
      'openai-responses',
      sent({ type: 'response.failed', response: { error: { code: 'server_error', message: 'no' } } }),
      'provider-error',
      true,
    ],
    [
      'a call that its model wrote wrongly',
      'gemini',
      sent({ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }),
      'provider-malformed',
      true,
    ],
  ])('%s (%s)', (_, wire, body, code, resumable) => {
    expect(() => read(wire, [body])).toThrow(expect.objectContaining({ code, resumable }))
  })

  it.each<[note: string, wire: WireName, body: Buffer]>([
    [
      'an item that is sent twice',
      'openai-responses',
      sent(
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: { type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' },
        },
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: { type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' },
        },
        { type: 'response.completed', response: {} },
        { type: 'response.completed', response: {} },
      ),
    ],
    [
      'a call whose id and name are repeated with every piece',
      'openai-chat',
      sent(
        ...['{"a"', ':1}'].map((args) => ({
          choices: [{ delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'n', arguments: args } }] } }],
        })),
        { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
      ),
    ],
  ])('is one call: %s', (_, wire, body) => {
    const { message } = doneOf(read(wire, [body]))
    expect(message.parts).toHaveLength(1)
  })
})
