/** Converts agent events to editor updates. */

import type { SessionUpdate, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk'
import type { AgentEvent } from '../../chat/agent.ts'
import { visible } from '../../scan/visible-text.ts'

const KINDS: Readonly<Record<string, ToolKind>> = {
  read: 'read',
  summary: 'read',
  list: 'read',
  stat: 'read',
  lsp: 'read',
  write: 'edit',
  edit: 'edit',
  apply_patch: 'edit',
  extract: 'edit',
  mkdir: 'edit',
  chmod: 'edit',
  copy: 'edit',
  move: 'move',
  delete: 'delete',
  glob: 'search',
  grep: 'search',
  bash: 'execute',
  webfetch: 'fetch',
  websearch: 'fetch',
  http: 'fetch',
  todowrite: 'think',
  todoread: 'think',
}

/** The editor's kind for a tool. */
export function toolKindOf(name: string): ToolKind {
  return Object.hasOwn(KINDS, name) ? KINDS[name]! : 'other'
}

/** Prefixes an agent's call id, so that it cannot name a question of Cordon's. */
export function agentCallId(id: unknown): string {
  return `agent:${String(id)}`
}

const text = (value: string) => ({ type: 'text' as const, text: value })

/** The updates of an event. */
export function updatesOf(
  event: AgentEvent,
  subject: (name: string, input: Readonly<Record<string, unknown>>) => string,
): readonly SessionUpdate[] {
  const update = updateOf(event, subject)
  return [...(update ? [update] : []), ...planOf(event)]
}

/** The to-do list, as the editor shows plans. */
function planOf(event: AgentEvent): readonly SessionUpdate[] {
  if (event.type !== 'result' || event.call.name !== 'todowrite' || event.result?.status !== 'done') return []
  const { todos } = event.result.output.data as {
    readonly todos: readonly { readonly content: string; readonly status: string; readonly priority?: string }[]
  }
  const entries = todos.flatMap(({ content, status, priority }) => {
    const known = (['pending', 'in_progress', 'completed'] as const).find((one) => one === status)
    const rank = (['high', 'medium', 'low'] as const).find((one) => one === priority) ?? 'medium'
    return known ? [{ content, status: known, priority: rank }] : []
  })
  return [{ sessionUpdate: 'plan', entries }]
}

function updateOf(
  event: AgentEvent,
  subject: (name: string, input: Readonly<Record<string, unknown>>) => string,
): SessionUpdate | null {
  switch (event.type) {
    case 'text':
      return {
        sessionUpdate: 'agent_message_chunk',
        content: text(event.text),
      }
    case 'thinking':
      return {
        sessionUpdate: 'agent_thought_chunk',
        content: text(event.text),
      }
    case 'calling': {
      const { call } = event
      return {
        sessionUpdate: 'tool_call',
        toolCallId: agentCallId(call.id),
        title: visible(`${call.name} ${subject(call.name, call.input)}`.slice(0, 200).toWellFormed()),
        kind: toolKindOf(call.name),
        status: 'in_progress',
        rawInput: call.input,
        ...changesOf(call.name, call.input),
      }
    }
    case 'result': {
      const { call, result, text: said } = event
      const good = result?.status === 'done' && !result.output.isError
      return {
        sessionUpdate: 'tool_call_update',
        toolCallId: agentCallId(call.id),
        status: good ? 'completed' : 'failed',
        // It replaces what the call showed.
        content: [
          ...(changesOf(call.name, call.input).content ?? []),
          { type: 'content', content: text(said.slice(0, 20_000)) },
        ],
      }
    }
    case 'again':
      return {
        sessionUpdate: 'agent_message_chunk',
        content: text('\n[the response was cut off; asking again]\n'),
      }
    default:
      return null
  }
}

function changesOf(name: string, input: Readonly<Record<string, unknown>>): { content?: ToolCallContent[] } {
  const { path, old_string: before, new_string: after, content } = input
  if (typeof path !== 'string') return {}
  if (name === 'edit' && typeof before === 'string' && typeof after === 'string') {
    return { content: [{ type: 'diff', path, oldText: before, newText: after }] }
  }
  if (name === 'write' && typeof content === 'string')
    return { content: [{ type: 'diff', path, oldText: null, newText: content }] }
  return {}
}

/** The updates of a stored message. */
export function replay(
  message:
    | { readonly role: 'user'; readonly parts: readonly { readonly type: string; readonly text?: string }[] }
    | { readonly role: 'assistant'; readonly parts: readonly { readonly type: string; readonly text?: string }[] }
    | { readonly role: 'results' },
): SessionUpdate[] {
  if (message.role === 'results') return []
  const sessionUpdate = message.role === 'user' ? ('user_message_chunk' as const) : ('agent_message_chunk' as const)
  return message.parts.flatMap((part) =>
    part.type === 'text' && part.text ? [{ sessionUpdate, content: text(part.text) }] : [],
  )
}
