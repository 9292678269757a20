/** The revision without sessions (2026-07-28), from the text of its specification: envelopes, discovery, questions in results. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { META } from '../../../src/surfaces/mcp/revision.ts'
import { Rounds } from '../../../src/surfaces/mcp/rounds.ts'
import type { IncomingRequest, Json } from '../../../src/system/json-rpc.ts'
import { envelope, type McpWorld, openMcpWorld, type RawClient, rawClient } from './mcp-world.ts'

let world: McpWorld
let client: RawClient
const { signal } = new AbortController()

beforeAll(() => {
  world = openMcpWorld()
  client = rawClient(world.options)
})

afterAll(async () => {
  await client.close()
  world.close()
})

const ask = async (method: string, params: Json = {}, capabilities: Json = {}): Promise<Json> =>
  (await client.peer.request(method, { ...params, _meta: envelope(capabilities) }, signal)) as Json
const elicits = { elicitation: { form: {} } }
const command = (text: string): Json => ({ name: 'bash', arguments: { command: text } })
const state = (result: Json): string => String(result.requestState)
const yes = (answer: string): Json => ({ answer: { action: 'accept', content: { answer } } })

it('lists what it can do without a handshake', async () => {
  expect(await ask('server/discover')).toMatchObject({
    resultType: 'complete',
    supportedVersions: expect.arrayContaining(['2026-07-28']),
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { [META.server]: { name: 'cordon' } },
  })
})

it('lists and calls', async () => {
  const list = await ask('tools/list')
  expect(list).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' })
  const names = (list.tools as { name: string }[]).map((tool) => tool.name)
  expect(names).toContain('read')
  expect((await ask('tools/list')).tools).toEqual(list.tools)
  const result = await ask('tools/call', { name: 'read', arguments: { path: 'a.txt' } })
  expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'hello\n' }] })
})

it.each([
  ['another revision', { [META.revision]: '2027-01-01', [META.capabilities]: {} }, -32022],
  ['a revision of the other era', { [META.revision]: '2025-11-25', [META.capabilities]: {} }, -32022],
  ['no capabilities', { [META.revision]: '2026-07-28' }, -32602],
  ['a revision that is not text', { [META.revision]: 7, [META.capabilities]: {} }, -32602],
])('refuses an envelope with %s', async (_, meta, code) => {
  const refused = client.peer.request('tools/list', { _meta: meta }, signal)
  await expect(refused).rejects.toMatchObject({ code })
})

it.each(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'tasks/list', 'nonsense'])(
  'there is no %s in this revision',
  async (method) => {
    await expect(ask(method)).rejects.toMatchObject({ code: -32601 })
  },
)

it('asks in its result, and runs once after the answer', async () => {
  const call = command('touch asked.txt && echo ran')
  const question = await ask('tools/call', call, elicits)
  expect(question).toMatchObject({
    resultType: 'input_required',
    inputRequests: { answer: { method: 'elicitation/create', params: { mode: 'form' } } },
  })
  expect(JSON.stringify(question.inputRequests)).toContain('touch asked.txt')
  expect(existsSync(join(world.project, 'asked.txt'))).toBe(false)
  const again = { ...call, requestState: state(question), inputResponses: yes('once') }
  expect(await ask('tools/call', again, elicits)).toMatchObject({ structuredContent: { status: 'done' } })
  expect(existsSync(join(world.project, 'asked.txt'))).toBe(true)
  // The state was for one answer.
  await expect(ask('tools/call', again, elicits)).rejects.toMatchObject({ code: -32602 })
  expect(client.requested).toEqual([])
})

it.each([
  ['a no', yes('deny')],
  ['an answer that was not offered', yes('nonsense')],
  ['a form that was declined', { answer: { action: 'decline' } }],
])('%s is a refusal', async (_, inputResponses) => {
  const question = await ask('tools/call', command('touch no.txt'), elicits)
  const given = { ...command('touch no.txt'), requestState: state(question), inputResponses }
  expect(await ask('tools/call', given, elicits)).toMatchObject({ structuredContent: { status: 'refused' } })
  expect(existsSync(join(world.project, 'no.txt'))).toBe(false)
})

it('asks nobody whose client cannot', async () => {
  const result = await ask('tools/call', command('uname -s'))
  expect(result).toMatchObject({ resultType: 'complete', structuredContent: { status: 'refused' } })
  expect(JSON.stringify(result)).toContain('cordon approvals')
})

it('keeps a listener open until it goes', async () => {
  const abort = new AbortController()
  const params = { notifications: { toolsListChanged: true }, _meta: envelope() }
  const listening = client.peer.request('subscriptions/listen', params, abort.signal)
  await ask('tools/list')
  expect(client.heard.at(-1)).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: {}, _meta: { [META.subscription]: expect.anything() } },
  })
  abort.abort()
  await expect(listening).rejects.toThrow('cancelled')
})

it('serves a client with a handshake beside it', async () => {
  const both = rawClient(world.options)
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '0' } }
  const hello = (await both.peer.request('initialize', params, signal)) as Json
  expect(hello.protocolVersion).toBe('2025-11-25')
  expect(await both.peer.request('tools/list', {}, signal)).not.toHaveProperty('resultType')
  expect(await both.peer.request('tools/list', { _meta: envelope() }, signal)).toHaveProperty('resultType')
  await both.close()
})

const request = (params: Json, still: AbortSignal = signal): IncomingRequest => ({
  id: 1,
  method: 'tools/call',
  params,
  signal: still,
})
const form = { message: 'May I?', requestedSchema: { type: 'object' } }

it('a state opens nothing for another request', async () => {
  const rounds = new Rounds()
  const work = async (): Promise<Json> => ({ ran: true })
  const asking = rounds.answer(request({ name: 'a', arguments: { x: 1, y: 2 } }), async (elicit, still) => {
    await elicit(form, still)
    return { ran: true }
  })
  const requestState = state(await asking)
  const stolen = { name: 'a', arguments: { x: 1, y: 3 }, requestState, inputResponses: yes('yes') }
  await expect(rounds.answer(request(stolen), work)).rejects.toThrow('not open any more')
  const own = { name: 'a', arguments: { y: 2, x: 1 }, requestState, inputResponses: yes('yes') }
  expect(await rounds.answer(request(own), work)).toEqual({ ran: true })
  rounds.close()
})

it('an answer that is missing is asked for again, under another state', async () => {
  const rounds = new Rounds()
  const work = async (elicit: (params: Json, still: AbortSignal) => Promise<unknown>): Promise<Json> => ({
    got: await elicit(form, signal),
  })
  const first = await rounds.answer(request({}), work)
  const second = await rounds.answer(request({ requestState: state(first) }), work)
  expect(second.resultType).toBe('input_required')
  expect(state(second)).not.toBe(state(first))
  const third = await rounds.answer(request({ requestState: state(second), inputResponses: yes('x') }), work)
  expect(third).toEqual({ got: { action: 'accept', content: { answer: 'x' } } })
})

it('what nobody answers is withdrawn, and so is what the client cancels', async () => {
  const ends: string[] = []
  const work = async (elicit: (params: Json, still: AbortSignal) => Promise<unknown>): Promise<Json> => {
    await elicit(form, signal).catch((error: Error) => ends.push(error.message))
    return {}
  }
  const rounds = new Rounds(20)
  const open = await rounds.answer(request({}), work)
  await new Promise((resolve) => setTimeout(resolve, 60))
  expect(ends).toEqual(['the question was withdrawn'])
  await expect(rounds.answer(request({ requestState: state(open) }), work)).rejects.toThrow('not open any more')
  const abort = new AbortController()
  let aborted = false
  const running = rounds.answer(request({}, abort.signal), async (_, still) => {
    await new Promise((resolve) => still.addEventListener('abort', resolve))
    aborted = true
    return {}
  })
  await new Promise((resolve) => setTimeout(resolve, 5))
  abort.abort()
  await running
  expect(aborted).toBe(true)
  await expect(rounds.answer(request({}, abort.signal), work)).rejects.toThrow()
})

it('does not keep more open questions than people could answer', async () => {
  const rounds = new Rounds()
  const work = async (elicit: (params: Json, still: AbortSignal) => Promise<unknown>): Promise<Json> => {
    await elicit(form, signal)
    return {}
  }
  const asked = await Promise.allSettled(Array.from({ length: 70 }, (_, x) => rounds.answer(request({ x }), work)))
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(64)
  rounds.close()
})
