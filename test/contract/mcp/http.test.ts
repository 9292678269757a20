/** Conformance over HTTP, message by message: headers, statuses, sessions, sizes, cancelling, for both eras. */

import { type IncomingHttpHeaders, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HttpServer, serveHttp } from '../../../src/surfaces/mcp/http.ts'
import { META } from '../../../src/surfaces/mcp/revision.ts'
import type { Json } from '../../../src/system/json-rpc.ts'
import { until } from '../../until.ts'
import { envelope, type McpWorld, openMcpWorld, runs } from './mcp-world.ts'

let world: McpWorld
let http: HttpServer

beforeAll(async () => {
  world = openMcpWorld()
  http = await serveHttp(world.options, 0)
})

afterAll(async () => {
  await http.close()
  world.close()
})

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

type Headers = Readonly<Record<string, string>>

function send(method: string, headers: Headers, body: string | Buffer, signal?: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(http.url)
    const own = { authorization: `Bearer ${http.token}`, 'content-type': 'application/json', ...headers }
    const options = {
      host: '127.0.0.1',
      port,
      path: '/mcp',
      method,
      headers: own,
      agent: false,
      ...(signal && { signal }),
    }
    const sent = request(options, (response) => {
      let text = ''
      response.on('data', (data) => {
        text += data
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const post = (headers: Headers, body: unknown, signal?: AbortSignal): Promise<Answer> =>
  send('POST', headers, typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body), signal)
const errorOf = ({ text }: Answer): { code: number; message: string; data?: unknown } => JSON.parse(text).error
/** The messages of a stream. */
const events = ({ text }: Answer): Json[] =>
  text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6)) as Json] : []))

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '0' } },
}

describe('sessions', () => {
  const session = async (): Promise<string> => String((await post({}, initialize)).headers['mcp-session-id'])

  it.each([
    ['no JSON', '{', 400],
    ['bytes that are no text', Buffer.from([0xff, 0xfe]), 400],
    ['a batch', [initialize], 400],
    ['a text', '"hello"', 400],
    ['an id of null', { ...initialize, id: null }, 400],
    ['an id that is not a whole number', { ...initialize, id: 1.5 }, 400],
    ['an id that is an object', { ...initialize, id: {} }, 400],
    ['a call before the beginning', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, 400],
    ['a body that is too large', Buffer.alloc(65 * 1024 * 1024, 32), 413],
  ])('refuses %s', async (_, body, status) => {
    const answer = await post({}, body)
    expect(answer.status).toBe(status)
    expect(errorOf(answer).code).toBeLessThan(0)
  })

  it('goes on after all of that', async () => {
    const id = await session()
    const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    const answer = await post(headers, { jsonrpc: '2.0', id: 2, method: 'tools/list' })
    expect(events(answer)[0]).toMatchObject({ id: 2, result: { tools: expect.any(Array) } })
  })

  it.each([
    ['GET without a session', 'GET', {}, 400],
    ['GET of a session that is not there', 'GET', { 'mcp-session-id': 'x' }, 404],
    ['DELETE of a session that is not there', 'DELETE', { 'mcp-session-id': 'x' }, 404],
    ['another revision', 'POST', { 'mcp-protocol-version': '1999-01-01' }, 400],
    ['a page’s origin', 'GET', { origin: 'https://evil.example' }, 403],
    ['no token', 'GET', { authorization: '' }, 401],
  ])('%s', async (_, method, headers, status) => {
    expect((await send(method, headers, '')).status).toBe(status)
  })

  it('ends a session when asked to', async () => {
    const id = await session()
    expect((await send('DELETE', { 'mcp-session-id': id }, '')).status).toBe(204)
    const after = await post({ 'mcp-session-id': id }, { jsonrpc: '2.0', id: 2, method: 'ping' })
    expect(after.status).toBe(404)
  })

  it('names the revisions it speaks', async () => {
    const answer = await post({ 'mcp-protocol-version': '1999-01-01' }, initialize)
    expect(errorOf(answer)).toMatchObject({ code: -32022, data: { supported: expect.arrayContaining(['2026-07-28']) } })
  })

  it('does not let two sessions mix', async () => {
    const [one, two] = [await session(), await session()]
    expect(one).not.toBe(two)
    const call = { jsonrpc: '2.0', id: 5, method: 'tools/list' }
    const answers = await Promise.all([post({ 'mcp-session-id': one }, call), post({ 'mcp-session-id': two }, call)])
    for (const answer of answers) expect(events(answer).filter(({ id }) => id === 5)).toHaveLength(1)
  })
})

