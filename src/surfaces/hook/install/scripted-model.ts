/** A scripted model on loopback that speaks the four protocols agents use: it asks for one tool call after the other, and keeps what it was sent. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One tool call in the words of the agent: the name and the input that its own tool takes. */
export interface ScriptedCall {
  readonly tool: string
  readonly input: Record<string, unknown>
}

export interface ModelServer {
  readonly port: number
  /** Everything that was sent to the model: the agent's side of the conversation. */
  readonly bodies: string[]
  /** The credentials that came with them. */
  readonly keys: string[]
  /** Requests that were no model's: what somebody tried to carry out. */
  readonly stray: string[]
  close(): Promise<void>
}

const KEY_HEADERS: readonly string[] = ['authorization', 'x-api-key', 'x-goog-api-key']

type Body = Record<string, unknown>

interface Protocol {
  readonly path: RegExp
  /** How many tool results the conversation holds; null when the request is none of the conversation. */
  readonly results: (body: Body) => number | null
  readonly answer: (response: ServerResponse, call: ScriptedCall | null, index: number, body: Body) => void
}

/** Starts the server; `script` makes the next call from the tools that the agent offers. */
export async function startModelServer(
  script: readonly ((tools: readonly string[], body: string) => ScriptedCall | null)[],
): Promise<ModelServer> {
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
    const call = index === null ? null : (script[index]?.(toolNames(body), text) ?? null)
    protocol.answer(response, call, index ?? 0, body)
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

/** The names of all tools that a request offers, whatever its protocol. */
function toolNames(body: Body): string[] {
  const tools = (body.tools ?? []) as Body[]
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
    results: (body) =>
      toolNames(body).length === 0 ? null : (body.messages as Body[]).filter(({ role }) => role === 'tool').length,
    answer: answerChat,
  },
  {
    path: /generateContent/i,
    results: (body) => (toolNames(body).length === 0 ? null : countKey(body.contents, 'functionResponse')),
    answer: answerGemini,
  },
]

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

function answerAnthropic(response: ServerResponse, call: ScriptedCall | null, index: number, body: Body): void {
  const block = call
    ? { type: 'tool_use', id: `toolu_${index}`, name: call.tool, input: {} }
    : { type: 'text', text: '' }
  const delta = call
    ? { type: 'input_json_delta', partial_json: JSON.stringify(call.input) }
    : { type: 'text_delta', text: 'done' }
  const stop = call ? 'tool_use' : 'end_turn'
  const message = {
    id: `msg_${index}`,
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: [],
    usage: USAGE,
  }
  if (body.stream !== true) {
    const content = [call ? { ...block, input: call.input } : { type: 'text', text: 'done' }]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...message, content, stop_reason: stop, stop_sequence: null }))
    return
  }
  events(
    response,
    [
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: USAGE },
      { type: 'message_stop' },
    ],
    true,
  )
}

function answerResponses(response: ServerResponse, call: ScriptedCall | null, index: number): void {
  const id = `resp_${index}`
  const custom = call && 'CUSTOM' in call.input
  const item = call
    ? custom
      ? {
          type: 'custom_tool_call',
          id: `ctc_${index}`,
          call_id: `call_${index}`,
          name: call.tool,
          input: call.input.CUSTOM,
        }
      : {
          type: 'function_call',
          id: `fc_${index}`,
          call_id: `call_${index}`,
          name: call.tool,
          arguments: JSON.stringify(call.input),
        }
    : { type: 'message', id: `m_${index}`, role: 'assistant', content: [{ type: 'output_text', text: 'done' }] }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  events(
    response,
    [
      { type: 'response.created', response: { id } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id, output: [item], usage } },
    ],
    true,
  )
}

function answerChat(response: ServerResponse, call: ScriptedCall | null, index: number): void {
  const base = { id: `c_${index}`, object: 'chat.completion.chunk', created: 0, model: 'scripted' }
  const delta = call
    ? {
        role: 'assistant',
        tool_calls: [
          {
            index: 0,
            id: `call_${index}`,
            type: 'function',
            function: { name: call.tool, arguments: JSON.stringify(call.input) },
          },
        ],
      }
    : { role: 'assistant', content: 'done' }
  const end = { ...base, choices: [{ index: 0, delta: {}, finish_reason: call ? 'tool_calls' : 'stop' }] }
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

function answerGemini(response: ServerResponse, call: ScriptedCall | null): void {
  const part = call ? { functionCall: { name: call.tool, args: call.input } } : { text: 'done' }
  const answer = {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }
  events(response, [answer], false)
}
