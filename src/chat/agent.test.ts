/** The pure parts of the loop: which calls run at once, what stays when a talk is shortened, and how a broken one is mended. */

import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type AssistantMessage,
  type CallPart,
  type Message,
  NO_USAGE,
  type ProviderEvent,
  ProviderFault,
  type Stop,
} from '../providers/conversation.ts'
import { expandHeaders, parseConfig } from '../providers/profile.ts'
import { thisMachine } from '../system/machine.ts'
import { Agent } from './agent.ts'
import { footprintOf, groupCalls } from './calls.ts'
import { keptOf } from './compaction.ts'
import type { Model } from './model.ts'
import { listTranscripts, mended, NOTHING_SPENT, openTranscript } from './transcript.ts'

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  wire: 'anthropic',
  parts: ids.map((id) => ({ type: 'call', id, name: 'read', input: {} })),
})

describe('calls at once', () => {
  const touched: Record<string, Parameters<typeof footprintOf>[0]> = {
    readA: { reads: ['src/a.ts'] },
    readAll: { lists: ['src'] },
    writeA: { writes: ['src/a.ts'] },
    writeB: { writes: ['b.ts'] },
    run: { command: 'make' },
    unknown: null,
  }
  it.each<[note: string, names: string[], groups: string[][]]>([
    ['reads', ['readA', 'readAll', 'readA'], [['readA', 'readAll', 'readA']]],
    ['writes of different files', ['writeA', 'writeB'], [['writeA', 'writeB']]],
    ['a write below what is listed', ['readAll', 'writeA'], [['readAll'], ['writeA']]],
    ['a command runs alone', ['readA', 'run', 'readA'], [['readA'], ['run'], ['readA']]],
    ['what nobody can tell runs alone', ['unknown', 'unknown'], [['unknown'], ['unknown']]],
  ])('%s', (_, names, groups) => {
    const parts = names.map((name): CallPart => ({ type: 'call', id: name, name, input: {} }))
    const found = groupCalls(parts, ({ name }) => footprintOf(touched[name]!, '/project'))
    expect(found.map((group) => group.map(({ name }) => name))).toEqual(groups)
  })
})

describe('conversations', () => {
  it('what is kept begins with words of the person', () => {
    const messages = [user('old'), calls('a'), { role: 'results', results: [] } as Message, user('new'), calls('b')]
    expect(keptOf(messages, 10_000)).toBe(2)
    expect(keptOf([user('x'.repeat(10_000)), user('y'.repeat(10_000))], 100)).toBe(0)
  })

  it('a call without a result gets one that says so', () => {
    expect(mended([user('go'), calls('a', 'b')]).at(-1)).toMatchObject({
      role: 'results',
      results: [{ id: 'a' }, { id: 'b' }],
    })
  })
})

