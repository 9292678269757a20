/** How the tools of hosts become Cordon's: one row a tool; what has no row asks, with what its input names. */

import { posix } from 'node:path'
import type { HookCall } from '../../../agents/hook/judge.ts'
import { mentionedPaths } from '../../../custom/walk.ts'
import { type HookRequest, isObject, type Json, type Origin, optionalText, ProtocolError, text } from './host.ts'
import { unknownTool } from './unknown-tool.ts'

/** Makes Cordon's calls of a tool's input. */
export type ToolRow = (input: Json) => readonly HookCall[]
export type ToolTable = Readonly<Record<string, ToolRow>>

/** The calls of one tool by the table of its host. */
export function callsOf(table: ToolTable, tool: string, input: Json): readonly HookCall[] {
  if (Object.hasOwn(table, tool)) return table[tool]!(input)
  // A server's tool names what is the server's; its own rules are about that.
  return /^mcp_/.test(tool) ? serverTool(tool, input) : unknownTool(tool, input)
}

/** Where what a tool gives comes from; from outside when no one can say. */
export function originOf(table: ToolTable, tool: string, input: unknown): Origin {
  if (!Object.hasOwn(table, tool)) return 'outside'
  let calls: readonly HookCall[]
  try {
    calls = callsOf(table, tool, isObject(input) ? input : {})
  } catch {
    // A tool of the host's own that is known by its name, only not what it was asked: its text has to stay as the files are.
    return 'project'
  }
  if (calls.some((one) => one.kind === 'foreign' || (one.kind === 'tool' && one.tool.startsWith('web'))))
    return 'outside'
  const own = calls.length > 0 && calls.every((one) => one.kind === 'tool' && WRITERS.has(one.tool))
  return own ? 'agent' : 'project'
}

/** The shell command in a tool's input as it ran; null when the host does not say. */
export function ranCommand(input: unknown): string | null {
  return isObject(input) && typeof input.command === 'string' ? input.command : null
}

/** Tools that give back what the agent wrote. */
const WRITERS: ReadonlySet<string> = new Set(['write', 'edit', 'apply_patch'])

/** A tool of which only the name counts, such as one of an MCP server: its level under [permission.tools] decides, else it asks. */
export function foreign(tool: string): readonly HookCall[] {
  return [{ kind: 'foreign', tool }]
}

/** A tool of an MCP server: its name and arguments are judged by the rules for it. `named`: as `mcp__SERVER__TOOL`. */
export function serverTool(tool: string, given: Json, named: string = tool): readonly HookCall[] {
  return [{ kind: 'foreign', tool, given, named }]
}

const call = (tool: string, input: Json): readonly HookCall[] => [{ kind: 'tool', tool, input }]

/** Talk between the agent and its host: nothing is touched. */
export const nothing: ToolRow = () => []

/** A shell command; the fields name the directory it starts in, and where there are several it must be right in all of them. */
export const shell =
  (...directories: readonly string[]): ToolRow =>
  (input) => {
    const command = text(input, 'command')
    const places = directories.flatMap((name) => optionalText(input, name) || [])
    const given =
      input.run_in_background === true || input.is_background === true ? { command, background: true } : { command }
    return places.length === 0 ? call('bash', given) : places.flatMap((cwd) => call('bash', { ...given, cwd }))
  }

/** A file that is read. Hosts have renamed the field, and which one a version believes is not known: all that are there count. */
export const reads =
  (...names: readonly string[]): ToolRow =>
  (input) =>
    given(input, names).flatMap((path) => call('read', { path }))

/** A question to a language server about a file, which it reads. */
export const asksServer =
  (...names: readonly string[]): ToolRow =>
  (input) =>
    given(input, names).flatMap((path) => call('lsp', { path }))

/** A file that is written as a whole. */
export const writes =
  (...names: readonly string[]): ToolRow =>
  (input) =>
    given(input, names).flatMap((path) => call('write', { path, content: '' }))

/** A file that is changed in place, which shows parts of it too. */
export const edits =
  (...names: readonly string[]): ToolRow =>
  (input) =>
    given(input, names).flatMap((path) => call('edit', { path, old_string: '', new_string: '' }))

export const lists =
  (...names: readonly string[]): ToolRow =>
  (input) =>
    given(input, names, '.').flatMap((path) => call('list', { path }))

/** Names by a glob: what is listed is the directory that the glob starts in, which the glob itself can name. */
export const globs =
  (...names: readonly string[]): ToolRow =>
  (input) =>
    given(input, names, '.').flatMap((base) =>
      call('glob', { pattern: '*', path: globStart(base, text(input, 'pattern')) }),
    )

/** A search through contents: every file below is read. */
export const searches =
  (...names: readonly string[]): ToolRow =>
  (input) => {
    const only = FILTERS.flatMap((name) => optionalText(input, name) || [])
    return given(input, names, '.').flatMap((base) =>
      [base, ...only.map((filter) => globStart(base, filter))].map((path) => ({ kind: 'search', path, only }) as const),
    )
  }

