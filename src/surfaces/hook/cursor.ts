/** Cursor: `preToolUse` for every tool, and the older events for shells, MCP tools and reads, answered with `permission`. */

import { expectEvent, type Host, type Json, object, optionalText, text } from './host.ts'
import {
  callsOf,
  delegates,
  edits,
  fetches,
  foreign,
  globs,
  lists,
  nothing,
  reads,
  searches,
  searchesWeb,
  shell,
  type ToolTable,
  writes,
} from './tool-table.ts'

const TOOLS: ToolTable = {
  Shell: shell('working_directory'),
  Read: reads('file_path', 'path', 'target_file'),
  Write: writes('file_path', 'path', 'target_file'),
  StrReplace: edits('file_path', 'path', 'target_file'),
  Edit: edits('file_path', 'path', 'target_file'),
  Delete: writes('file_path', 'path', 'target_file'),
  LS: lists('path', 'target_directory'),
  Glob: globs('path', 'target_directory'),
  Grep: searches('path'),
  WebFetch: fetches,
  WebSearch: searchesWeb,
  Task: delegates,
  TodoWrite: nothing,
}

/** Events that ask for a permission, each with what its input says the call is. */
const EVENTS: Readonly<Record<string, (input: Json) => { readonly tool: string; readonly given: Json }>> = {
  preToolUse: (input) => ({ tool: text(input, 'tool_name'), given: object(input, 'tool_input') }),
  beforeShellExecution: (input) => ({ tool: 'Shell', given: { command: text(input, 'command') } }),
  beforeReadFile: (input) => ({ tool: 'Read', given: { file_path: text(input, 'file_path') } }),
  beforeTabFileRead: (input) => ({ tool: 'Read', given: { file_path: text(input, 'file_path') } }),
  beforeMCPExecution: (input) => ({ tool: `MCP:${text(input, 'tool_name').replace(/^MCP:/, '')}`, given: {} }),
}

/** Events whose ask reaches the person. */
const ASKING: ReadonlySet<string> = new Set(['beforeShellExecution', 'beforeMCPExecution'])

export const cursor: Host = {
  name: 'cursor',
  parse(input, env) {
    const event = expectEvent(input, ...Object.keys(EVENTS))
    const { tool, given } = EVENTS[event]!(input)
    const roots = Array.isArray(input.workspace_roots) ? input.workspace_roots : []
    const [root] = roots.filter((entry) => typeof entry === 'string')
    return {
      tool,
      calls: tool.startsWith('MCP:') ? foreign(tool) : callsOf(TOOLS, tool, given),
      session: optionalText(input, 'conversation_id'),
      cwd: optionalText(input, 'cwd') || null,
      project: root ?? env.CURSOR_PROJECT_DIR ?? null,
      command:
        tool === 'Shell' ? { text: text(given, 'command'), replaced: (command) => ({ ...given, command }) } : null,
      canRewrite: event === 'preToolUse',
      canAsk: ASKING.has(event),
      leaveToHost: false,
    }
  },
  answer(_, outcome) {
    if (outcome.kind === 'pass') return '{}'
    if (outcome.kind === 'sandboxed') return JSON.stringify({ ...said('allow'), updated_input: outcome.input })
    const messages = { user_message: outcome.reason, agent_message: outcome.reason, reason: outcome.reason }
    return JSON.stringify({ ...said(outcome.kind), ...messages })
  },
}

/** Versions differ in the field's name. */
function said(permission: 'allow' | 'ask' | 'deny'): Json {
  return { permission, decision: permission }
}
