/** Maps hosts' tools to Cordon's: one row per tool; unknown tools ask, with everything their input names. */

import { posix } from 'node:path'
import type { ForeignCall, HookCall } from '../../../agents/hook/judge.ts'
import { mentionedPaths } from '../../../custom/walk.ts'
import { isReader, namedValues } from '../../../policy/named-values.ts'
import { type HookRequest, isObject, type Json, type Origin, optionalText, ProtocolError, text } from './host.ts'
import { quoteIfNeeded } from './sandboxed-command.ts'

/** Builds Cordon's calls from a tool's input. */
export type ToolRow = (input: Json) => readonly HookCall[]
export type ToolTable = Readonly<Record<string, ToolRow>>

/** The calls of one tool by its host's table. */
export function callsOf(table: ToolTable, tool: string, input: Json): readonly HookCall[] {
  if (Object.hasOwn(table, tool)) return table[tool]!(input)
  // What a server's tool names is for its own rules, and denied by those of the project.
  return /^mcp_/.test(tool) ? serverTool(tool, input) : unknownTool(tool, input)
}

/** The origin of a tool's result; outside if unknown. */
export function originOf(table: ToolTable, tool: string, input: unknown): Origin {
  if (!Object.hasOwn(table, tool)) return 'outside'
  let calls: readonly HookCall[]
  try {
    calls = callsOf(table, tool, isObject(input) ? input : {})
  } catch {
    // A known tool whose input is unknown: its text must stay as in the files.
    return 'project'
  }
  if (calls.some((one) => one.kind === 'foreign' || (one.kind === 'tool' && one.tool.startsWith('web'))))
    return 'outside'
  const own = calls.length > 0 && calls.every((one) => one.kind === 'tool' && WRITERS.has(one.tool))
  return own ? 'agent' : 'project'
}

/** The shell command that ran, from a tool's input; null if unknown. */
export function ranCommand(input: unknown): string | null {
  return isObject(input) && typeof input.command === 'string' ? input.command : null
}

const WRITERS: ReadonlySet<string> = new Set(['write', 'edit', 'apply_patch'])

/** A tool known only by name: its level under [permission.tools] decides, otherwise it asks. */
export function foreign(tool: string): readonly HookCall[] {
  return [{ kind: 'foreign', tool }]
}

/** A tool of an MCP server, judged by name and arguments. `named`: as `mcp__SERVER__TOOL`. */
export function serverTool(tool: string, given: Json, named: string = tool): readonly HookCall[] {
  return [{ kind: 'foreign', tool, given, named }]
}

const call = (tool: string, input: Json): readonly HookCall[] => [{ kind: 'tool', tool, input }]

/** Talk between the agent and its host, without effects. */
export const nothing: ToolRow = () => []

/** Rows of tools without effects, by their names. */
export function inert(...names: readonly string[]): ToolTable {
  return Object.fromEntries(names.flatMap((some) => some.split(' ')).map((name) => [name, nothing]))
}

/** A shell command; the fields name its start directory, and several must all be allowed. */
export const shell =
  (...directories: readonly string[]): ToolRow =>
  (input) => {
    const command = text(input, 'command')
    const places = directories.flatMap((name) => optionalText(input, name) || [])
    const given =
      input.run_in_background === true || input.is_background === true ? { command, background: true } : { command }
    return places.length === 0 ? call('bash', given) : places.flatMap((cwd) => call('bash', { ...given, cwd }))
  }

/** Reads a file. Hosts renamed the field, and versions differ, so all present fields count. */
export const reads =
  (...names: readonly string[]): ToolRow =>
  (input) =>
    given(input, names).flatMap((path) => call('read', { path }))

/** A language server query about a file, which the server reads. */
export const asksServer =
  (...names: readonly string[]): ToolRow =>
  (input) =>
    given(input, names).flatMap((path) => call('lsp', { path }))

/** Writes a whole file. */
export const writes =
  (...names: readonly string[]): ToolRow =>
  (input) =>
    given(input, names).flatMap((path) => call('write', { path, content: '' }))

/** Edits a file in place, which also shows parts of it. */
export const edits =
  (...names: readonly string[]): ToolRow =>
  (input) =>
    given(input, names).flatMap((path) => call('edit', { path, old_string: '', new_string: '' }))

export const lists =
  (...names: readonly string[]): ToolRow =>
  (input) =>
    given(input, names, '.').flatMap((path) => call('list', { path }))

