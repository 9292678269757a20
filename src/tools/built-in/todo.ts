/** `todowrite` and `todoread`: the session's to-do list. */

import { defineTool, toolHints, touchesNothing } from '../define-tool.ts'
import { type LooseObject, objects, takes } from '../input-schema.ts'
import { InputError, type Tool } from '../tool.ts'

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

export const todoWrite: Tool = defineTool({
  name: 'todowrite',
  description: 'Writes the to-do list.',
  input: takes({
    todos: objects('The items, each { content, status: pending | in_progress | completed | cancelled, priority? }.'),
  }),
  labels: [],
  hints: { title: 'Write the to-do list', ...toolHints.adds },
  actions: touchesNothing,
  run: async (input, context) => {
    const items = input.todos
    if (items.length > MAX_TODOS)
      throw new InputError(`a to-do list holds at most ${MAX_TODOS} items, not ${items.length}`)
    const todos = items.map(parseTodo)
    context.store.set(KEY, todos)
    return { text: show(todos), data: { todos } }
  },
})

export const todoRead: Tool = defineTool({
  name: 'todoread',
  description: 'Reads the to-do list.',
  input: takes({}),
  labels: [],
  hints: { title: 'Read the to-do list', ...toolHints.reads },
  actions: touchesNothing,
  run: async (_input, context) => {
    const todos = (context.store.get(KEY) ?? []) as readonly Todo[]
    return { text: show(todos), data: { todos } }
  },
})

function parseTodo(item: LooseObject, index: number): Todo {
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
