/** Command Code: Claude Code's hooks. It ignores rewrites, so its agent must write the wrapped command. */

import { claudeForm } from '../host/claude-form.ts'
import { type Host, type Json, optionalText, ProtocolError } from '../host/host.ts'
import * as rows from '../host/tool-table.ts'

const TOOLS: rows.ToolTable = {
  shell_command: runsWords,
  read_file: readsGlobs,
  write_file: rows.writes('file_path'),
  edit_file: rows.edits('file_path'),
  read_directory: rows.lists('path'),
  glob: rows.globs('path'),
  grep: rows.searches('path'),
  activate_skill: rows.expanding(rows.loadsSkill, 'arguments'),
  agent: startsUnseen,
  ...rows.inert('search_tools agent_output todo_write ask_user_question'),
}

/** It appends `args` to the command, quoted in its own way. */
function runsWords(input: Json): ReturnType<rows.ToolRow> {
  if (Array.isArray(input.args) && input.args.length > 0)
    throw new ProtocolError('the command has "args"; write the whole command into "command"')
  return rows.shell('cwd', 'directory')(input)
}

/** A path, a glob, or a list of both. */
function readsGlobs(input: Json): ReturnType<rows.ToolRow> {
  if (input.paths !== undefined && input.paths !== null) return rows.readsMany('paths')(input)
  const path = optionalText(input, 'file_path', 'absolute_path')
  return path !== null && /[*?[\]{}]/.test(path)
    ? rows.readsMany('paths')({ paths: [path] })
    : rows.reads('file_path', 'absolute_path')(input)
}

/** Seen in 1.64: calls of its sub-agents reach no hook. */
function startsUnseen(): never {
  throw new ProtocolError('the calls of a sub-agent reach no hook; do the work without one')
}

export const commandCode: Host<'command-code'> = claudeForm({
  name: 'command-code',
  tools: TOOLS,
  program: 'command-code',
  shell: 'shell_command',
  expands: {
    memory: ['AGENTS.md', 'CLAUDE.md', '.commandcode/AGENTS.md', '.commandcode/rules/'],
    imports: true,
    texts: ['skills', 'commands', 'agents'].map((name) => `.commandcode/${name}/`),
    runsInline: true,
  },
  folder: '.commandcode',
  folderVariable: null,
  hooksFile: 'settings.json',
  install: async () => ({
    brings: { '.commandcode/settings.json': ['hooks'], '.mcp.json': ['mcpServers'] },
    missed: 'Command Code reads a project’s settings from the project’s own folder alone',
    rehearsal: null,
  }),
})
