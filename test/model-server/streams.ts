/** Answers in the form that providers send them, written as their recorded streams are; one row a feature. */

import type { AssistantPart, Stop, Usage, WireName } from '../../src/providers/conversation.ts'

export interface StreamRow {
  readonly note: string
  readonly wire: WireName
  readonly body: string
  readonly parts: readonly AssistantPart[]
  readonly stop: Stop
  readonly usage: Partial<Usage>
  /** What the oracle reads otherwise, and why that is right for us. */
  readonly unlike?: string
}

const named = (events: readonly { readonly type: string; readonly [field: string]: unknown }[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const plain = (events: readonly unknown[], end = ''): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + end
const DONE = 'data: [DONE]\n\n'

const start = (usage: object = { input_tokens: 12, output_tokens: 1 }) => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage },
})
const block = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const delta = (index: number, piece: object) => ({ type: 'content_block_delta', index, delta: piece })
const stopped = (index: number) => ({ type: 'content_block_stop', index })
const ending = (stop_reason: string, output_tokens = 7) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } },
  { type: 'message_stop' },
]
const say = (index: number, ...texts: string[]) => [
  block(index, { type: 'text', text: '' }),
  ...texts.map((text) => delta(index, { type: 'text_delta', text })),
  stopped(index),
]
const use = (index: number, id: string, name: string, ...json: string[]) => [
  block(index, { type: 'tool_use', id, name, input: {} }),
  ...json.map((partial_json) => delta(index, { type: 'input_json_delta', partial_json })),
  stopped(index),
]

const chunk = (delta: object, finish_reason: string | null = null, rest: object = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
  ...rest,
})
const counted = {
  prompt_tokens: 20,
  completion_tokens: 9,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 8 },
}
const asks = (index: number, id: string | undefined, name: string | undefined, args: string) => ({
  tool_calls: [
    {
      index,
      ...(id !== undefined && { id, type: 'function' }),
      function: { ...(name !== undefined && { name }), arguments: args },
    },
  ],
})

