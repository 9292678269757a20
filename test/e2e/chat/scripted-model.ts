/** A model on loopback that answers as a test says, in any of the four protocols, and keeps what it was sent. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ScriptedAnswer {
  readonly text?: string
  readonly thinking?: string
  readonly calls?: readonly { readonly name: string; readonly input: unknown; readonly raw?: string }[]
  /** Tokens that the answer is said to have cost. */
  readonly usage?: { readonly input: number; readonly output: number }
  /** Another status than 200, with these headers. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** The stream ends after so many bytes of its body. */
  readonly cutAt?: number
  /** The connection breaks there, instead of ending. */
  readonly breaks?: boolean
  /** Milliseconds between the pieces of the text. */
  readonly pace?: number
  /** Nothing more comes after the first piece, until the client goes away. */
  readonly hangs?: boolean
  /** Sent instead of everything else. */
  readonly body?: string
}

export interface ModelRequestSeen {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
  readonly text: string
}

export interface ScriptedModel {
  readonly port: number
  readonly url: string
  readonly seen: ModelRequestSeen[]
  /** Requests that were none of a model's. */
  readonly stray: string[]
  /** Connections whose client went away before the end. */
  abandoned: number
  /** What it lists as its models. */
  models: readonly string[]
  close(): Promise<void>
}

export type Script = (request: ModelRequestSeen, index: number) => ScriptedAnswer

/** Starts it. */
export async function startScriptedModel(script: Script): Promise<ScriptedModel> {
  const model: ScriptedModel = {
    port: 0,
    url: '',
    seen: [],
    stray: [],
    abandoned: 0,
    models: [],
    close: async () => {},
  }
  const server = createServer((request, response) => void answer(request, response))
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString('utf8')
    const path = request.url ?? ''
    const write = [...WRITERS].find(([end]) => path.split('?')[0]!.endsWith(end))?.[1]
    if (request.method === 'GET' && path.endsWith('/models') && model.models.length > 0) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ data: model.models.map((id) => ({ id })) }))
      return
    }
    if (request.method !== 'POST' || !write) {
      model.stray.push(`${request.method} ${path} ${text}`)
      response.writeHead(404).end()
      return
    }
    const seen = { path, headers: request.headers, body: JSON.parse(text) as Record<string, unknown>, text }
    model.seen.push(seen)
    await send(response, script(seen, model.seen.length - 1), write, () => model.abandoned++)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return Object.assign(model, {
    port,
    url: `http://127.0.0.1:${port}/v1`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

type Write = (answer: ScriptedAnswer) => readonly string[]

async function send(response: ServerResponse, answer: ScriptedAnswer, write: Write, gone: () => void): Promise<void> {
  if (answer.status !== undefined) {
    const body = answer.body ?? JSON.stringify({ error: { type: 'scripted', message: `scripted ${answer.status}` } })
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(body)
    return
  }
  let open = true
  response.once('close', () => {
    if (!response.writableFinished) gone()
    open = false
  })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const pieces = answer.body === undefined ? write(answer) : [answer.body]
  let left = answer.cutAt ?? Number.POSITIVE_INFINITY
  for (const piece of pieces) {
    const bytes = Buffer.from(piece).subarray(0, left)
    left -= bytes.length
    if (!open) return
    response.write(bytes)
    if (answer.hangs) return
    if (left <= 0) break
    if (answer.pace !== undefined) await new Promise((resolve) => setTimeout(resolve, answer.pace))
  }
  if (answer.breaks) response.destroy()
  else response.end()
}

/** The text in pieces of a few words, as models send it. */
function pieces(text: string): readonly string[] {
  return text.match(/[\s\S]{1,12}/g) ?? []
}

const json = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { readonly type: string }): string => `event: ${value.type}\n${json(value)}`
const argumentsOf = ({ input, raw }: { input: unknown; raw?: string }): string => raw ?? JSON.stringify(input)

const WRITERS: ReadonlyMap<string, Write> = new Map<string, Write>([
  ['/chat/completions', writeChat],
  ['/messages', writeAnthropic],
  ['/responses', writeResponses],
  [':streamGenerateContent', writeGemini],
])

let count = 0

function writeChat({ text = '', thinking = '', calls = [], usage = { input: 10, output: 5 } }: ScriptedAnswer) {
  const chunk = (delta: object, finish: string | null = null, rest: object = {}) =>
    json({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }], ...rest })
  return [
    ...pieces(thinking).map((piece) => chunk({ reasoning_content: piece })),
    ...pieces(text).map((piece) => chunk({ content: piece })),
    ...calls.map((call, index) =>
      chunk({
        tool_calls: [
          {
            index,
            id: `call_${++count}`,
            type: 'function',
            function: { name: call.name, arguments: argumentsOf(call) },
          },
        ],
      }),
    ),
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop', {
      usage: { prompt_tokens: usage.input, completion_tokens: usage.output },
    }),
    'data: [DONE]\n\n',
  ]
}

