/** OpenAI's responses protocol, without server-side state. */

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

export const openaiResponses: Wire = {
  name: 'openai-responses',
  request: (request, key) => ({
    path: '/responses',
    headers: { ...(key !== null && { authorization: `Bearer ${key}` }) },
    body: bodyOf(request),
  }),
  reader,
}

function bodyOf({ model, system, messages, tools, maxTokens, extra }: ModelRequest): Fields {
  const offered = tools.map(({ name, description, input }) => ({
    type: 'function',
    name,
    description,
    parameters: input,
    strict: false,
  }))
  return {
    model,
    stream: true,
    store: false,
    max_output_tokens: maxTokens,
    // Reasoning models need it between the calls of a turn.
    include: ['reasoning.encrypted_content'],
    ...(system !== '' && { instructions: system }),
    input: messages.flatMap(itemsOf),
    ...(offered.length > 0 && { tools: offered }),
    ...extra,
  }
}

function itemsOf(message: Message): Fields[] {
  if (message.role === 'user') {
    const content = message.parts.map((part) =>
      part.type === 'text'
        ? { type: 'input_text', text: part.text }
        : { type: 'input_image', image_url: `data:${part.mediaType};base64,${part.data}` },
    )
    return [{ type: 'message', role: 'user', content }]
  }
  if (message.role === 'results') {
    return message.results.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text }))
  }
  const own = message.wire === 'openai-responses'
  return message.parts.flatMap((part): Fields[] => {
    // llama.cpp requires a type.
    if (part.type === 'text')
      return [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: part.text }] }]
    if (part.type === 'call') {
      const { id, name, input } = part
      return [{ type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) }]
    }
    return own && part.opaque !== undefined ? [part.opaque as Fields] : []
  })
}

function reader(): AnswerReader {
  const parts = new Map<number, AssistantPart>()
  const begun = new Set<number>()
  /** Items already streamed. */
  const streamed = new Set<number>()
  let next = 0
  let done = false

  const indexOf = (event: Fields) => (typeof event.output_index === 'number' ? event.output_index : next)

  function announce(index: number, item: Fields): ProviderEvent[] {
    if (begun.has(index) || item.type !== 'function_call') return []
    begun.add(index)
    return [{ type: 'call', id: textOf(item.call_id), name: textOf(item.name) }]
  }

  function whole(index: number, item: Fields): ProviderEvent[] {
    if (parts.has(index)) return []
    next = Math.max(next, index + 1)
    const events = announce(index, item)
    if (item.type === 'message') {
      const text = contentOf(item.content)
      parts.set(index, { type: 'text', text })
      if (!streamed.has(index) && text !== '') events.push({ type: 'text', text })
    }
    if (item.type === 'reasoning') {
      const text = contentOf(item.summary)
      parts.set(index, { type: 'thinking', text, opaque: item as Json })
      if (!streamed.has(index) && text !== '') events.push({ type: 'thinking', text })
    }
    if (item.type === 'function_call') {
      const [id, name] = [textOf(item.call_id), textOf(item.name)]
      if (id === '' || name === '') throw malformed('a call without its id or name')
      parts.set(index, callPart(id, name, textOf(item.arguments)))
    }
    return events
  }

  function finish(response: Fields, cut: boolean): ProviderEvent[] {
    const output = Array.isArray(response.output) ? response.output : []
    const events = output.flatMap((item, index) => (parts.has(index) ? [] : whole(index, recordOf(item))))
    done = true
    const ordered = [...parts.entries()].sort(([a], [b]) => a - b).map(([, part]) => part)
    const reason = textOf(recordOf(response.incomplete_details).reason)
    const calls = ordered.some((part) => part.type === 'call')
    const stop: Stop = cut ? (reason === 'content_filter' ? 'refused' : 'length') : calls ? 'calls' : 'end'
    const message = { role: 'assistant', wire: 'openai-responses', parts: ordered } as const
    return [...events, { type: 'done', message, stop, usage: usageOf(recordOf(response.usage)) }]
  }

  return {
    take({ data }) {
      if (done || data === '[DONE]') return []
      const event = fieldsOf(data)
      switch (event.type) {
        case 'response.output_item.added':
          return announce(indexOf(event), recordOf(event.item))
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          streamed.add(indexOf(event))
          return [{ type: 'text', text: textOf(event.delta) }]
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          streamed.add(indexOf(event))
          return [{ type: 'thinking', text: textOf(event.delta) }]
        case 'response.output_item.done':
          return whole(indexOf(event), recordOf(event.item))
        case 'response.completed':
          return finish(recordOf(event.response), false)
        case 'response.incomplete':
          return finish(recordOf(event.response), true)
        case 'response.failed':
          throw reported(recordOf(recordOf(event.response).error))
        case 'error':
          throw reported(event.error === undefined ? event : recordOf(event.error))
        default:
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

function contentOf(content: unknown): string {
  const entries = Array.isArray(content) ? content : []
  return entries.map((entry) => textOf(recordOf(entry).text) || textOf(recordOf(entry).refusal)).join('')
}

function usageOf(found: Fields): Usage {
  const cacheRead = numberOf(recordOf(found.input_tokens_details).cached_tokens)
  return {
    ...NO_USAGE,
    input: Math.max(0, numberOf(found.input_tokens) - cacheRead),
    output: numberOf(found.output_tokens),
    cacheRead,
  }
}