const response = (rest: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  output: [],
  usage: { input_tokens: 20, output_tokens: 9, total_tokens: 29, input_tokens_details: { cached_tokens: 8 } },
  ...rest,
})
const fetched = (arguments_: string) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'read',
  arguments: arguments_,
  status: 'completed',
})
const spoken = (text: string) => ({
  type: 'message',
  id: 'm_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})

const generated = (parts: readonly object[], finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata: {
    promptTokenCount: 20,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 4,
    totalTokenCount: 29,
    cachedContentTokenCount: 8,
  },
})

export const streams: readonly StreamRow[] = [
  {
    note: 'text in pieces, with letters of several bytes',
    wire: 'anthropic',
    body: named([start(), ...say(0, 'Grü', 'ße 🌍', ' 東京'), ...ending('end_turn')]),
    parts: [{ type: 'text', text: 'Grüße 🌍 東京' }],
    stop: 'end',
    usage: { input: 12, output: 7 },
  },
  {
    note: 'text, then two calls, one of them without arguments',
    wire: 'anthropic',
    body: named([
      start(),
      ...say(0, 'Looking.'),
      ...use(1, 'toolu_1', 'read', '{"pa', 'th":"a\\n', '.ts"}'),
      ...use(2, 'toolu_2', 'todoread'),
      ...ending('tool_use'),
    ]),
    parts: [
      { type: 'text', text: 'Looking.' },
      { type: 'call', id: 'toolu_1', name: 'read', input: { path: 'a\n.ts' } },
      { type: 'call', id: 'toolu_2', name: 'todoread', input: {} },
    ],
    stop: 'calls',
    usage: { input: 12, output: 7 },
  },
  {
    note: 'thinking with its signature, redacted thinking, pings, and tokens of the cache',
    wire: 'anthropic',
    body: named([
      start({ input_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 50, output_tokens: 1 }),
      { type: 'ping' },
      block(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'Let me ' }),
      delta(0, { type: 'thinking_delta', thinking: 'see.' }),
      delta(0, { type: 'signature_delta', signature: 'c2ln' }),
      stopped(0),
      block(1, { type: 'redacted_thinking', data: 'ZW5j' }),
      stopped(1),
      ...say(2, 'So.'),
      ...ending('end_turn'),
    ]),
    parts: [
      {
        type: 'thinking',
        text: 'Let me see.',
        opaque: { type: 'thinking', thinking: 'Let me see.', signature: 'c2ln' },
      },
      { type: 'thinking', text: '', opaque: { type: 'redacted_thinking', data: 'ZW5j' } },
      { type: 'text', text: 'So.' },
    ],
    stop: 'end',
    usage: { input: 3, cacheRead: 100, cacheWrite: 50, output: 7 },
  },
  {
    note: 'the limit in the middle of a call: its JSON does not parse',
    wire: 'anthropic',
    body: named([start(), ...use(0, 'toolu_1', 'write', '{"path":"a","content":"ab'), ...ending('max_tokens')]),
    parts: [{ type: 'call', id: 'toolu_1', name: 'write', input: {}, problem: 'its arguments are not valid JSON' }],
    stop: 'length',
    usage: { output: 7 },
  },
  {
    note: 'lines that end in CR LF, a comment, and data over two lines',
    wire: 'anthropic',
    body: `: hello\r\n${named([start(), ...say(0, 'a'), ...ending('end_turn')])
      .replaceAll('\n', '\r\n')
      .replace('data: {', 'data: \r\ndata: {')}`,
    parts: [{ type: 'text', text: 'a' }],
    stop: 'end',
    usage: { output: 7 },
  },
  {
    note: 'text, usage in a separate chunk',
    wire: 'openai-chat',
    body: plain(
      [
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'Hé' }),
        chunk({ content: 'llo' }),
        chunk({}, 'stop'),
        { ...chunk({}), choices: [], usage: counted },
      ],
      DONE,
    ),
    parts: [{ type: 'text', text: 'Héllo' }],
    stop: 'end',
    usage: { input: 12, cacheRead: 8, output: 9 },
  },
  {
    note: 'two calls whose arguments come in turns',
    wire: 'openai-chat',
    body: plain(
      [
        chunk({ role: 'assistant', content: null, ...asks(0, 'call_1', 'read', '') }),
        chunk(asks(0, undefined, undefined, '{"path":')),
        chunk(asks(1, 'call_2', 'list', '{"path":"."}')),
        chunk(asks(0, undefined, undefined, '"a"}')),
        chunk({}, 'tool_calls', { usage: counted }),
      ],
      DONE,
    ),
    parts: [
      { type: 'call', id: 'call_1', name: 'read', input: { path: 'a' } },
      { type: 'call', id: 'call_2', name: 'list', input: { path: '.' } },
    ],
    stop: 'calls',
    usage: { output: 9 },
  },
  {
    note: 'reasoning beside the text, as vLLM and DeepSeek send it',
    wire: 'openai-chat',
    body: plain(
      [
        chunk({ reasoning_content: 'Hm' }),
        chunk({ reasoning_content: '.' }),
        chunk({ content: 'Yes' }),
        chunk({}, 'stop'),
      ],
      DONE,
    ),
    parts: [
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'Yes' },
    ],
    stop: 'end',
    usage: {},
  },
  {
    note: 'a whole call with "stop" as its reason, as small servers send it',
    wire: 'openai-chat',
    body: plain([chunk(asks(0, 'call_9', 'list', '{"path":"."}')), chunk({}, 'stop')], DONE),
    parts: [{ type: 'call', id: 'call_9', name: 'list', input: { path: '.' } }],
    stop: 'calls',
    usage: {},
    unlike: 'The oracle repeats the reason; what was sent is a call.',
  },
  {
    note: 'a call that is not an object',
    wire: 'openai-chat',
    body: plain([chunk(asks(0, 'call_9', 'list', '["."]')), chunk({}, 'tool_calls')], DONE),
    parts: [{ type: 'call', id: 'call_9', name: 'list', input: {}, problem: 'its arguments are not a JSON object' }],
    stop: 'calls',
    usage: {},
    unlike: 'The oracle leaves the input to its caller.',
  },
  {
    note: 'reasoning with encrypted content, text and a call',
    wire: 'openai-responses',
    body: named([
      { type: 'response.created', response: response({ status: 'in_progress', usage: null }) },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
      {
        type: 'response.reasoning_summary_part.added',
        item_id: 'rs_1',
        output_index: 0,
        summary_index: 0,
        part: { type: 'summary_text', text: '' },
      },
      {
        type: 'response.reasoning_summary_text.delta',
        item_id: 'rs_1',
        output_index: 0,
        summary_index: 0,
        delta: 'Hm',
      },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'Hm' }],
          encrypted_content: 'ZW5j',
        },
      },
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { ...spoken(''), content: [], status: 'in_progress' },
      },
      {
        type: 'response.content_part.added',
        item_id: 'm_1',
        output_index: 1,
        content_index: 0,
        part: { type: 'output_text', text: '', annotations: [] },
      },
      { type: 'response.output_text.delta', item_id: 'm_1', output_index: 1, content_index: 0, delta: 'So ' },
      { type: 'response.output_text.delta', item_id: 'm_1', output_index: 1, content_index: 0, delta: 'é' },
      { type: 'response.output_text.done', item_id: 'm_1', output_index: 1, content_index: 0, text: 'So é' },
      { type: 'response.output_item.done', output_index: 1, item: spoken('So é') },
      { type: 'response.output_item.added', output_index: 2, item: { ...fetched(''), status: 'in_progress' } },
      { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 2, delta: '{"path"' },
      { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 2, delta: ':"a"}' },
      { type: 'response.function_call_arguments.done', item_id: 'fc_1', output_index: 2, arguments: '{"path":"a"}' },
      { type: 'response.output_item.done', output_index: 2, item: fetched('{"path":"a"}') },
      { type: 'response.completed', response: response() },
    ]),
    parts: [
      {
        type: 'thinking',
        text: 'Hm',
        opaque: {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'Hm' }],
          encrypted_content: 'ZW5j',
        },
      },
      { type: 'text', text: 'So é' },
      { type: 'call', id: 'call_1', name: 'read', input: { path: 'a' } },
    ],
    stop: 'calls',
    usage: { input: 12, cacheRead: 8, output: 9 },
  },
  {
    note: 'an answer that met its limit',
    wire: 'openai-responses',
    body: named([
      { type: 'response.created', response: response({ status: 'in_progress', usage: null }) },
      { type: 'response.output_item.added', output_index: 0, item: { ...spoken(''), content: [] } },
      { type: 'response.output_text.delta', item_id: 'm_1', output_index: 0, content_index: 0, delta: 'Once' },
      { type: 'response.output_item.done', output_index: 0, item: spoken('Once') },
      {
        type: 'response.incomplete',
        response: response({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
      },
    ]),
    parts: [{ type: 'text', text: 'Once' }],
    stop: 'length',
    usage: { output: 9 },
  },
  {
    note: 'thoughts, text and calls without ids',
    wire: 'gemini',
    body: plain([
      generated([{ text: 'Hm', thought: true }]),
      generated([{ text: 'So ' }]),
      generated([{ text: 'é.' }]),
      generated([{ functionCall: { id: 'f1', name: 'read', args: { path: 'a' } }, thoughtSignature: 'c2ln' }], 'STOP'),
    ]),
    parts: [
      { type: 'thinking', text: 'Hm' },
      { type: 'text', text: 'So é.' },
      { type: 'call', id: 'f1', name: 'read', input: { path: 'a' }, opaque: 'c2ln' },
    ],
    stop: 'calls',
    usage: { input: 12, cacheRead: 8, output: 9 },
  },
  {
    note: 'stopped for safety',
    wire: 'gemini',
    body: plain([generated([{ text: 'No' }], 'SAFETY')]),
    parts: [{ type: 'text', text: 'No' }],
    stop: 'refused',
    usage: { output: 9 },
  },
]