function writeAnthropic({ text = '', thinking = '', calls = [], usage = { input: 10, output: 5 } }: ScriptedAnswer) {
  const blocks: { start: object; deltas: object[] }[] = [
    ...(thinking === ''
      ? []
      : [
          {
            start: { type: 'thinking', thinking: '', signature: '' },
            deltas: [
              ...pieces(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
              { type: 'signature_delta', signature: 'c2ln' },
            ],
          },
        ]),
    ...(text === ''
      ? []
      : [
          {
            start: { type: 'text', text: '' },
            deltas: pieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
          },
        ]),
    ...calls.map((call) => ({
      start: { type: 'tool_use', id: `toolu_${++count}`, name: call.name, input: {} },
      deltas: [{ type: 'input_json_delta', partial_json: argumentsOf(call) }],
    })),
  ]
  return [
    named({ type: 'message_start', message: { id: 'm', usage: { input_tokens: usage.input, output_tokens: 1 } } } as {
      type: string
    }),
    ...blocks.flatMap(({ start, deltas }, index) => [
      named({ type: 'content_block_start', index, content_block: start } as { type: string }),
      ...deltas.map((delta) => named({ type: 'content_block_delta', index, delta } as { type: string })),
      named({ type: 'content_block_stop', index } as { type: string }),
    ]),
    named({
      type: 'message_delta',
      delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn' },
      usage: { output_tokens: usage.output },
    } as { type: string }),
    named({ type: 'message_stop' }),
  ]
}

function writeResponses({ text = '', calls = [], usage = { input: 10, output: 5 } }: ScriptedAnswer) {
  const items: object[] = [
    ...(text === '' ? [] : [{ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text }] }]),
    ...calls.map((call) => ({
      type: 'function_call',
      id: `fc_${++count}`,
      call_id: `call_${count}`,
      name: call.name,
      arguments: argumentsOf(call),
    })),
  ]
  return [
    ...items.map((item, output_index) =>
      named({ type: 'response.output_item.done', output_index, item } as { type: string }),
    ),
    named({
      type: 'response.completed',
      response: { id: 'r', output: items, usage: { input_tokens: usage.input, output_tokens: usage.output } },
    } as { type: string }),
  ]
}

function writeGemini({ text = '', calls = [], usage = { input: 10, output: 5 } }: ScriptedAnswer) {
  const parts = [
    ...pieces(text).map((piece) => ({ text: piece })),
    ...calls.map(({ name, input }) => ({ functionCall: { name, args: input } })),
  ]
  return parts.map((part, index) =>
    json({
      candidates: [
        { content: { role: 'model', parts: [part] }, ...(index === parts.length - 1 && { finishReason: 'STOP' }) },
      ],
      usageMetadata: { promptTokenCount: usage.input, candidatesTokenCount: usage.output },
    }),
  )
}
