/** Names of calls: every provider takes them back, and no two of a conversation are the same. */

import type { AssistantMessage, Message } from '../providers/conversation.ts'

/** What all providers take. */
const FORM = /^[A-Za-z0-9_-]{1,64}$/

/** The message with names of ours where a provider gave none that can be used, or one that stands for another call already. */
export function withOwnIds(message: AssistantMessage, earlier: readonly Message[]): AssistantMessage {
  const calls = message.parts.filter((part) => part.type === 'call')
  if (calls.length === 0) return message
  const taken = new Set(earlier.flatMap((one) => (one.role === 'results' ? one.results.map(({ id }) => id) : [])))
  let count = taken.size
  const parts = message.parts.map((part) => {
    if (part.type !== 'call') return part
    let { id } = part
    while (!FORM.test(id) || taken.has(id)) id = `call_${++count}`
    taken.add(id)
    return { ...part, id }
  })
  return { ...message, parts }
}
