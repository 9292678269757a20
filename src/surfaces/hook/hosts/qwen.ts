/**
 * Qwen Code: Claude Code's protocol with Gemini CLI's tools. It ignores rewrites, so its agent must write the wrapped
 * command.
 */

import { dirname, join } from 'node:path'
import { claudeForm, ownFolder } from '../host/claude-form.ts'
import { type Host, isObject, type Json, optionalText, text } from '../host/host.ts'
import * as rows from '../host/tool-table.ts'

const TOOLS: rows.ToolTable = {
  run_shell_command: rows.shell('directory', 'dir_path'),
  read_file: rows.reads('file_path', 'absolute_path', 'path'),
  write_file: rows.writes('file_path', 'path'),
  edit: rows.edits('file_path', 'path'),
  replace: rows.edits('file_path', 'path'),
  notebook_edit: rows.edits('notebook_path'),
  list_directory: rows.lists('path', 'dir_path'),
  glob: rows.globs('path', 'dir_path'),
  grep_search: rows.searches('path', 'dir_path'),
  web_fetch: rows.fetches,
  web_search: rows.searchesWeb,
  agent: rows.delegates,
  skill: rows.expanding(rows.loadsSkill, 'args'),
  // `tool_call` has no row: its calls may not all arrive here.
  ...rows.inert('list_agents tool_search todo_write get_goal update_goal exit_plan_mode'),
}

const systemFile = ({ env }: { readonly env: Readonly<Record<string, string | undefined>> }): string =>
  env.QWEN_CODE_SYSTEM_SETTINGS_PATH ?? '/etc/qwen-code/settings.json'

const QWEN = { folder: '.qwen', folderVariable: 'QWEN_HOME' } as const

export const qwen: Host<'qwen'> = claudeForm({
  name: 'qwen',
  tools: TOOLS,
  shell: 'run_shell_command',
  program: 'qwen',
  tellsPerson: true,
  expands: {
    memory: ['QWEN.md', 'AGENTS.md', '.qwen/QWEN.local.md', '.qwen/rules/'],
    imports: true,
    texts: ['.qwen/skills/', '.qwen/agents/', '.qwen/commands/'],
    runsInline: true,
    naming: {
      files: ['.qwen/settings.json'],
      names: ['context.fileName', 'contextFileName'],
      folders: {
        keys: ['context.includeDirectories', 'includeDirectories'],
        switches: [
          'context.loadFromIncludeDirectories',
          'context.loadMemoryFromIncludeDirectories',
          'loadMemoryFromIncludeDirectories',
        ],
      },
      variables: true,
      own: (home, env) => env.QWEN_HOME ?? join(home, '.qwen'),
    },
  },
  ...QWEN,
  hooksFile: 'settings.json',
  resultOf: ({ tool_response: response }) => (isObject(response) ? response.llmContent : null),
  promptOf: (input) => ({
    said: optionalText(input, 'submitted_prompt') ?? text(input, 'prompt'),
    sent: text(input, 'prompt'),
  }),
  // It sees the wrapped form, which its agent writes.
  ownRules: {
    sources: ({ folders, home, env }) =>
      [
        ...folders.map((folder) => join(folder, '.qwen/settings.json')),
        join(home, '.qwen/settings.json'),
        systemFile({ env }),
      ].map((file) => ({ file })),
    reader: async () => (await import('../../../agents/import/bracket-rules.ts')).qwenCommands,
  },
  // It skips the worst variables, but not LD_LIBRARY_PATH; `.qwen` is fully protected.
  environment: ['.env'],
  install: async () => {
    const { allHooksOff } = await import('../host/forms.ts')
    return {
      brings: {
        '.qwen/settings.json': ['hooks', 'mcpServers', 'tools.discoveryCommand', 'tools.callCommand'],
        '.env': ['LD_LIBRARY_PATH', 'PATH'],
      },
      missed: 'Qwen Code finds a project’s hooks from the project’s own folder alone, and in a trusted one',
      withoutHooks: { flags: ['--bare', '--safe-mode'], variables: ['QWEN_CODE_SIMPLE', 'QWEN_CODE_SAFE_MODE'] },
      switchedOff: (place, settings) => {
        const system = systemFile(place)
        const user = join(ownFolder(QWEN, place), 'settings.json')
        const project = join(place.root, '.qwen/settings.json')
        const defaults = place.env.QWEN_CODE_SYSTEM_DEFAULTS_PATH ?? join(dirname(system), 'system-defaults.json')
        // Its own sandbox disables all hooks; a project cannot enable it.
        const confined = ({ tools }: Json): string | null =>
          isObject(tools) && isObject(tools.executionSandbox)
            ? '"tools.executionSandbox", with which Qwen Code asks no hook'
            : null
        return allHooksOff([project], settings) ?? allHooksOff([user, system, defaults], settings, confined)
      },
      rehearsal: {
        args: () => ['-p', 'go', '--yolo'],
        env: (port) => ({
          OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
          OPENAI_API_KEY: 'scripted',
          OPENAI_MODEL: 'scripted',
        }),
        call: (command) => ({
          tool: 'run_shell_command',
          input: { command, description: 'x', is_background: false },
        }),
      },
    }
  },
})
