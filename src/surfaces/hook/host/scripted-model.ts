/**
 * A scripted model on loopback for the four protocols of agents: it requests scripted tool calls and records what it
 * receives.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A tool call with the agent's own name and input for the tool. */
export interface ScriptedCall {
  readonly tool: string
  readonly input: Record<string, unknown>
}

export interface ModelServer {
  readonly port: number
  readonly bodies: string[]
  readonly keys: string[]
  /** Requests that are not for the model: attempted actions. */
  readonly stray: string[]
  close(): Promise<void>
}

const KEY_HEADERS: readonly string[] = ['authorization', 'x-api-key', 'x-goog-api-key']

type Body = Record<string, unknown>

interface Protocol {
  readonly path: RegExp
  /** The number of tool results so far; null if the request is not part of the conversation. */
  readonly results: (body: Body) => number | null
  readonly answer: (response: ServerResponse, calls: readonly ScriptedCall[], index: number, body: Body) => void
}

/** The next calls, chosen from the offered tools; null ends the turn. */
export type ScriptedTurn = (tools: readonly string[], body: string) => ScriptedCall | readonly ScriptedCall[] | null

/** Starts the server; the number of results so far selects the turn of `script`. */
export async function startModelServer(script: readonly ScriptedTurn[]): Promise<ModelServer> {
  const bodies: string[] = []
  const keys: string[] = []
  const stray: string[] = []
  const http = createServer((request, response) => void serve(request, response))
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString('utf8')
    const protocol = PROTOCOLS.find(({ path }) => path.test(request.url ?? ''))
    if (!protocol || request.method !== 'POST') {
      if (request.url?.startsWith('/steal')) stray.push(`${request.url} ${text}`)
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
      return
    }
    bodies.push(text)
    keys.push(...KEY_HEADERS.flatMap((name) => request.headers[name] ?? []))
    const body = JSON.parse(text) as Body
    const index = protocol.results(body)
    const calls = index === null ? [] : [script[index]?.(toolNames(body), text) ?? []].flat()
    protocol.answer(response, calls, index ?? 0, body)
  }
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    port: (http.address() as AddressInfo).port,
    bodies,
    keys,
    stray,
    close: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

/** The names of all tools that a request offers, in any protocol. */
export function toolNames(body: Body): string[] {
  // Current Codex sends them as an item of the conversation.
  const items = Array.isArray(body.input) ? (body.input as Body[]) : []
  const tools = [body, ...items.filter(({ type }) => type === 'additional_tools')].flatMap(
    (holder) => (holder.tools ?? []) as Body[],
  )
  return tools.flatMap((tool) => {
    const nested = (tool.functionDeclarations ?? tool.tools ?? []) as Body[]
    const own = tool.name ?? (tool.function as Body | undefined)?.name ?? tool.type
    return [...(typeof own === 'string' ? [own] : []), ...nested.map((entry) => String(entry.name))]
  })
}

const PROTOCOLS: readonly Protocol[] = [
  {
    path: /\/v1\/messages(\?|$)/,
    results: (body) => (toolNames(body).length === 0 ? null : countDeep(body.messages, 'tool_result')),
    answer: answerAnthropic,
  },
  {
    path: /\/responses(\?|$)/,
    results: (body) => countDeep(body.input, 'function_call_output') + countDeep(body.input, 'custom_tool_call_output'),
    answer: answerResponses,
  },
  {
    path: /\/chat\/completions(\?|$)/,
    // Count only its own calls: some agents add others.
    results: (body) => (toolNames(body).length === 0 ? null : (body.messages as Body[]).filter(isOwnResult).length),
    answer: answerChat,
  },
  {
    path: /generateContent/i,
    results: (body) => (toolNames(body).length === 0 ? null : countKey(body.contents, 'functionResponse')),
    answer: answerGemini,
  },
]

function isOwnResult({ role, tool_call_id: id }: Body): boolean {
  return role === 'tool' && String(id).startsWith('call_')
}

function countDeep(value: unknown, type: string): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countDeep(item, type), 0)
  if (typeof value !== 'object' || value === null) return 0
  const own = (value as Body).type === type ? 1 : 0
  return own + Object.values(value).reduce<number>((sum, item) => sum + countDeep(item, type), 0)
}

