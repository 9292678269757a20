/** Google's generateContent protocol. */

import { recordOf } from '../../system/json.ts'
import {
  type AssistantPart,
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

export const gemini: Wire = {
  name: 'gemini',
  request: (request, key) => ({
    path: `/models/${encodeURIComponent(request.model)}:streamGenerateContent?alt=sse`,
    headers: { ...(key !== null && { 'x-goog-api-key': key }) },
    body: bodyOf(request),
  }),
  reader,
}

function bodyOf({ system, messages, tools, maxTokens, extra }: ModelRequest): Fields {
  const offered = tools.map(({ name, description, input }) => ({ name, description, parametersJsonSchema: input }))
  return {
    ...(system !== '' && { systemInstruction: { parts: [{ text: system }] } }),
    contents: messages.map(contentOf),
    ...(offered.length > 0 && { tools: [{ functionDeclarations: offered }] }),
    generationConfig: { maxOutputTokens: maxTokens },
    ...extra,
  }
}

function contentOf(message: Message): Fields {
  if (message.role === 'user') {
    const parts = message.parts.map((part) =>
      part.type === 'text' ? { text: part.text } : { inlineData: { mimeType: part.mediaType, data: part.data } },
    )
    return { role: 'user', parts }
  }
  if (message.role === 'results') {
    const parts = message.results.map(({ id, name, text, isError }) => ({
      functionResponse: { id, name, response: isError ? { error: text } : { output: text } },
    }))
    return { role: 'user', parts }
  }
  const own = message.wire === 'gemini'
  const parts = message.parts.flatMap((part): Fields[] => {
    const signature = own && part.type !== 'text' && part.opaque !== undefined ? { thoughtSignature: part.opaque } : {}
    if (part.type === 'text') return [{ text: part.text }]
    if (part.type === 'call')
      return [{ functionCall: { id: part.id, name: part.name, args: part.input }, ...signature }]
    return own && part.opaque !== undefined ? [{ text: part.text, thought: true, ...signature }] : []
  })
  return { role: 'model', parts: parts.length > 0 ? parts : [{ text: ' ' }] }
}

const STOPS: Readonly<Record<string, Stop>> = {
  STOP: 'end',
  MAX_TOKENS: 'length',
  SAFETY: 'refused',
  RECITATION: 'refused',
  LANGUAGE: 'refused',
  BLOCKLIST: 'refused',
  PROHIBITED_CONTENT: 'refused',
  SPII: 'refused',
}

function reader(): AnswerReader {
  const parts: AssistantPart[] = []
  let usage: Usage = NO_USAGE
  let stop: Stop | null = null
  let calls = 0
  let done = false

  function add(piece: Fields): ProviderEvent[] {
    const opaque = piece.thoughtSignature === undefined ? {} : { opaque: piece.thoughtSignature as Json }
    const created = recordOf(piece.functionCall)
    if (piece.functionCall !== undefined) {
      const name = textOf(created.name)
      if (name === '') throw malformed('a call without a name')
      // The protocol has names and order, no ids; results return in the same order.
      const id = textOf(created.id) || `call_${++calls}_${name}`
      const args = created.args ?? {}
      const fits = typeof args === 'object' && !Array.isArray(args)
      parts.push({
        type: 'call',
        id,
        name,
        input: fits ? (args as Record<string, unknown>) : {},
        ...(!fits && { problem: 'its arguments are not a JSON object' }),
        ...opaque,
      })
      return [{ type: 'call', id, name }]
    }
    const text = textOf(piece.text)
    const type = piece.thought === true ? 'thinking' : 'text'
    const last = parts.at(-1)
    if (last?.type === type && (type === 'text' || last.type !== 'thinking' || last.opaque === undefined)) {
      parts[parts.length - 1] = { ...last, text: last.text + text, ...(type === 'thinking' && opaque) } as AssistantPart
    } else if (type === 'thinking') parts.push({ type, text, ...opaque })
    else if (text !== '') parts.push({ type, text })
    return text === '' ? [] : [{ type, text }]
  }

  return {
    take({ data }) {
      if (done || data === '[DONE]') return []
      const chunk = fieldsOf(data)
      if (chunk.error !== undefined) {
        const error = recordOf(chunk.error)
        throw reported({ type: textOf(error.status), message: error.message })
      }
      if (chunk.usageMetadata !== undefined) usage = usageOf(recordOf(chunk.usageMetadata))
      const blocked = textOf(recordOf(chunk.promptFeedback).blockReason)
      if (blocked !== '') stop = 'refused'
      const candidate = recordOf(Array.isArray(chunk.candidates) ? chunk.candidates[0] : undefined)
      const pieces = recordOf(candidate.content).parts
      const events = (Array.isArray(pieces) ? pieces : []).flatMap((piece) => add(recordOf(piece)))
      const reason = textOf(candidate.finishReason)
      if (reason === 'MALFORMED_FUNCTION_CALL') throw malformed('a call that its model wrote wrongly')
      if (reason !== '') stop = STOPS[reason] ?? 'end'
      return events
    },
    end() {
      if (done) return []
      if (stop === null) throw cutShort()
      done = true
      const end = stop === 'end' && parts.some((part) => part.type === 'call') ? 'calls' : stop
      return [{ type: 'done', message: { role: 'assistant', wire: 'gemini', parts }, stop: end, usage }]
    },
  }
}

function usageOf(found: Fields): Usage {
  const cacheRead = numberOf(found.cachedContentTokenCount)
  return {
    ...NO_USAGE,
    input: Math.max(0, numberOf(found.promptTokenCount) - cacheRead),
    output: numberOf(found.candidatesTokenCount) + numberOf(found.thoughtsTokenCount),
    cacheRead,
  }
}
