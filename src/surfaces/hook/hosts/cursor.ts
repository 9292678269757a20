/**
 * Cursor: `preToolUse` for every tool, and older events for shells, MCP tools and reads, answered with `permission`.
 */

import { join } from 'node:path'
import { HOOK_TIMEOUT_SECONDS } from '../host/hook-command.ts'
import { expectEvent, type Host, isObject, type Json, object, optionalText, ProtocolError, text } from '../host/host.ts'
import { composes, decodes, dropsAt, dropsNul, trims } from '../host/path-readings.ts'
import * as rows from '../host/tool-table.ts'

const TOOLS: rows.ToolTable = {
  Shell: rows.shell('cwd', 'working_directory'),
  Read: rows.reads('file_path', 'path', 'target_file'),
  Write: rows.writes('file_path', 'path', 'target_file'),
  StrReplace: rows.edits('file_path', 'path', 'target_file'),
  Edit: rows.edits('file_path', 'path', 'target_file'),
  Delete: rows.writes('file_path', 'path', 'target_file'),
  TabRead: rows.reads('file_path', 'path', 'target_file'),
  TabWrite: rows.edits('file_path', 'path', 'target_file'),
  LS: rows.lists('path', 'target_directory'),
  Glob: rows.globs('path', 'target_directory'),
  Grep: rows.searches('path'),
  WebFetch: rows.fetches,
  WebSearch: rows.searchesWeb,
  Task: rows.delegates,
  TodoWrite: rows.nothing,
}

/** Events that ask for a permission, each with its way to read the call. */
const EVENTS: Readonly<Record<string, (input: Json) => { readonly tool: string; readonly given: Json }>> = {
  preToolUse: (input) => {
    const tool = text(input, 'tool_name')
    // Some versions send a server tool's input as text; it is not judged.
    return { tool, given: isServers(tool) ? {} : object(input, 'tool_input') }
  },
  beforeShellExecution: (input) => ({ tool: 'Shell', given: { command: text(input, 'command') } }),
  beforeMCPExecution: (input) => ({ tool: `MCP:${text(input, 'tool_name').replace(/^MCP:/, '')}`, given: {} }),
  beforeReadFile: (input) => ({ tool: 'Read', given: { file_path: text(input, 'file_path') } }),
  beforeTabFileRead: (input) => ({ tool: 'Read', given: { file_path: text(input, 'file_path') } }),
}

/** Events whose ask reaches the person. */
const ASKING: ReadonlySet<string> = new Set(['beforeShellExecution', 'beforeMCPExecution'])

export const cursor: Host<'cursor'> = {
  name: 'cursor',
  tools: TOOLS,
  // Its path handling is unknown, so it has every habit.
  paths: [dropsNul, trims, dropsAt, decodes, composes],
  ownRules: {
    sources: ({ folders, home }) =>
      [...folders.map((folder) => join(folder, '.cursor/cli.json')), join(home, '.cursor/cli-config.json')].map(
        (file) => ({
          file,
        }),
      ),
    reader: async () => (await import('../../../agents/import/bracket-rules.ts')).cursorCommands,
  },
  parse(input, env) {
    const event = expectEvent(input, ...Object.keys(EVENTS))
    const { tool, given } = EVENTS[event]!(input)
    return {
      tool,
      given,
      calls: isServers(tool) ? rows.foreign(tool) : rows.callsOf(TOOLS, tool, given),
      session: optionalText(input, 'conversation_id'),
      cwd: optionalText(input, 'cwd') || null,
      project: projectOf(input, env),
      command:
        tool === 'Shell' ? { text: text(given, 'command'), replaced: (command) => ({ ...given, command }) } : null,
      canRewrite: event === 'preToolUse',
      canAsk: ASKING.has(event),
    }
  },
  answer(_, outcome) {
    if (outcome.kind === 'pass') return '{}'
    if (outcome.kind === 'sandboxed') return JSON.stringify({ ...said('allow'), updated_input: outcome.input })
    if (outcome.kind === 'narrowed') throw new ProtocolError('Cursor’s searches cannot be narrowed')
    const messages = { user_message: outcome.reason, agent_message: outcome.reason, reason: outcome.reason }
    return JSON.stringify({ ...said(outcome.kind), ...messages })
  },
  results: {
    events: ['postToolUse'],
    parse(input, env) {
      const tool = text(input, 'tool_name')
      return {
        tool,
        session: optionalText(input, 'conversation_id'),
        project: projectOf(input, env),
        value: fromJson(input.tool_output),
        origin: isServers(tool) ? 'outside' : rows.originOf(TOOLS, tool, input.tool_input),
        // Untested with the real program: the reported command may not be the one that ran.
        command: null,
        canReplace: isServers(tool),
      }
    },
    answer: (_, { note, value }) =>
      JSON.stringify({
        ...(note !== null && { additional_context: note }),
        ...(value !== null && { updated_mcp_tool_output: value }),
      }),
  },
  borrows: (from, input) => from === 'claude-code' && typeof input.cursor_version === 'string',
  async install() {
    const [{ editRows }, { hasPath, withValue }] = await Promise.all([
      import('../host/hook-rows.ts'),
      import('../../../agents/settings/jsonc-text.ts'),
    ])
    const timeout = HOOK_TIMEOUT_SECONDS
    const paths = [...Object.keys(EVENTS), 'postToolUse'].map((event) => ['hooks', event])
    return {
      program: 'cursor-agent',
      file: ({ scope, root, home }) => join(scope === 'user' ? home : root, '.cursor/hooks.json'),
      edit: (text, commands, _, original) => {
        const versioned = commands !== null && !hasPath(text, ['version']) ? withValue(text, ['version'], 1) : text
        const rows =
          commands &&
          paths.map((path) => ({
            path,
            item:
              path[1] === 'postToolUse'
                ? { command: commands.result, timeout }
                : { command: commands.call, timeout, failClosed: true },
          }))
        return editRows(versioned, rows, original, { paths, comments: true })
      },
      missed: 'Cursor loads a project’s hooks in a trusted workspace alone, and a worktree has none',
      test: {
        call: (cwd, command) => ({
          hook_event_name: 'beforeShellExecution',
          workspace_roots: [cwd],
          cwd,
          command,
        }),
        result: (root, output) => ({
          hook_event_name: 'postToolUse',
          workspace_roots: [root],
          tool_name: 'Shell',
          tool_output: JSON.stringify({ output }),
        }),
        denial: '"permission":"deny"',
      },
      // Its program is in no package registry and only talks to Cursor.
      rehearsal: null,
    }
  },
}

function isServers(tool: string): boolean {
  return tool.startsWith('MCP:')
}

function projectOf(input: Json, env: Readonly<Record<string, string | undefined>>): string | null {
  const roots: readonly unknown[] = Array.isArray(input.workspace_roots) ? input.workspace_roots : []
  return roots.find((entry) => typeof entry === 'string') ?? env.CURSOR_PROJECT_DIR ?? null
}

function fromJson(value: unknown): unknown {
  try {
    const parsed: unknown = typeof value === 'string' ? JSON.parse(value) : value
    return isObject(parsed) ? parsed : value
  } catch {
    return value
  }
}

/** Versions name the field differently. */
function said(permission: 'allow' | 'ask' | 'deny'): Json {
  return { permission, decision: permission }
}