function countKey(value: unknown, key: string): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countKey(item, key), 0)
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce((sum, [name, item]) => sum + (name === key ? 1 : countKey(item, key)), 0)
}

function events(response: ServerResponse, list: readonly Body[], named: boolean, end = ''): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of list) {
    response.write(`${named ? `event: ${String(event.type)}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
  }
  response.end(end)
}

const USAGE = { input_tokens: 1, output_tokens: 1 }

function answerAnthropic(response: ServerResponse, calls: readonly ScriptedCall[], index: number, body: Body): void {
  const blocks: readonly Body[] =
    calls.length > 0
      ? calls.map(({ tool, input }, at) => ({ type: 'tool_use', id: `toolu_${index + at}`, name: tool, input }))
      : [{ type: 'text', text: 'done' }]
  const stop = calls.length > 0 ? 'tool_use' : 'end_turn'
  const message = {
    id: `msg_${index}`,
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: [],
    usage: USAGE,
  }
  if (body.stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...message, content: blocks, stop_reason: stop, stop_sequence: null }))
    return
  }
  const streamed = blocks.flatMap(({ text, input, ...block }, at) => [
    { type: 'content_block_start', index: at, content_block: { ...block, ...(input ? { input: {} } : { text: '' }) } },
    {
      type: 'content_block_delta',
      index: at,
      delta: input ? { type: 'input_json_delta', partial_json: JSON.stringify(input) } : { type: 'text_delta', text },
    },
    { type: 'content_block_stop', index: at },
  ])
  events(
    response,
    [
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
      ...streamed,
      { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: USAGE },
      { type: 'message_stop' },
    ],
    true,
  )
}

function answerResponses(response: ServerResponse, calls: readonly ScriptedCall[], index: number): void {
  const id = `resp_${index}`
  const items = calls.map(({ tool, input }, at) => {
    // `NAMESPACE.NAME`, if the agent uses namespaces.
    const [name, namespace] = tool.split('.').reverse()
    const call = { call_id: `call_${index + at}`, name, ...(namespace !== undefined && { namespace }) }
    return 'CUSTOM' in input
      ? { type: 'custom_tool_call', id: `ctc_${index + at}`, ...call, input: input.CUSTOM }
      : { type: 'function_call', id: `fc_${index + at}`, ...call, arguments: JSON.stringify(input) }
  })
  const said = {
    type: 'message',
    id: `m_${index}`,
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'done', annotations: [] }],
  }
  const output: readonly Body[] = items.length > 0 ? items : [said]
  const usage = {
    ...{ input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
  }
  const head = { id, object: 'response', created_at: 1, model: 'scripted' }
  events(
    response,
    [
      { type: 'response.created', response: { ...head, status: 'in_progress', output: [] } },
      ...output.map((item, at) => ({ type: 'response.output_item.done', output_index: at, item })),
      { type: 'response.completed', response: { ...head, status: 'completed', output, usage } },
    ].map((event, at) => ({ ...event, sequence_number: at })),
    true,
  )
}

function answerChat(response: ServerResponse, calls: readonly ScriptedCall[], index: number): void {
  const base = { id: `c_${index}`, object: 'chat.completion.chunk', created: 0, model: 'scripted' }
  const tool_calls = calls.map(({ tool, input }, at) => ({
    index: at,
    id: `call_${index + at}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(input) },
  }))
  const delta = { role: 'assistant', ...(calls.length > 0 ? { tool_calls } : { content: 'done' }) }
  const end = { ...base, choices: [{ index: 0, delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }] }
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  events(
    response,
    [
      { ...base, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...end, usage },
    ],
    false,
    'data: [DONE]\n\n',
  )
}

function answerGemini(response: ServerResponse, calls: readonly ScriptedCall[]): void {
  const parts =
    calls.length > 0
      ? calls.map(({ tool, input }) => ({ functionCall: { name: tool, args: input } }))
      : [{ text: 'done' }]
  const answer = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }
  events(response, [answer], false)
}
