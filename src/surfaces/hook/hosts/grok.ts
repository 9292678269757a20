/** Grok: Claude Code's hooks in a separate file, which it trusts in the person's folder alone. */

import { join } from 'node:path'
import { claudeForm } from '../host/claude-form.ts'
import type { Host } from '../host/host.ts'
import * as rows from '../host/tool-table.ts'

const TOOLS: rows.ToolTable = {
  run_terminal_command: rows.shell(),
  read_file: rows.reads('target_file', 'file_path', 'path'),
  write: rows.writes('file_path', 'path'),
  search_replace: rows.edits('file_path', 'path'),
  list_dir: rows.lists('target_directory', 'path'),
  grep: rows.searches('path'),
  web_search: rows.searchesWeb,
  // Tools of servers, schedules, workflows, images and feedback have no row, and neither has `monitor`: they ask.
  ...rows.inert(
    'todo_write get_command_or_subagent_output kill_command_or_subagent scheduler_delete scheduler_list',
    'search_tool enter_plan_mode exit_plan_mode ask_user_question',
  ),
  spawn_subagent: (input) =>
    input.isolation === undefined || input.isolation === null || input.isolation === 'worktree'
      ? rows.expanding(rows.delegates, 'prompt')(input)
      : rows.foreign('spawn_subagent'),
}

export const grok: Host<'grok'> = claudeForm({
  name: 'grok',
  tools: TOOLS,
  program: 'grok',
  shell: 'run_terminal_command',
  rewrites: true,
  cutField: 'toolInputTruncated',
  expands: {
    memory: ['AGENTS.md', 'CLAUDE.md', 'CLAUDE.local.md', '.grok/AGENTS.md', '.grok/rules/', '.claude/rules/'],
    imports: true,
    texts: ['skills', 'commands', 'agents'].flatMap((name) => [`.grok/${name}/`, `.claude/${name}/`]),
    runsInline: true,
  },
  folder: '.grok',
  folderVariable: 'GROK_HOME',
  hooksFile: 'hooks/cordon.json',
  ownRules: {
    sources: ({ folders, home, env }) => [
      ...folders.flatMap((folder) => [
        { file: join(folder, '.grok/config.toml') },
        { file: join(folder, '.claude/settings.json') },
        { file: join(folder, '.claude/settings.local.json') },
      ]),
      ...['config.toml', 'managed_config.toml', 'requirements.toml'].map((name) => ({
        file: join(env.GROK_HOME ?? join(home, '.grok'), name),
      })),
      { file: join(home, '.claude/settings.json') },
      { file: '/etc/grok/managed_config.toml' },
    ],
    reader: async () => (await import('../../../agents/import/bracket-rules.ts')).grokCommands,
  },
  install: async () => ({
    brings: { '.grok/config.toml': ['mcp_servers', 'plugins'], '.grok/hooks/': [], '.mcp.json': ['mcpServers'] },
    missed: 'Grok runs a project’s hooks in a folder alone that you trusted there (/hooks-trust)',
    switchedOff: ({ home, env }, settings) => {
      const file = join(env.GROK_HOME ?? join(home, '.grok'), 'requirements.toml')
      return settings(file).allow_managed_hooks_only === undefined
        ? null
        : { detail: `${file} allows no hooks but your organization’s`, remedy: 'Ask your organization.' }
    },
    rehearsal: {
      args: () => ['-p', 'go'],
      env: (port) => ({
        XAI_API_KEY: 'scripted',
        GROK_XAI_API_BASE_URL: `http://127.0.0.1:${port}/v1`,
        GROK_CLI_CHAT_PROXY_BASE_URL: `http://127.0.0.1:${port}/v1`,
        GROK_DISABLE_AUTOUPDATER: '1',
      }),
      call: (command) => ({ tool: 'run_terminal_command', input: { command, description: 'x' } }),
    },
  }),
})
