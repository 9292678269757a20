/** The built-in tools: what each takes, and what a call of it touches. One explicit list. */

import { patchPaths } from './patch/paths.ts'
import { type Actions, InputError, type PropertySchema, type ToolInput, type ToolSpec } from './tool.ts'

const text = (description: string): PropertySchema => ({ type: 'string', description })
const place = (description: string): PropertySchema => ({ type: 'string', description, format: 'path' })
const flag = (description: string): PropertySchema => ({ type: 'boolean', description })
const count = (description: string): PropertySchema => ({ type: 'integer', description, minimum: 1 })
const texts = (description: string): PropertySchema => ({ type: 'array', description, items: { type: 'string' } })

function tool(
  name: string,
  description: string,
  required: Record<string, PropertySchema>,
  optional: Record<string, PropertySchema>,
  actions: (input: ToolInput) => Actions,
): ToolSpec {
  return {
    name,
    description,
    input: { type: 'object', properties: { ...required, ...optional }, required: Object.keys(required) },
    actions,
  }
}

const string = (value: unknown): string => value as string
const path = place('Path, absolute or relative to the working directory.')
const nothing = (): Actions => ({})
const network = (input: ToolInput): Actions => ({
  url: string(input.url),
  ...(input.method !== undefined && { method: string(input.method) }),
  ...(input.resolved !== undefined && { resolved: input.resolved as string[] }),
  ...(input.hops !== undefined && { hops: input.hops as string[] }),
})
const wire = {
  resolved: texts('Addresses that stand in for DNS when a decision is only checked.'),
  hops: texts('Redirects that stand in for the wire when a decision is only checked.'),
}

/** A command to run, or a word about one that runs in the background. */
function commandActions(input: ToolInput): Actions {
  if (input.action !== undefined && input.action !== 'run') {
    if (input.command !== undefined) throw new InputError(`bash takes no "command" with "action": "${input.action}"`)
    if (input.action !== 'list' && input.handle === undefined) {
      throw new InputError(`bash needs "handle" with "action": "${input.action}"`)
    }
    return { ownOnly: true }
  }
  if (input.handle !== undefined) throw new InputError('"handle" of bash goes with "action": "read" or "kill"')
  if (input.command === undefined) throw new InputError('bash needs "command", the text to run')
  return { command: string(input.command), ...(input.cwd !== undefined && { cwd: string(input.cwd) }) }
}

