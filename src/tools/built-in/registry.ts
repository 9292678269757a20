/** All built-in tools. */

import { defineTool, toolHints, touchesNothing } from '../define-tool.ts'
import {
  choice,
  count,
  flag,
  type InputOf,
  type LooseObject,
  objects,
  place,
  takes,
  text,
  texts,
} from '../input-schema.ts'
import {
  type BackgroundCommand,
  InputError,
  type Tool,
  type ToolContext,
  type ToolOutput,
  type ToolSpec,
} from '../tool.ts'
import { lspSpec, requestSpec, skillSpec, taskSpec } from './agent-tools.ts'
import { codeExec, pythonExec, sandboxRun } from './code-tools.ts'
import { fileTools } from './file-tools.ts'
import { websearchSpec, webTools } from './web-tools.ts'

const INPUT = takes(
  {},
  {
    command: text('The command, or a script of several lines.'),
    cwd: place('Directory to start in.'),
    background: flag('Return at once with a handle.'),
    timeout: count('Seconds until it is stopped.'),
    description: text('What the command is for.'),
    action: choice('run (the default), or list, read or kill background commands.', ['run', 'list', 'read', 'kill']),
    handle: text('The background command to read or kill.'),
  },
)

type BashInput = InputOf<typeof INPUT>

export const bash: Tool = defineTool({
  name: 'bash',
  description:
    'Runs a bash command or script inside the sandbox; lists, reads and kills those that run in the background.',
  input: INPUT,
  labels: ['execute', 'filesystem', 'network'],
  hints: { title: 'Run a command in the sandbox', ...toolHints.runs },
  actions: (input) => {
    const wanted = parse(input)
    if (wanted.action !== 'run') return { ownOnly: true }
    const background = input.background === true ? { background: true } : {}
    return { command: wanted.command, ...background, ...(input.cwd !== undefined && { cwd: input.cwd }) }
  },
  run: async (input, context) => {
    const wanted = parse(input)
    switch (wanted.action) {
      case 'list':
        return listed(context.commands.list())
      case 'read':
        return readOutput(wanted.handle, context)
      case 'kill':
        return kill(wanted.handle, context)
      case 'run':
        return input.background === true ? start(wanted.command, input, context) : run(wanted.command, input, context)
    }
  },
})

type BashAction =
  | { readonly action: 'run'; readonly command: string }
  | { readonly action: 'read' | 'kill'; readonly handle: string }
  | { readonly action: 'list' }

/** A new command, or an action on a background one. */
function parse({ action = 'run', command, handle }: BashInput): BashAction {
  if (action === 'run') {
    if (handle !== undefined) throw new InputError('"handle" of bash goes with "action": "read" or "kill"')
    if (command === undefined) throw new InputError('bash needs "command", the text to run')
    return { action, command }
  }
  if (command !== undefined) throw new InputError(`bash takes no "command" with "action": "${action}"`)
  if (action === 'list') return { action }
  if (handle === undefined) throw new InputError(`bash needs "handle" with "action": "${action}"`)
  return { action, handle }
}

async function run(command: string, input: BashInput, context: ToolContext): Promise<ToolOutput> {
  const result = await context.commands.run(command, optionsOf(input, context))
  context.signal.throwIfAborted()
  const { exitCode, timedOut, truncated, spill } = result
  const notes = [
    ...(timedOut ? [`stopped after ${timeoutOf(input, context) / 1000} s`] : []),
    ...(truncated ? [spill === null ? 'output was cut' : `output was cut; all of it is in ${spill}`] : []),
    ...(exitCode !== 0 && !timedOut ? [`exit code ${exitCode}`] : []),
    ...result.notes,
  ]
  return {
    text: shown(result.stdout, result.stderr, notes),
    data: { exitCode, stdout: result.stdout, stderr: result.stderr, timedOut, spill, notes: result.notes },
    exitCode,
    ...((exitCode !== 0 || timedOut) && { isError: true }),
    ...(truncated && {
      truncated: {
        shown: Buffer.byteLength(result.stdout) + Buffer.byteLength(result.stderr),
        total: null,
        unit: 'bytes',
        remedy: spill === null ? 'run it again with less output' : `read ${spill}`,
      },
    }),
  }
}

async function start(command: string, input: BashInput, context: ToolContext): Promise<ToolOutput> {
  const handle = await context.commands.start(command, optionsOf(input, context))
  return {
    text: `Started in the background as ${handle}. Read its output with { "action": "read", "handle": "${handle}" }.`,
    data: { handle },
  }
}

function listed(commands: readonly BackgroundCommand[]): ToolOutput {
  const lines = commands.map((one) => `${one.handle}: ${stateOf(one)}: ${one.command}`)
  return { text: lines.join('\n') || 'No command runs in the background.', data: { commands } }
}

function readOutput(handle: string, context: ToolContext): ToolOutput {
  const output = context.commands.read(handle)
  if (!output) throw unknownHandle(handle, context)
  const notes = [stateOf(output), ...(output.truncated ? ['older output was dropped'] : []), ...output.notes]
  return {
    text: shown(output.stdout, output.stderr, notes),
    data: output,
    ...(output.exitCode !== null && { exitCode: output.exitCode }),
  }
}

async function kill(handle: string, context: ToolContext): Promise<ToolOutput> {
  if (!(await context.commands.kill(handle))) throw unknownHandle(handle, context)
  return { text: `Ended ${handle}.`, data: { handle } }
}

function optionsOf(input: BashInput, context: ToolContext) {
  return {
    cwd: input.cwd === undefined ? context.cwd : context.checked(input.cwd),
    timeoutMs: timeoutOf(input, context),
    signal: context.signal,
  }
}

/** A call may only shorten its time limit. */
function timeoutOf(input: BashInput, context: ToolContext): number {
  const asked = input.timeout === undefined ? Number.POSITIVE_INFINITY : input.timeout * 1000
  const { timeoutMs, backgroundMs = timeoutMs } = context.limits
  return Math.min(asked, input.background === true ? backgroundMs : timeoutMs)
}

function stateOf(command: BackgroundCommand): string {
  return command.running ? 'running' : `ended with exit code ${command.exitCode}`
}

function shown(stdout: string, stderr: string, notes: readonly string[]): string {
  const parts = [stdout, stderr === '' ? '' : `[stderr]\n${stderr}`].filter((part) => part !== '')
  const body = parts.map((part) => part.replace(/\n$/, '')).join('\n')
  const lines = [...(body === '' ? [] : [body]), ...notes.map((note) => `[${note}]`)]
  return lines.join('\n') || '[no output]'
}

function unknownHandle(handle: string, context: ToolContext): InputError {
  const known = context.commands.list().map((one) => one.handle)
  return new InputError(
    `there is no background command ${JSON.stringify(handle.slice(0, 40))}; ${known.length > 0 ? `there are ${known.join(', ')}` : 'none was started'}`,
  )
}

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