describe('on disk', () => {
  let base: string
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'cordon-transcript-'))
  })
  afterEach(() => rmSync(base, { recursive: true, force: true }))

  it('a conversation that was cut at any byte is whole up to its last line', () => {
    const machine = { ...thisMachine(), stateDir: join(base, 'state') }
    const first = openTranscript(machine, 'one', '/p')
    first.add(user('héllo'))
    first.add(calls('a'), { ...NOTHING_SPENT, turns: 1 })
    first.compacted('short', 1, { ...NOTHING_SPENT, turns: 2 })
    first.add(user('again'))
    first.set({ mode: 'plan' })
    first.close()
    const path = join(machine.stateDir, 'chat/one.jsonl')
    const bytes = readFileSync(path)
    const lines: number[] = []
    for (let size = bytes.length; size > bytes.indexOf(10); size -= 3) {
      writeFileSync(path, bytes)
      truncateSync(path, size)
      const again = openTranscript(machine, 'one', '/p')
      lines.push(again.restored.messages.length)
      again.close()
      expect(readFileSync(path).at(-1)).toBe(10)
    }
    expect(lines[0]).toBe(4)
    writeFileSync(path, bytes)
    expect(listTranscripts(machine, '/p')).toMatchObject([{ id: 'one', title: 'héllo' }])
    expect(listTranscripts(machine, '/q')).toEqual([])
    const open = openTranscript(machine, 'one', '/p')
    expect(open.restored).toMatchObject({ settings: { mode: 'plan' }, spent: { turns: 2 } })
    expect(() => openTranscript(machine, 'one', '/p')).toThrow()
    open.close()
    expect(() => openTranscript(machine, 'one', '/q')).toThrow(/belongs to/)
  })

  it.each<[note: string, line: string]>([
    ['half of a line', '{"type":"settings","settings":{"mo'],
    ['a line that is not an object', '[]'],
    ['a line of a kind that nobody writes', '{"type":"other"}'],
    ['a message of nobody', '{"type":"message","message":{"role":"system","parts":[]}}'],
    [
      'a call without a name',
      '{"type":"message","message":{"role":"assistant","wire":"gemini","parts":[{"type":"call"}]}}',
    ],
    ['less than nothing spent', '{"type":"cleared","spent":{"usage":{},"cost":-5,"turns":0}}'],
  ])('a conversation in which somebody wrote is not gone on with: %s', (_, line) => {
    const machine = { ...thisMachine(), stateDir: join(base, 'state') }
    const first = openTranscript(machine, 'one', '/p')
    first.add(user('hello'))
    first.set({ mode: 'plan' })
    first.close()
    const path = join(machine.stateDir, 'chat/one.jsonl')
    const [head, ...rest] = readFileSync(path, 'utf8').split('\n')
    writeFileSync(path, [head, line, ...rest].join('\n'))
    expect(() => openTranscript(machine, 'one', '/p')).toThrow(expect.objectContaining({ code: 'state-corrupt' }))
  })
})

