/** Anthropic's messages protocol. */

import { recordOf } from '../../system/json.ts'
import {
  type AssistantPart,
  callPart,
  type Json,
  type Message,
  type ModelRequest,
  malformed,
  NO_USAGE,
  type ProviderEvent,
  type Stop,
  type Usage,
} from '../conversation.ts'
import { type AnswerReader, cutShort, type Fields, fieldsOf, numberOf, reported, textOf, type Wire } from '../wire.ts'

const CACHE = { cache_control: { type: 'ephemeral' } } as const

export const anthropic: Wire = {
  name: 'anthropic',
  request: (request, key) => ({
    path: '/messages',
    headers: { 'anthropic-version': '2023-06-01', ...(key !== null && { 'x-api-key': key }) },
    body: bodyOf(request),
  }),
  reader,
}

function bodyOf({ model, system, messages, tools, maxTokens, extra }: ModelRequest): Fields {
  const offered = tools.map(({ name, description, input }) => ({ name, description, input_schema: input }))
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    // Cached parts: tools, system prompt, earlier messages.
    ...(system !== '' && { system: [{ type: 'text', text: system, ...CACHE }] }),
    // Empty messages are refused; pure reasoning of another provider becomes empty.
    messages: cached(messages.map(messageOf).filter(({ content }) => content.length > 0)),
    ...(offered.length > 0 && { tools: offered }),
    ...extra,
  }
}

type Block = Readonly<Record<string, unknown>>
interface WireMessage {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Block[]
}

function messageOf(message: Message): WireMessage {
  if (message.role === 'user') {
    return {
      role: 'user',
      content: message.parts.map((part) =>
        part.type === 'text'
          ? { type: 'text', text: part.text }
          : { type: 'image', source: { type: 'base64', media_type: part.mediaType, data: part.data } },
      ),
    }
  }
  if (message.role === 'results') {
    return {
      role: 'user',
      content: message.results.map(({ id, text, isError }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: text,
        ...(isError && { is_error: true }),
      })),
    }
  }
  const own = message.wire === 'anthropic'
  return {
    role: 'assistant',
    content: message.parts.flatMap((part): Block[] => {
      if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
      if (part.type === 'call') return [{ type: 'tool_use', id: part.id, name: part.name, input: part.input }]
      return own && part.opaque !== undefined ? [part.opaque as Block] : []
    }),
  }
}

/** Marks the last block as the end of the cached part. */
function cached(messages: readonly WireMessage[]): readonly WireMessage[] {
  const last = messages.at(-1)
  const block = last?.content.at(-1)
  if (!last || !block) return messages
  return [...messages.slice(0, -1), { ...last, content: [...last.content.slice(0, -1), { ...block, ...CACHE }] }]
}

const STOPS: Readonly<Record<string, Stop>> = {
  end_turn: 'end',
  stop_sequence: 'end',
  pause_turn: 'end',
  tool_use: 'calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refused',
}

/** An unfinished block. */
interface OpenBlock {
  readonly start: Fields
  text: string
  signature: string
}

function reader(): AnswerReader {
  const parts: AssistantPart[] = []
  const open = new Map<number, OpenBlock>()
  const seen = new Set<number>()
  let usage: Usage = NO_USAGE
  let stop: Stop | null = null
  let begun = false
  let done = false

  function begin(event: Fields): ProviderEvent[] {
    const index = numberOf(event.index)
    const start = recordOf(event.content_block)
    if (seen.has(index)) throw malformed(`block ${index} twice`)
    seen.add(index)
    const given = textOf(start.text) || textOf(start.thinking)
    open.set(index, { start, text: given, signature: textOf(start.signature) })
    if (start.type === 'tool_use') {
      if (textOf(start.id) === '' || textOf(start.name) === '') throw malformed('a call without its id or name')
      return [{ type: 'call', id: textOf(start.id), name: textOf(start.name) }]
    }
    if (given === '') return []
    return [{ type: start.type === 'thinking' ? 'thinking' : 'text', text: given }]
  }

  function add(event: Fields): ProviderEvent[] {
    const block = open.get(numberOf(event.index))
    if (!block) throw malformed('a piece of a block that is not open')
    const delta = recordOf(event.delta)
    switch (delta.type) {
      case 'text_delta':
        block.text += textOf(delta.text)
        return [{ type: 'text', text: textOf(delta.text) }]
      case 'thinking_delta':
        block.text += textOf(delta.thinking)
        return [{ type: 'thinking', text: textOf(delta.thinking) }]
      case 'input_json_delta':
        block.text += textOf(delta.partial_json)
        return []
      case 'signature_delta':
        block.signature += textOf(delta.signature)
        return []
      default:
        return []
    }
  }

  function close(event: Fields): void {
    const index = numberOf(event.index)
    const block = open.get(index)
    if (!block) return
    open.delete(index)
    const { start, text, signature } = block
    if (start.type === 'text') parts.push({ type: 'text', text })
    if (start.type === 'thinking')
      parts.push({ type: 'thinking', text, opaque: { type: 'thinking', thinking: text, signature } })
    if (start.type === 'redacted_thinking') parts.push({ type: 'thinking', text: '', opaque: start as Json })
    if (start.type === 'tool_use') {
      const whole = Object.keys(recordOf(start.input)).length > 0 && text === '' ? JSON.stringify(start.input) : text
      parts.push(callPart(textOf(start.id), textOf(start.name), whole))
    }
  }

  function count(found: Fields): void {
    usage = {
      input: found.input_tokens === undefined ? usage.input : numberOf(found.input_tokens),
      output: found.output_tokens === undefined ? usage.output : numberOf(found.output_tokens),
      cacheRead:
        found.cache_read_input_tokens === undefined ? usage.cacheRead : numberOf(found.cache_read_input_tokens),
      cacheWrite:
        found.cache_creation_input_tokens === undefined
          ? usage.cacheWrite
          : numberOf(found.cache_creation_input_tokens),
    }
  }

  return {
    take({ data }) {
      if (done) return []
      const event = fieldsOf(data)
      switch (event.type) {
        case 'message_start':
          if (begun) throw malformed('the start of a message twice')
          begun = true
          count(recordOf(recordOf(event.message).usage))
          return []
        case 'content_block_start':
          return begin(event)
        case 'content_block_delta':
          return add(event)
        case 'content_block_stop':
          close(event)
          return []
        case 'message_delta': {
          const reason = textOf(recordOf(event.delta).stop_reason)
          if (reason !== '') stop = STOPS[reason] ?? 'end'
          count(recordOf(event.usage))
          return []
        }
        case 'message_stop':
          if (!begun || stop === null || open.size > 0) throw malformed('the end of a message that is not whole')
          done = true
          return [{ type: 'done', message: { role: 'assistant', wire: 'anthropic', parts }, stop, usage }]
        case 'error':
          throw reported(recordOf(event.error))
        default:
          // llama.cpp reports errors in the form of chat completions.
          if (event.type === undefined && event.error !== undefined) throw reported(recordOf(event.error))
          return []
      }
    },
    end() {
      if (!done) throw cutShort()
      return []
    },
  }
}