describe('without sessions', () => {
  const headersFor = (method: string, name?: string): Record<string, string> => ({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': name }),
  })
  const message = (method: string, params: Json = {}, capabilities: Json = {}, meta: Json = {}): Json => ({
    jsonrpc: '2.0',
    id: 7,
    method,
    params: { ...params, _meta: envelope(capabilities, meta) },
  })
  const read = message('tools/call', { name: 'read', arguments: { path: 'a.txt' } })

  it('answers a request as it is, without a session', async () => {
    const answer = await post(headersFor('tools/call', 'read'), read)
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.headers['mcp-session-id']).toBeUndefined()
    expect(JSON.parse(answer.text)).toMatchObject({ id: 7, result: { resultType: 'complete' } })
  })

  it('takes a name in base64', async () => {
    const name = `=?base64?${Buffer.from('read').toString('base64')}?=`
    expect((await post(headersFor('tools/call', name), read)).status).toBe(200)
  })

  const { _meta, ...noMeta } = read.params as Json
  it.each([
    ['no revision in the headers', { 'mcp-method': 'tools/call', 'mcp-name': 'read' }, read, 400, -32020],
    [
      'another revision in the headers',
      { ...headersFor('tools/call', 'read'), 'mcp-protocol-version': '2025-11-25' },
      read,
      400,
      -32020,
    ],
    ['no method in the headers', { 'mcp-protocol-version': '2026-07-28', 'mcp-name': 'read' }, read, 400, -32020],
    ['another method in the headers', headersFor('tools/list', 'read'), read, 400, -32020],
    ['no name in the headers', headersFor('tools/call'), read, 400, -32020],
    ['another name in the headers', headersFor('tools/call', 'list'), read, 400, -32020],
    ['a name that is not base64', headersFor('tools/call', '=?base64?!?='), read, 400, -32020],
    ['no envelope', headersFor('tools/call', 'read'), { ...read, params: noMeta }, 400, -32602],
    [
      'no capabilities',
      headersFor('tools/list'),
      { ...read, method: 'tools/list', params: { _meta: { [META.revision]: '2026-07-28' } } },
      400,
      -32602,
    ],
    [
      'a revision that is not spoken',
      { ...headersFor('tools/list'), 'mcp-protocol-version': '2026-07-28' },
      { ...read, method: 'tools/list', params: { _meta: { ...envelope(), [META.revision]: '2030-01-01' } } },
      400,
      -32022,
    ],
    ['a method that is not there', headersFor('tasks/get'), message('tasks/get'), 404, -32601],
    ['the handshake', headersFor('initialize'), message('initialize'), 404, -32601],
    ['an answer', headersFor('tools/call'), { jsonrpc: '2.0', id: 7, result: {} }, 400, -32600],
  ])('refuses %s', async (_, headers, body, status, code) => {
    const answer = await post(headers, body)
    expect(answer.status).toBe(status)
    expect(errorOf(answer).code).toBe(code)
  })

  it('takes a notice and says nothing', async () => {
    const notice = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    const answer = await post({ 'mcp-protocol-version': '2026-07-28' }, notice)
    expect(answer).toMatchObject({ status: 202, text: '' })
  })

  it('asks in its result, and goes on in another request', async () => {
    const call = { name: 'bash', arguments: { command: 'basename /over/http' } }
    const elicits = { elicitation: {} }
    const headers = headersFor('tools/call', 'bash')
    const asked = JSON.parse((await post(headers, message('tools/call', call, elicits))).text).result
    expect(asked.resultType).toBe('input_required')
    const inputResponses = { answer: { action: 'accept', content: { answer: 'once' } } }
    const again = { ...call, requestState: asked.requestState, inputResponses }
    const done = JSON.parse((await post(headers, message('tools/call', again, elicits))).text).result
    expect(done.content[0].text).toContain('http')
  })

  it('keeps clients apart: the answer of one runs nothing of another, nor opens anything to it', async () => {
    const call = { name: 'bash', arguments: { command: 'basename /of/two' } }
    const elicits = { elicitation: {} }
    const headers = headersFor('tools/call', 'bash')
    const ask = async (params: Json, capabilities: Json = elicits): Promise<Json> =>
      JSON.parse((await post(headers, message('tools/call', params, capabilities))).text).result
    const answer = (state: unknown, word: string): Json => ({
      ...call,
      requestState: state,
      inputResponses: { answer: { action: 'accept', content: { answer: word } } },
    })
    const one = await ask(call)
    // The same call of somebody else has its own question, and does not wait for the first.
    const other = await ask(call)
    expect([one.resultType, other.resultType]).toEqual(['input_required', 'input_required'])
    expect(other.requestState).not.toBe(one.requestState)
    expect(JSON.stringify(one)).not.toContain('"session"')
    const mute = await ask(call, {})
    expect(mute).toMatchObject({ structuredContent: { status: 'refused' } })
    expect(await ask(answer(one.requestState, 'once'))).toMatchObject({ structuredContent: { status: 'done' } })
    expect(await ask(answer(other.requestState, 'session'))).toMatchObject({
      structuredContent: { status: 'refused' },
    })
    expect((await ask(call)).resultType).toBe('input_required')
  })

  it('says how it goes on the stream of the request', async () => {
    const call = { name: 'bash', arguments: { command: 'sleep 2.3' } }
    const elicits = { elicitation: {} }
    const headers = headersFor('tools/call', 'bash')
    const asked = JSON.parse((await post(headers, message('tools/call', call, elicits))).text).result
    const inputResponses = { answer: { action: 'accept', content: { answer: 'once' } } }
    const again = { ...call, requestState: asked.requestState, inputResponses }
    const answer = await post(headers, message('tools/call', again, elicits, { progressToken: 'p' }))
    expect(answer.headers['content-type']).toBe('text/event-stream')
    const [progress, result] = events(answer)
    expect(progress).toMatchObject({ method: 'notifications/progress', params: { progressToken: 'p' } })
    expect(result).toMatchObject({ id: 7, result: { resultType: 'complete' } })
  })

  it('ends what runs when the client hangs up', async () => {
    const seconds = `600.${process.pid}`
    const call = { name: 'bash', arguments: { command: `sleep ${seconds}` } }
    const elicits = { elicitation: {} }
    const headers = headersFor('tools/call', 'bash')
    const asked = JSON.parse((await post(headers, message('tools/call', call, elicits))).text).result
    const inputResponses = { answer: { action: 'accept', content: { answer: 'once' } } }
    const again = { ...call, requestState: asked.requestState, inputResponses }
    const abort = new AbortController()
    const running = post(headers, message('tools/call', again, elicits), abort.signal)
    await until('it runs', () => runs(seconds))
    abort.abort()
    await expect(running).rejects.toThrow()
    await until('it is ended', () => !runs(seconds))
  })

  it('keeps a listener until it hangs up', async () => {
    const abort = new AbortController()
    const body = message('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const listening = post(headersFor('subscriptions/listen'), body, abort.signal)
    setTimeout(() => abort.abort(), 300)
    await expect(listening).rejects.toThrow()
  })

  it('serves fifty clients at a time', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(headersFor('tools/call', 'read'), read)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(answers.every(({ text }) => text.includes('hello'))).toBe(true)
  })
})
