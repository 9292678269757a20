/** OpenAI's chat completions, also spoken by Ollama, llama.cpp, vLLM, OpenRouter and others. */

import { recordOf } from '../../system/json.ts'
import {
  type AssistantPart,
  callPart,
  type Message,
  type ModelRequest,
  NO_USAGE,
  type ProviderEvent,
  type Stop,
  type Usage,
} from '../conversation.ts'
import { type AnswerReader, cutShort, type Fields, fieldsOf, numberOf, reported, textOf, type Wire } from '../wire.ts'

export const openaiChat: Wire = {
  name: 'openai-chat',
  request: (request, key) => ({
    path: '/chat/completions',
    headers: { ...(key !== null && { authorization: `Bearer ${key}` }) },
    body: bodyOf(request),
  }),
  reader,
}

function bodyOf({ model, system, messages, tools, maxTokens, capped, extra }: ModelRequest): Fields {
  const offered = tools.map(({ name, description, input }) => ({
    type: 'function',
    function: { name, description, parameters: input },
  }))
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    // Some servers refuse a limit beyond their window, so only an explicit one is sent.
    ...(capped && { max_tokens: maxTokens }),
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages.flatMap(messagesOf)],
    ...(offered.length > 0 && { tools: offered }),
    ...extra,
  }
}

function messagesOf(message: Message): Fields[] {
  if (message.role === 'user') {
    if (message.parts.every((part) => part.type === 'text')) {
      return [{ role: 'user', content: message.parts.map((part) => part.text).join('\n') }]
    }
    const content = message.parts.map((part) =>
      part.type === 'text'
        ? { type: 'text', text: part.text }
        : { type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${part.data}` } },
    )
    return [{ role: 'user', content }]
  }
  if (message.role === 'results') {
    return message.results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }))
  }
  const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  const calls = message.parts.flatMap((part) =>
    part.type === 'call'
      ? [{ id: part.id, type: 'function', function: { name: part.name, arguments: JSON.stringify(part.input) } }]
      : [],
  )
  if (text === '' && calls.length === 0) return []
  return [{ role: 'assistant', content: text === '' ? null : text, ...(calls.length > 0 && { tool_calls: calls }) }]
}

const STOPS: Readonly<Record<string, Stop>> = {
  stop: 'end',
  tool_calls: 'calls',
  function_call: 'calls',
  length: 'length',
  content_filter: 'refused',
}

interface OpenCall {
  id: string
  name: string
  text: string
}

function reader(): AnswerReader {
  let text = ''
  let thinking = ''
  const calls = new Map<number, OpenCall>()
  let usage: Usage = NO_USAGE
  let stop: Stop | null = null
  let done = false

  function add(entry: Fields, place: number): ProviderEvent[] {
    const created = recordOf(entry.function)
    // Some servers omit the index and send each call whole.
    const index = typeof entry.index === 'number' ? entry.index : whereOf(textOf(entry.id), place)
    const known = calls.get(index)
    const piece = typeof created.arguments === 'string' ? created.arguments : jsonOf(created.arguments)
    if (known) {
      known.text += piece
      if (known.name === '') known.name = textOf(created.name)
      return []
    }
    const call = { id: textOf(entry.id) || `call_${index}_${calls.size}`, name: textOf(created.name), text: piece }
    calls.set(index, call)
    return [{ type: 'call', id: call.id, name: call.name }]
  }

  function whereOf(id: string, place: number): number {
    for (const [index, call] of calls) if (id !== '' && call.id === id) return index
    return id === '' ? place : calls.size
  }

  function finish(): readonly ProviderEvent[] {
    if (done) return []
    if (stop === null) throw cutShort()
    done = true
    const parts: AssistantPart[] = [
      ...(thinking === '' ? [] : [{ type: 'thinking' as const, text: thinking }]),
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...[...calls.values()].map(({ id, name, text: given }) => callPart(id, name, given)),
    ]
    // Some servers say "stop" with calls. A cut answer runs nothing.
    const end = calls.size > 0 && stop === 'end' ? 'calls' : stop
    return [{ type: 'done', message: { role: 'assistant', wire: 'openai-chat', parts }, stop: end, usage }]
  }

  return {
    take({ data }) {
      if (done) return []
      if (data === '[DONE]') return finish()
      const chunk = fieldsOf(data)
      if (chunk.error !== undefined && chunk.error !== null) throw reported(errorOf(chunk.error))
      const counted = recordOf(chunk.usage)
      if (chunk.usage) usage = usageOf(counted)
      const choice = recordOf(Array.isArray(chunk.choices) ? chunk.choices[0] : undefined)
      const delta = recordOf(choice.delta)
      const events: ProviderEvent[] = []
      const thought = textOf(delta.reasoning_content) || textOf(delta.reasoning)
      if (thought !== '') {
        thinking += thought
        events.push({ type: 'thinking', text: thought })
      }
      const said = textOf(delta.content)
      if (said !== '') {
        text += said
        events.push({ type: 'text', text: said })
      }
      const created = Array.isArray(delta.tool_calls) ? delta.tool_calls : []
      for (const [place, entry] of created.entries()) events.push(...add(recordOf(entry), place))
      const reason = textOf(choice.finish_reason)
      if (reason !== '') stop = STOPS[reason] ?? 'end'
      return events
    },
    end: finish,
  }
}

function jsonOf(value: unknown): string {
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

function errorOf(error: unknown): Fields {
  return typeof error === 'string' ? { message: error } : recordOf(error)
}

function usageOf(found: Fields): Usage {
  const cacheRead = numberOf(recordOf(found.prompt_tokens_details).cached_tokens)
  return {
    input: Math.max(0, numberOf(found.prompt_tokens) - cacheRead),
    output: numberOf(found.completion_tokens),
    cacheRead,
    cacheWrite: 0,
  }
}
