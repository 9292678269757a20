/** Keeps a conversation within its context window by summarising old messages. */

import type { AssistantPart, ImagePart, Message, OfferedTool, TextPart } from '../providers/conversation.ts'
import type { Model } from './model.ts'

/** Compact from this part of the window on. */
const FULL = 0.8
/** Part of the window that is kept. */
const RECENT = 0.2
/** Approximate characters per token, for uncounted text. */
const PER_TOKEN = 3.5

export const SUMMARY_REQUEST: string =
  'Sum this conversation up so that you can go on without it: what the user wants, in their words where they matter; what was ' +
  'decided; which files were read, created or changed, and how; commands and their outcomes; what is open, and the very next step. ' +
  'Leave out what is done with. Write no greeting and call no tool.'

/** A summary as a message. */
export function summaryMessage(summary: string): Message {
  const text = `What happened so far, in short (the conversation was longer than fits):\n\n${summary}`
  return { role: 'user', parts: [{ type: 'text', text }] }
}

/** Approximate tokens of a request. */
export function tokensOf(messages: readonly Message[], system = '', tools: readonly OfferedTool[] = []): number {
  const characters = messages.reduce((sum, message) => sum + lengthOf(message), 0)
  return Math.ceil((characters + system.length + JSON.stringify(tools).length) / PER_TOKEN)
}

/** Cached: messages never change. */
const lengths = new WeakMap<Message, number>()
/** Characters that count for a part's frame and for a picture. */
const AROUND = 40
const PICTURE = 1600 * PER_TOKEN

function lengthOf(message: Message): number {
  const known = lengths.get(message)
  if (known !== undefined) return known
  const length =
    message.role === 'results'
      ? message.results.reduce((sum, { id, name, text }) => sum + id.length + name.length + text.length + AROUND, 0)
      : message.parts.reduce((sum, part) => sum + partLength(part) + AROUND, 0)
  lengths.set(message, length)
  return length
}

function partLength(part: TextPart | ImagePart | AssistantPart): number {
  if (part.type === 'image') return PICTURE
  if (part.type === 'text') return part.text.length
  const opaque = part.opaque === undefined ? 0 : JSON.stringify(part.opaque).length
  if (part.type === 'thinking') return Math.max(part.text.length, opaque)
  return part.id.length + part.name.length + JSON.stringify(part.input).length + opaque
}

/** True if the next request may not fit; `counted` is the provider's last count. */
export function isFull(model: Model, counted: number, estimated: number): boolean {
  return Math.max(counted, estimated) > model.context * FULL - Math.min(model.maxTokens, model.context / 8)
}

/** How many last messages to keep: from a person's message on, so that results have calls. */
export function keptOf(messages: readonly Message[], context: number): number {
  let space = context * RECENT
  let kept = 0
  for (let at = messages.length - 1; at > 0; at--) {
    space -= lengthOf(messages[at]!) / PER_TOKEN
    if (space < 0) break
    if (messages[at]!.role === 'user') kept = messages.length - at
  }
  return kept
}

/** The conversation to summarise, cut in the middle if it does not fit. */
export function toSumUp(messages: readonly Message[], context: number): readonly Message[] {
  const space = context * 0.7
  if (tokensOf(messages) <= space) return messages
  const limit = Math.max(200, Math.floor((space * PER_TOKEN) / Math.max(1, messages.length)))
  return messages.map((message) => shortened(message, limit))
}

function shortened(message: Message, limit: number): Message {
  const cut = (text: string) =>
    text.length <= limit ? text : `${text.slice(0, limit / 2)}\n[…]\n${text.slice(-limit / 2)}`
  if (message.role === 'results') {
    return { ...message, results: message.results.map((result) => ({ ...result, text: cut(result.text) })) }
  }
  if (message.role === 'user') {
    return {
      ...message,
      parts: message.parts.map((part) => (part.type === 'text' ? { ...part, text: cut(part.text) } : part)),
    }
  }
  return {
    ...message,
    parts: message.parts.map((part) => (part.type === 'text' ? { ...part, text: cut(part.text) } : part)),
  }
}

/** A conversation as one text, with calls and results. */
export function conversationAsText(messages: readonly Message[]): Message {
  const lines = messages.flatMap((message): string[] => {
    if (message.role === 'results') return message.results.map(({ name, text }) => `Result of ${name}: ${text}`)
    const who = message.role === 'user' ? 'User' : 'You'
    return message.parts.flatMap((part): string[] => {
      if (part.type === 'text') return [`${who}: ${part.text}`]
      return part.type === 'call' ? [`You called ${part.name}: ${JSON.stringify(part.input)}`] : []
    })
  })
  return { role: 'user', parts: [{ type: 'text', text: `Our conversation so far:\n\n${lines.join('\n\n')}` }] }
}
