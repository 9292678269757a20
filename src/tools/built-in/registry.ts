/** All built-in tools. */

import { defineTool, toolHints, touchesNothing } from '../define-tool.ts'
import { type LooseObject, objects, takes, text, texts } from '../input-schema.ts'
import { InputError, type Tool, type ToolSpec } from '../tool.ts'
import { lspSpec, requestSpec, skillSpec, taskSpec } from './agent-tools.ts'
import { bash } from './bash.ts'
import { codeExec, pythonExec, sandboxRun } from './code-tools.ts'
import { fileTools } from './file-tools.ts'
import { websearchSpec, webTools } from './web-tools.ts'

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

const todoWrite: Tool = defineTool({
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
      throw new InputError(`a to-do list takes at most ${MAX_TODOS} items, not ${items.length}`)
    const todos = items.map(parseTodo)
    context.store.set(KEY, todos)
    return { text: show(todos), data: { todos } }
  },
})

const todoRead: Tool = defineTool({
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

const MAX_QUESTION = 4000
const MAX_OPTIONS = 20

const question: Tool = defineTool({
  name: 'question',
  description: 'Asks the user.',
  input: takes({ question: text('The question.') }, { options: texts('Answers to choose from.') }),
  labels: [],
  hints: { title: 'Ask the user', ...toolHints.looksOut },
  actions: touchesNothing,
  run: async (input, context) => {
    const { question: asked, options = [] } = input
    if (asked.trim() === '' || asked.length > MAX_QUESTION) {
      throw new InputError(`"question" must have between 1 and ${MAX_QUESTION} characters`)
    }
    if (options.length > MAX_OPTIONS) throw new InputError(`"options" takes at most ${MAX_OPTIONS} answers`)
    const answer = await context.ask.ask(asked, options, context.signal)
    context.signal.throwIfAborted()
    if (answer === null) {
      return {
        text: 'No answer: nobody is at the prompt, or they did not reply. Use your best judgement and say what you assumed.',
        data: { answer: null },
        isError: true,
      }
    }
    return { text: answer, data: { answer } }
  },
})

/** Built-in tools that run by themselves. */
export const builtInTools: readonly Tool[] = [
  bash,
  ...fileTools,
  ...webTools,
  todoWrite,
  todoRead,
  question,
  pythonExec,
  codeExec,
  sandboxRun,
]

/** Tools that need parts of a session. */
const agentSpecs: readonly ToolSpec[] = [websearchSpec, taskSpec, skillSpec, lspSpec, requestSpec]

/** Every tool that can be decided about. */
export const builtInSpecs: readonly ToolSpec[] = [...builtInTools, ...agentSpecs]

const tools: ReadonlyMap<string, Tool> = new Map(builtInTools.map((tool) => [tool.name, tool]))
const specs: ReadonlyMap<string, ToolSpec> = new Map(builtInSpecs.map((spec) => [spec.name, spec]))

export function builtInTool(name: string): Tool | null {
  return tools.get(name) ?? null
}

export function builtInSpec(name: string): ToolSpec | null {
  return specs.get(name) ?? null
}
