/** `todowrite` and `todoread`: the session's to-do list. */

import { InputError, type ToolContext, type ToolInput, type ToolOutput } from './tool.ts'

interface Todo {
  readonly content: string
  readonly status: string
  readonly priority?: string
}

const KEY = 'todos'
const MAX_TODOS = 200
const MAX_CONTENT = 2000
const STATUSES: readonly string[] = ['pending', 'in_progress', 'completed', 'cancelled']
const MARKS: Readonly<Record<string, string>> = { pending: ' ', in_progress: '~', completed: 'x', cancelled: '-' }

export async function todoWrite(input: ToolInput, context: ToolContext): Promise<ToolOutput> {
  const items = input.todos as readonly Record<string, unknown>[]
  if (items.length > MAX_TODOS)
    throw new InputError(`a to-do list holds at most ${MAX_TODOS} items, not ${items.length}`)
  const todos = items.map(parseTodo)
  context.store.set(KEY, todos)
  return { text: show(todos), data: { todos } }
}

export async function todoRead(_input: ToolInput, context: ToolContext): Promise<ToolOutput> {
  const todos = (context.store.get(KEY) ?? []) as readonly Todo[]
  return { text: show(todos), data: { todos } }
}

function parseTodo(item: Record<string, unknown>, index: number): Todo {
  const { content, status = 'pending', priority } = item
  const where = `item ${index + 1} of "todos"`
  if (typeof content !== 'string' || content.trim() === '') throw new InputError(`${where} needs "content", a text`)
  if (content.length > MAX_CONTENT || !content.isWellFormed()) {
    throw new InputError(`"content" of ${where} must be valid text of at most ${MAX_CONTENT} characters`)
  }
  if (typeof status !== 'string' || !STATUSES.includes(status)) {
    throw new InputError(`"status" of ${where} must be one of ${STATUSES.join(', ')}`)
  }
  if (priority !== undefined && (typeof priority !== 'string' || !/^\w{1,20}$/.test(priority))) {
    throw new InputError(`"priority" of ${where} must be a word such as "high"`)
  }
  return { content, status, ...(priority !== undefined && { priority }) }
}

function show(todos: readonly Todo[]): string {
  if (todos.length === 0) return 'The to-do list is empty.'
  return todos
    .map(({ status, content, priority }) => `[${MARKS[status]}] ${content}${priority ? ` (${priority})` : ''}`)
    .join('\n')
}
