/**
 * Qwen Code: Claude Code's protocol with Gemini CLI's tools. It ignores rewrites, so its agent must write the wrapped
 * command.
 */

import { dirname, join } from 'node:path'
import { expectEvent, type Host, isObject, type Json, object, optionalText, ProtocolError, text } from '../host/host.ts'
import type { InstallPlace } from '../host/install-place.ts'
import { composes, decodes, dropsAt, dropsNul, trims } from '../host/path-readings.ts'
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

export const qwen: Host<'qwen'> = {
  name: 'qwen',
  tools: TOOLS,
  tellsPerson: true,
  paths: [dropsNul, trims, dropsAt, decodes, composes],
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
  // It sees the wrapped form, which its agent writes.
  ownRules: {
    sources: ({ folders, home, env }) =>
      [
        ...folders.map((folder) => join(folder, '.qwen/settings.json')),
        join(home, '.qwen/settings.json'),
        env.QWEN_CODE_SYSTEM_SETTINGS_PATH ?? '/etc/qwen-code/settings.json',
      ].map((file) => ({ file })),
    reader: async () => (await import('../../../agents/import/bracket-rules.ts')).qwenCommands,
  },
  // It skips the worst variables, but not LD_LIBRARY_PATH; `.qwen` is fully protected.
  environment: ['.env'],
  parse(input) {
    expectEvent(input, 'PreToolUse')
    const tool = text(input, 'tool_name')
    const given = object(input, 'tool_input')
    const cwd = text(input, 'cwd')
    return {
      tool,
      given,
      calls: rows.callsOf(TOOLS, tool, given),
      session: optionalText(input, 'session_id'),
      cwd,
      project: cwd,
      command:
        tool === 'run_shell_command'
          ? { text: text(given, 'command'), replaced: (command) => ({ ...given, command }) }
          : null,
      canRewrite: false,
      canAsk: false,
    }
  },
  answer(_, outcome) {
    switch (outcome.kind) {
      case 'pass':
        return ''
      case 'deny':
        return JSON.stringify({
          hookSpecificOutput: {
            hookEventName: 'PreToolUse',
            permissionDecision: 'deny',
            permissionDecisionReason: outcome.reason,
          },
        })
      default:
        throw new ProtocolError('Qwen Code supports neither rewritten commands nor asks')
    }
  },
  prompts: {
    event: 'UserPromptSubmit',
    parse: (input) => ({
      project: text(input, 'cwd'),
      cwd: text(input, 'cwd'),
      said: optionalText(input, 'submitted_prompt') ?? text(input, 'prompt'),
      sent: text(input, 'prompt'),
    }),
    refuse: (reason) => JSON.stringify({ decision: 'block', reason }),
  },
  results: {
    events: ['PostToolUse'],
    parse(input) {
      const tool = text(input, 'tool_name')
      return {
        tool,
        session: optionalText(input, 'session_id'),
        project: text(input, 'cwd'),
        value: isObject(input.tool_response) ? input.tool_response.llmContent : null,
        origin: rows.originOf(TOOLS, tool, input.tool_input),
        command: tool === 'run_shell_command' ? rows.ranCommand(input.tool_input) : null,
        canReplace: false,
      }
    },
    answer: (_, { note }) =>
      JSON.stringify({ hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: note } }),
  },
  async install() {
    const { allHooksOff, groupedRows, PROMPT_EVENTS, testCall } = await import('../host/forms.ts')
    const user = ({ home, env }: InstallPlace): string => join(env.QWEN_HOME ?? join(home, '.qwen'), 'settings.json')
    const project = ({ root }: InstallPlace): string => join(root, '.qwen/settings.json')
    const call = testCall('PreToolUse', 'run_shell_command')
    return {
      program: 'qwen',
      brings: {
        '.qwen/settings.json': ['hooks', 'mcpServers', 'tools.discoveryCommand', 'tools.callCommand'],
        '.env': ['LD_LIBRARY_PATH', 'PATH'],
      },
      file: (place) => (place.scope === 'project' ? project(place) : user(place)),
      edit: groupedRows(PROMPT_EVENTS, { comments: true }),
      missed: 'Qwen Code finds a project’s hooks from the project’s own folder alone, and in a trusted one',
      withoutHooks: { flags: ['--bare', '--safe-mode'], variables: ['QWEN_CODE_SIMPLE', 'QWEN_CODE_SAFE_MODE'] },
      switchedOff: (place, settings) => {
        const system = place.env.QWEN_CODE_SYSTEM_SETTINGS_PATH ?? '/etc/qwen-code/settings.json'
        const defaults = place.env.QWEN_CODE_SYSTEM_DEFAULTS_PATH ?? join(dirname(system), 'system-defaults.json')
        // Its own sandbox disables all hooks; a project cannot enable it.
        const confined = ({ tools }: Json): string | null =>
          isObject(tools) && isObject(tools.executionSandbox)
            ? '"tools.executionSandbox", with which Qwen Code asks no hook'
            : null
        return (
          allHooksOff([project(place)], settings) ?? allHooksOff([user(place), system, defaults], settings, confined)
        )
      },
      others: { event: 'PreToolUse', files: (place) => [project(place), user(place)] },
      test: {
        call,
        result: (root, llmContent) => ({
          ...call(root, 'ls'),
          hook_event_name: 'PostToolUse',
          tool_response: { llmContent },
        }),
        denial: '"permissionDecision":"deny"',
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
}