/** Fields by which a search is held to some files. */
const FILTERS: readonly string[] = ['glob', 'include', 'include_pattern']

/** The calls of a search which its host holds to what the hook lets it read. */
export function narrowing(calls: readonly HookCall[]): readonly HookCall[] {
  return calls.map((call) => (call.kind === 'search' ? { ...call, narrows: true } : call))
}

/** A search of a host whose filter is one glob in a field: what it calls, and its input with less to read. */
export function narrowedSearch(
  tools: ReadonlySet<string>,
  field: string,
  tool: string,
  given: Json,
  calls: readonly HookCall[],
): Pick<HookRequest, 'calls' | 'narrowed'> {
  if (!tools.has(tool) || FILTERS.some((name) => optionalText(given, name))) return { calls }
  return { calls: narrowing(calls), narrowed: (globs) => ({ ...given, [field]: allBut(globs) }) }
}

/** “All but these” as one glob. */
function allBut(globs: readonly string[]): string {
  const bare = globs.map((glob) => glob.replace(/^\*\*\//, ''))
  return `!**/${bare.length === 1 ? bare[0] : `{${bare.join(',')}}`}`
}

/** Every one of these fields that is there; the fallback when none is, and without one that is an error. */
function given(input: Json, names: readonly string[], fallback?: string): readonly string[] {
  const found = names.flatMap((name) => optionalText(input, name) ?? [])
  if (found.length > 0) return found
  return fallback === undefined ? [text(input, ...names)] : [fallback]
}

/** Many files by globs, with their contents. */
export const readsMany =
  (...names: readonly string[]): ToolRow =>
  (input) => {
    const globs = names.flatMap((name) => {
      const value = input[name] ?? []
      if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) {
        throw new ProtocolError(`"${name}" is not a list of texts`)
      }
      return value as string[]
    })
    if (globs.length === 0) throw new ProtocolError(`the input has no "${names[0]}"`)
    return globs.map((glob) => ({ kind: 'search', path: globStart('.', glob) }))
  }

/** A patch in the form that agents write. Another form, or words before it, would be read differently by Cordon and by the host. */
export const patches =
  (...names: readonly string[]): ToolRow =>
  (input) =>
    given(input, names).flatMap((patch) => {
      if (!/^\s*\*\*\* Begin Patch[^\S\n]*\n/.test(patch))
        throw new ProtocolError('the patch does not begin with the line "*** Begin Patch"')
      return call('apply_patch', { patch })
    })

export const fetches: ToolRow = (input) => call('webfetch', { url: text(input, 'url') })

/** Pages that a prompt names; without any, no one can say what will be fetched. */
export const fetchesFromPrompt =
  (tool: string): ToolRow =>
  (input) => {
    const prompt = given(input, ['prompt', 'url']).join(' ')
    const named = [...prompt.matchAll(/https?:\/\/[^\s"'<>()[\]{}]+/gi)].map(([url]) => url)
    // The host takes whole words: `https://good.example(@evil.example/` is a page of evil.example.
    const words = prompt.split(/\s+/).filter((word) => /^https?:$/.test(URL.parse(word)?.protocol ?? ''))
    const urls = [...new Set([...named, ...words])]
    return urls.length === 0 ? foreign(tool) : urls.flatMap((url) => call('webfetch', { url }))
  }

export const searchesWeb: ToolRow = (input) => call('websearch', { query: text(input, 'query', 'prompt') })
export const delegates: ToolRow = () => call('task', { prompt: '' })
export const loadsSkill: ToolRow = (input) => call('skill', { name: optionalText(input, 'skill', 'name') ?? '' })

/** The same in a host that puts the files which the text of these fields mentions with `@` in its place: it reads them. */
export const expanding =
  (row: ToolRow, ...names: readonly string[]): ToolRow =>
  (input) => [
    ...row(input),
    ...names.flatMap((name) =>
      mentionedPaths(optionalText(input, name) ?? '').flatMap((path) => call('read', { path })),
    ),
  ]

/** The directory that a glob starts in: everything before its first special character. */
function globStart(base: string, glob: string): string {
  if (glob.includes('{') && /\{[^}]*(\/|\.\.)/.test(glob)) {
    throw new ProtocolError('the glob has a path inside braces; write one glob for each')
  }
  const literal = glob.replace(/^!/, '').split(/[*?[\]{}]/)[0]!
  const directory = literal.slice(0, literal.lastIndexOf('/') + 1)
  const rest = glob.slice(literal.length)
  if (rest.split('/').includes('..')) throw new ProtocolError('the glob goes up with ".." after a wildcard')
  if (directory.startsWith('/') || directory.startsWith('~')) return directory
  return directory === '' ? base : posix.join(base, directory)
}
