/** Messages as they are read back from disk: a file that somebody changed must not become a conversation that no one held. */

import type { Message } from '../providers/conversation.ts'
import { isRecord } from '../system/record.ts'

const WIRES: readonly unknown[] = ['anthropic', 'openai-chat', 'openai-responses', 'gemini']

/** True for what the loop writes. */
export function isMessage(value: unknown): value is Message {
  if (!isRecord(value)) return false
  const { role, parts, results, wire } = value
  if (role === 'results') return isListOf(results, isResult)
  if (role === 'user') return isListOf(parts, isUserPart)
  return role === 'assistant' && WIRES.includes(wire) && isListOf(parts, isAssistantPart)
}

type Fields = Readonly<Record<string, unknown>>

function isListOf(value: unknown, fits: (entry: Fields) => boolean): boolean {
  return Array.isArray(value) && value.every((entry) => isRecord(entry) && fits(entry))
}

function isText(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string')
}

function isResult({ id, name, text, isError }: Fields): boolean {
  return isText(id, name, text) && typeof isError === 'boolean'
}

function isUserPart({ type, text, mediaType, data }: Fields): boolean {
  return type === 'text' ? isText(text) : type === 'image' && isText(mediaType, data)
}

function isAssistantPart({ type, text, id, name, input, problem }: Fields): boolean {
  if (type === 'text' || type === 'thinking') return isText(text)
  return type === 'call' && isText(id, name) && isRecord(input) && (problem === undefined || isText(problem))
}