/** Lists names by a glob, from the directory in which the glob starts. */
export const globs =
  (...names: readonly string[]): ToolRow =>
  (input) =>
    given(input, names, '.').flatMap((base) =>
      call('glob', { pattern: '*', path: globStart(base, text(input, 'pattern')) }),
    )

/** Searches contents, so every file below is read. */
export const searches =
  (...names: readonly string[]): ToolRow =>
  (input) => {
    const only = FILTERS.flatMap((name) => optionalText(input, name) || [])
    return given(input, names, '.').flatMap((base) =>
      [base, ...only.map((filter) => globStart(base, filter))].map((path) => ({ kind: 'search', path, only }) as const),
    )
  }

const FILTERS: readonly string[] = ['glob', 'include', 'include_pattern']

/** The calls of a search that its host restricts to files the hook allows. */
export function narrowing(calls: readonly HookCall[]): readonly HookCall[] {
  return calls.map((call) => (call.kind === 'search' ? { ...call, narrows: true } : call))
}

/** A search whose filter is one glob field: its calls, and its input with exclusions. */
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

function allBut(globs: readonly string[]): string {
  const bare = globs.map((glob) => glob.replace(/^\*\*\//, ''))
  return `!**/${bare.length === 1 ? bare[0] : `{${bare.join(',')}}`}`
}

/** Every field that is present; otherwise the fallback, and without one an error. */
function given(input: Json, names: readonly string[], fallback?: string): readonly string[] {
  const found = names.flatMap((name) => optionalText(input, name) ?? [])
  if (found.length > 0) return found
  return fallback === undefined ? [text(input, ...names)] : [fallback]
}

/** Reads many files by globs. */
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

/** A patch in the form that agents write. Cordon and the host could read other forms differently. */
export const patches =
  (...names: readonly string[]): ToolRow =>
  (input) =>
    given(input, names).flatMap((patch) => {
      if (!/^\s*\*\*\* Begin Patch[^\S\n]*\n/.test(patch))
        throw new ProtocolError('the patch does not begin with the line "*** Begin Patch"')
      return call('apply_patch', { patch })
    })

export const fetches: ToolRow = (input) => call('webfetch', { url: text(input, 'url') })

/** Pages that a prompt names. Without any, nobody can know what will be fetched. */
export const fetchesFromPrompt =
  (tool: string): ToolRow =>
  (input) => {
    const prompt = given(input, ['prompt', 'url']).join(' ')
    const named = [...prompt.matchAll(/https?:\/\/[^\s"'<>()[\]{}]+/gi)].map(([url]) => url)
    // The host splits at blanks only: `https://good.example(@evil.example/` is a page of evil.example.
    const words = prompt.split(/\s+/).filter((word) => /^https?:$/.test(URL.parse(word)?.protocol ?? ''))
    const urls = [...new Set([...named, ...words])]
    return urls.length === 0 ? foreign(tool) : urls.flatMap((url) => call('webfetch', { url }))
  }

export const searchesWeb: ToolRow = (input) => call('websearch', { query: text(input, 'query', 'prompt') })
export const delegates: ToolRow = () => call('task', { prompt: '' })
export const loadsSkill: ToolRow = (input) => call('skill', { name: optionalText(input, 'skill', 'name') ?? '' })

/** Also reads files that the text of these fields mentions with `@`, which the host inserts. */
export const expanding =
  (row: ToolRow, ...names: readonly string[]): ToolRow =>
  (input) => [
    ...row(input),
    ...names.flatMap((name) =>
      mentionedPaths(optionalText(input, name) ?? '').flatMap((path) => call('read', { path })),
    ),
  ]

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

type Actions = NonNullable<ForeignCall['actions']>

/** The calls of an unknown tool: each path may be read or written, each command run and each address fetched. */
function unknownTool(tool: string, input: Json): readonly HookCall[] {
  const { paths, urls, commands, patches, isTooMuch } = namedValues(input, quoteIfNeeded)
  if (isTooMuch) throw new ProtocolError(`the input of ${tool} is too long to be judged`)
  const actions: Actions[] = [
    ...(paths.length === 0 ? [] : [isReader(tool) ? { reads: paths } : { reads: paths, writes: paths }]),
    ...urls.map((url) => ({ url })),
    ...commands.map((command) => ({ command })),
  ]
  return [
    { kind: 'foreign', tool, isUnknown: true },
    ...actions.map((actions) => ({ kind: 'foreign', tool, actions }) as const),
    ...patches.flatMap((patch) => call('apply_patch', { patch })),
  ]
}