export const builtInSpecs: readonly ToolSpec[] = [
  tool(
    'bash',
    'Runs a bash command or script inside the sandbox; lists, reads and kills those that run in the background.',
    {},
    {
      command: text('The command, or a script of several lines.'),
      cwd: place('Directory to start in.'),
      background: flag('Return at once with a handle.'),
      timeout: count('Seconds until it is stopped.'),
      description: text('What the command is for.'),
      action: {
        type: 'string',
        description: 'run (the default), or list, read or kill background commands.',
        enum: ['run', 'list', 'read', 'kill'],
      },
      handle: text('The background command to read or kill.'),
    },
    commandActions,
  ),
  tool(
    'read',
    'Reads a text file, a page at a time.',
    { path },
    {
      offset: count('First line, counted from 1.'),
      limit: count('Number of lines.'),
      column: count('First character of the first line, for very long lines.'),
    },
    (input) => ({ reads: [string(input.path)] }),
  ),
  tool('summary', 'Sums a file up: size, lines, type, outline of definitions.', { path }, {}, (input) => ({
    reads: [string(input.path)],
  })),
  tool(
    'write',
    'Writes a whole file; directories above it are made.',
    { path, content: text('The new content.') },
    {},
    (input) => ({ writes: [string(input.path)] }),
  ),
  tool(
    'edit',
    'Replaces exact text in a file.',
    { path, old_string: text('Text to replace.'), new_string: text('What to put there.') },
    { replace_all: flag('Replace every occurrence.') },
    (input) => ({ reads: [string(input.path)], writes: [string(input.path)] }),
  ),
  tool(
    'apply_patch',
    'Applies a patch to several files, all or nothing.',
    { patch: text('"*** Begin Patch" … "*** End Patch", or a unified diff.') },
    {},
    (input) => patchPaths(string(input.patch)),
  ),
  tool(
    'extract',
    'Unpacks a zip, tar or tar.gz archive.',
    { path, destination: place('Directory to unpack into.') },
    {},
    (input) => ({ reads: [string(input.path)], writes: [string(input.destination)] }),
  ),
  tool('list', 'Lists a directory.', { path }, {}, (input) => ({ lists: [string(input.path)] })),
  tool('stat', 'Tells type, size, mode and times.', { path }, {}, (input) => ({ lists: [string(input.path)] })),
  tool(
    'glob',
    'Finds files by a glob.',
    { pattern: text('The glob, such as src/**/*.ts.') },
    { path, ignored: flag('Also what .gitignore files name.') },
    (input) => ({ lists: [string(input.path ?? '.')] }),
  ),
  tool(
    'grep',
    'Searches file contents for a regular expression.',
    { pattern: text('The regular expression.') },
    {
      path,
      glob: text('Only files whose path matches.'),
      ignore_case: flag('Upper and lower case are one.'),
      context: { type: 'integer', description: 'Lines shown around each match.', minimum: 0 },
      files_only: flag('Only the names of files that match.'),
      ignored: flag('Also what .gitignore files name.'),
    },
    (input) => ({ reads: [string(input.path ?? '.')] }),
  ),
  tool('delete', 'Deletes a file or directory.', { path }, { recursive: flag('Directories too.') }, (input) => ({
    writes: [string(input.path)],
  })),
  tool('copy', 'Copies a file.', { source: path, destination: path }, {}, (input) => ({
    reads: [string(input.source)],
    writes: [string(input.destination)],
  })),
  tool('move', 'Moves a file or directory.', { source: path, destination: path }, {}, (input) => ({
    writes: [string(input.source), string(input.destination)],
  })),
  tool('mkdir', 'Makes a directory.', { path }, {}, (input) => ({ writes: [string(input.path)] })),
  tool('chmod', 'Changes a file’s mode.', { path, mode: text('Octal mode, such as 755.') }, {}, (input) => ({
    writes: [string(input.path)],
  })),
  tool('webfetch', 'Fetches a page as Markdown.', { url: text('http or https URL.') }, wire, network),
  tool(
    'http',
    'Makes an HTTP request.',
    { url: text('http or https URL.') },
    { method: text('Method.'), headers: { type: 'object', description: 'Headers.' }, body: text('Body.'), ...wire },
    network,
  ),
  tool('websearch', 'Searches the web.', { query: text('What to look for.') }, {}, nothing),
  tool(
    'todowrite',
    'Writes the to-do list.',
    {
      todos: {
        type: 'array',
        description: 'The items, each { content, status: pending | in_progress | completed | cancelled, priority? }.',
        items: { type: 'object' },
      },
    },
    {},
    nothing,
  ),
  tool('todoread', 'Reads the to-do list.', {}, {}, nothing),
  tool(
    'question',
    'Asks the user.',
    { question: text('The question.') },
    { options: texts('Answers to choose from.') },
    nothing,
  ),
  tool('task', 'Hands work to another agent.', { prompt: text('The task.') }, { agent: text('Which agent.') }, nothing),
  tool('skill', 'Loads a skill.', { name: text('Its name.') }, {}, nothing),
  tool('lsp', 'Asks a language server.', { path }, { query: text('What to ask.') }, (input) => ({
    reads: [string(input.path)],
  })),
  tool('python_exec', 'Runs Python in the sandbox, without network.', { code: text('The code.') }, {}, nothing),
  tool('code_exec', 'Runs JavaScript in a WASM engine.', { code: text('The code.') }, {}, nothing),
  tool(
    'sandbox_run',
    'Runs code in a fresh container.',
    { language: text('The language.'), code: text('The code.') },
    {},
    nothing,
  ),
]

const byName: ReadonlyMap<string, ToolSpec> = new Map(builtInSpecs.map((spec) => [spec.name, spec]))

/** The built-in tool of that name, or null. */
export function builtInSpec(name: string): ToolSpec | null {
  return byName.get(name) ?? null
}
