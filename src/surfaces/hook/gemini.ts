/** Gemini CLI: `BeforeTool`, denied with `{"decision":"deny","reason"}`; an ask hangs it when nobody is there. */

import { expectEvent, type Host, object, optionalText, ProtocolError, text } from './host.ts'
import {
  callsOf,
  edits,
  fetchesFromPrompt,
  foreign,
  globs,
  lists,
  loadsSkill,
  nothing,
  reads,
  readsMany,
  searches,
  searchesWeb,
  shell,
  type ToolTable,
  writes,
} from './tool-table.ts'

const TOOLS: ToolTable = {
  run_shell_command: (input) => shell(input.dir_path === undefined ? 'directory' : 'dir_path')(input),
  read_file: reads('file_path', 'absolute_path', 'path'),
  read_many_files: readsMany('include', 'paths'),
  write_file: writes('file_path', 'path'),
  replace: edits('file_path', 'path'),
  list_directory: lists('dir_path', 'path'),
  glob: globs('dir_path', 'path'),
  grep_search: searches('dir_path', 'path'),
  search_file_content: searches('dir_path', 'path'),
  web_fetch: fetchesFromPrompt('web_fetch'),
  google_web_search: searchesWeb,
  write_todos: nothing,
  ask_user: nothing,
  enter_plan_mode: nothing,
  exit_plan_mode: nothing,
  activate_skill: loadsSkill,
}

export const gemini: Host = {
  name: 'gemini',
  parse(input, env) {
    expectEvent(input, 'BeforeTool')
    const tool = text(input, 'tool_name')
    const given = object(input, 'tool_input')
    const fromServer = input.mcp_context !== undefined && input.mcp_context !== null
    return {
      tool,
      // A server can call its tool what it likes, so a known name of a server's tool means nothing.
      calls: fromServer ? foreign(tool.startsWith('mcp_') ? tool : `mcp_${tool}`) : callsOf(TOOLS, tool, given),
      session: optionalText(input, 'session_id'),
      cwd: text(input, 'cwd'),
      project: env.GEMINI_PROJECT_DIR ?? null,
      command:
        tool === 'run_shell_command' && !fromServer
          ? { text: text(given, 'command'), replaced: (command) => ({ ...given, command }) }
          : null,
      canRewrite: true,
      canAsk: false,
      leaveToHost: false,
    }
  },
  answer(_, outcome) {
    switch (outcome.kind) {
      case 'pass':
        return ''
      case 'deny':
        return JSON.stringify({ decision: 'deny', reason: outcome.reason })
      case 'sandboxed':
        return JSON.stringify({ hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: outcome.input } })
      case 'ask':
        throw new ProtocolError('Gemini CLI hangs on an ask when nobody is there')
    }
  },
}
