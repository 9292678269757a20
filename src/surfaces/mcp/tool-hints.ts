/** What MCP clients are told about each tool, beside its schema. Hints, not promises: the policy decides. */

export interface ToolHints {
  readonly title: string
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
const adds = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false }
const changes = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false }
const runs = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }
const asksOutside = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true }

const HINTS: Readonly<Record<string, ToolHints>> = {
  bash: { title: 'Run a command in the sandbox', ...runs },
  read: { title: 'Read a file', ...reads },
  summary: { title: 'Sum a file up', ...reads },
  list: { title: 'List a directory', ...reads },
  stat: { title: 'Look at a file’s facts', ...reads },
  glob: { title: 'Find files by name', ...reads },
  grep: { title: 'Search in files', ...reads },
  todoread: { title: 'Read the to-do list', ...reads },
  write: { title: 'Write a file', ...changes },
  edit: { title: 'Edit a file', ...changes },
  apply_patch: { title: 'Apply a patch', ...changes },
  extract: { title: 'Unpack an archive', ...changes },
  delete: { title: 'Delete', ...changes },
  move: { title: 'Move', ...changes },
  copy: { title: 'Copy a file', ...changes },
  mkdir: { title: 'Make a directory', ...adds },
  chmod: { title: 'Change a mode', ...changes },
  todowrite: { title: 'Write the to-do list', ...adds },
  webfetch: { title: 'Fetch a page', ...asksOutside },
  http: { title: 'Make an HTTP request', ...runs },
  question: { title: 'Ask the user', ...reads, openWorldHint: true },
}

/** The hints of a tool; one that is not in the table is taken for the worst. */
export function hintsOf(tool: string): ToolHints {
  return Object.hasOwn(HINTS, tool) ? HINTS[tool]! : { title: tool, ...runs }
}