describe('the loop', () => {
  const said = (parts: AssistantMessage['parts'], stop: Stop, usage = NO_USAGE): ProviderEvent => ({
    type: 'done',
    message: { role: 'assistant', wire: 'openai-chat', parts },
    stop,
    usage,
  })
  const cut = new ProviderFault('provider-cut', 'it broke off', { resumable: true })
  /** Answers one after the other; an error in one breaks it off there. */
  function agentOf(answers: readonly (readonly (ProviderEvent | Error)[])[]) {
    const ran: string[] = []
    const requests: Parameters<Model['ask']>[0][] = []
    const model: Model = {
      profile: 'p',
      name: 'm',
      context: 100_000,
      maxTokens: 1000,
      cost: ({ input, output }) => (input + output) / 1000,
      async *ask(request) {
        requests.push({ ...request, messages: [...request.messages] })
        for (const event of answers[Math.min(requests.length, answers.length) - 1]!) {
          if (event instanceof Error) throw event
          yield event
        }
      },
    }
    const agent = new Agent({
      model: () => model,
      system: () => 'system',
      transcript: { add: () => {}, compacted: () => {}, cleared: () => {} },
      report: () => {},
      tools: {
        offered: () => [],
        call: async (name) => {
          ran.push(name)
          return { status: 'failed', decision: null, error: { code: 'x', message: name, remedy: null } }
        },
        footprint: () => ({ reads: [], writes: [] }),
        text: (result) => (result.status === 'failed' ? result.error.message : ''),
      },
    })
    const turn = (limits: object = {}) =>
      agent.turn(
        { role: 'user', parts: [{ type: 'text', text: 'go' }] },
        { signal: new AbortController().signal, ...limits },
      )
    return { agent, ran, requests, turn }
  }

  it('an answer that broke off in a thought or a call is asked for again, and nothing of it ran', async () => {
    const whole = said([{ type: 'text', text: 'ok' }], 'end')
    for (const event of [
      { type: 'thinking', text: 'hm' },
      { type: 'call', id: 'a', name: 'write' },
    ] as const) {
      const { turn, ran, requests } = agentOf([[event, cut], [whole]])
      expect(await turn()).toEqual({ reason: 'done', text: 'ok' })
      expect([ran, requests.length]).toEqual([[], 2])
    }
    // Where nothing came at all, the attempts are the model's own.
    const { turn, requests } = agentOf([[cut], [whole]])
    expect((await turn()).reason).toBe('failed')
    expect(requests).toHaveLength(1)
  })

  it('calls of one name for two get distinct names, here and in the next answer', async () => {
    const twice = ['same', 'same', 'no name!'].map((id, index) => ({
      type: 'call' as const,
      id,
      name: `t${index}`,
      input: {},
    }))
    const { turn, ran, agent } = agentOf([[said(twice, 'calls')], [said(twice, 'calls')], [said([], 'end')]])
    await turn()
    expect(ran).toEqual(['t0', 't1', 't2', 't0', 't1', 't2'])
    const created = agent.messages.flatMap((one) => (one.role === 'assistant' ? one.parts : []))
    const ids = created.flatMap((part) => (part.type === 'call' ? [part.id] : []))
    expect(new Set(ids).size).toBe(6)
    expect(ids.every((id) => /^[A-Za-z0-9_-]{1,64}$/.test(id))).toBe(true)
    const results = agent.messages.flatMap((one) => (one.role === 'results' ? one.results : []))
    expect(results.map(({ id, text }) => [id, text])).toEqual(ids.map((id, index) => [id, `t${index % 3}`]))
  })

  it('a budget applies even if a server counts nothing, or too much', async () => {
    const calling = said([{ type: 'call', id: 'a', name: 'x', input: {} }], 'calls')
    const silent = agentOf([[calling]])
    expect(await silent.turn({ budget: 0.5 })).toEqual({ reason: 'budget' })
    expect(silent.requests.length).toBeLessThan(30)
    const loud = agentOf([
      [said([{ type: 'call', id: 'a', name: 'x', input: {} }], 'calls', { ...NO_USAGE, input: 1e308 })],
    ])
    expect(await loud.turn({ budget: 5 })).toEqual({ reason: 'budget' })
    expect(loud.requests).toHaveLength(1)
  })

  it('a summary is asked for with the tools, and as one text when the model calls instead', async () => {
    const { turn, agent, requests } = agentOf([
      [said([{ type: 'text', text: 'first' }], 'end')],
      [said([{ type: 'call', id: 'a', name: 'x', input: {} }], 'calls')],
      [said([{ type: 'text', text: 'in short' }], 'end')],
    ])
    await turn()
    await agent.compact(new AbortController().signal)
    expect(requests.map(({ system }) => system)).toEqual(['system', 'system', ''])
    expect(JSON.stringify(requests[2]!.messages)).toContain('User: go')
    expect(JSON.stringify(agent.messages)).toContain('in short')
  })
})

describe('profiles', () => {
  it('a key goes where it was stored for, and nowhere else', () => {
    const { profiles } = parseConfig(
      { provider: 'anthropic', profiles: { proxy: { provider: 'anthropic', base_url: 'https://proxy.example' } } },
      'x',
    )
    expect(profiles.get('anthropic')!.keyNames).toContain('api-key')
    expect(profiles.get('proxy')!.keyNames).toEqual(['api-key.profiles.proxy', 'api-key.proxy'])
    expect(profiles.get('proxy')!.keyVariable).toBe(null)
  })

  it.each<[note: string, config: unknown, message: RegExp]>([
    ['a key in it', { provider: 'anthropic', key: 'x' }, /no setting "key"/],
    ['another profile than there is', { profile: 'x' }, /no profile "x"/],
    ['an invalid URL', { profiles: { a: { base_url: 'file:///x' } } }, /http/],
    ['a header with a line end', { profiles: { a: { base_url: 'https://x', headers: { a: 'b\r\nc' } } } }, /headers/],
  ])('%s is an error', (_, config, message) => {
    expect(() => parseConfig(config, 'x')).toThrow(message)
  })

  it('headers expand their variables, and one that is not set is an error', () => {
    const profile = parseConfig(
      { profiles: { a: { base_url: 'https://x', headers: { 'X-A': 'b ${C}' } } } },
      'x',
    ).profiles.get('a')!
    expect(expandHeaders(profile, { C: 'd' })).toEqual({ 'x-a': 'b d' })
    expect(() => expandHeaders(profile, {})).toThrow(/variable C/)
  })
})
