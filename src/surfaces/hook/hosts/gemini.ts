/** Gemini CLI: `BeforeTool`, denied with `{"decision":"deny","reason"}`; an unattended ask hangs it. */

import { dirname, join, resolve } from 'node:path'
import { HOOK_TIMEOUT_SECONDS, isHookCommand } from '../host/hook-command.ts'
import {
  expectEvent,
  flagValues,
  type Host,
  isObject,
  type Json,
  object,
  optionalText,
  ProtocolError,
  type RulePlace,
  recordOf,
  sessionName,
  text,
} from '../host/host.ts'
import type { InstallPlace } from '../host/install-place.ts'
import { composes, decodes, dropsAt, dropsNul, trims } from '../host/path-readings.ts'
import * as rows from '../host/tool-table.ts'

const TOOLS: rows.ToolTable = {
  run_shell_command: rows.shell('dir_path', 'directory'),
  read_file: rows.reads('file_path', 'absolute_path', 'path'),
  read_many_files: rows.readsMany('include', 'paths'),
  write_file: rows.writes('file_path', 'path'),
  replace: rows.edits('file_path', 'path'),
  list_directory: rows.lists('dir_path', 'path'),
  glob: rows.globs('dir_path', 'path'),
  grep_search: rows.searches('dir_path', 'path'),
  search_file_content: rows.searches('dir_path', 'path'),
  web_fetch: rows.fetchesFromPrompt('web_fetch'),
  google_web_search: rows.searchesWeb,
  activate_skill: rows.loadsSkill,
  // A sub-agent's actions arrive here as well.
  invoke_agent: rows.delegates,
  ...rows.inert(
    'write_todos update_topic complete_task list_background_processes read_background_output tracker_create_task',
    'tracker_update_task tracker_get_task tracker_list_tasks tracker_add_dependency tracker_visualize ask_user',
    'enter_plan_mode exit_plan_mode',
  ),
}

const SEARCHES: ReadonlySet<string> = new Set(['grep_search', 'search_file_content'])

export const gemini: Host<'gemini'> = {
  name: 'gemini',
  tools: TOOLS,
  tellsPerson: true,
  paths: [dropsNul, trims, dropsAt, decodes, composes],
  ownFolders(input) {
    const [record, session] = [recordOf(input), sessionName(input)]
    // `~/.gemini/tmp/PROJECT/chats/…`
    return record === null || session === null
      ? []
      : [join(dirname(dirname(record)), 'tool-outputs', `session-${session}`)]
  },
  expands: {
    memory: ['GEMINI.md'],
    imports: true,
    texts: ['.gemini/skills/', '.gemini/agents/', '.gemini/commands/', '.agents/skills/'],
    runsInline: false,
    naming: {
      files: ['.gemini/settings.json'],
      names: ['context.fileName', 'contextFileName'],
      folders: {
        keys: ['context.includeDirectories', 'includeDirectories'],
        switches: ['context.loadMemoryFromIncludeDirectories', 'loadMemoryFromIncludeDirectories'],
      },
      variables: true,
      own: (home, env) => join(env.GEMINI_CLI_HOME ?? home, '.gemini'),
    },
  },
  ownRules: {
    settings: geminiSettings,
    sources: (at) => [
      ...geminiSettings(at).map((file) => ({ file })),
      ...[join(at.home, '.gemini/policies'), '/etc/gemini-cli/policies'].map((folder) => ({ folder, ending: '.toml' })),
      ...flagValues(at, '--policy', '--admin-policy')
        .flatMap((given) => given.split(','))
        .map((given) => resolve(at.folders.at(-1) ?? '/', given))
        .flatMap((path) => (path.endsWith('.toml') ? { file: path } : { folder: path, ending: '.toml' })),
    ],
    lastWins: true,
    reader: async () => (await import('../../../agents/import/gemini.ts')).geminiCommands,
  },
  parse(input, env) {
    expectEvent(input, 'BeforeTool')
    const tool = text(input, 'tool_name')
    const given = object(input, 'tool_input')
    const fromServer = isServers(input)
    return {
      tool,
      given,
      // Servers choose their tools' names, so a known name of a server's tool means nothing.
      ...(fromServer
        ? { calls: rows.serverTool(tool.startsWith('mcp_') ? tool : `mcp_${tool}`, given, namedByServer(input)) }
        : rows.narrowedSearch(SEARCHES, 'include_pattern', tool, given, rows.callsOf(TOOLS, tool, given))),
      session: optionalText(input, 'session_id'),
      cwd: text(input, 'cwd'),
      project: env.GEMINI_PROJECT_DIR ?? null,
      command:
        tool === 'run_shell_command' && !fromServer
          ? { text: text(given, 'command'), replaced: (command) => ({ ...given, command }) }
          : null,
      canRewrite: true,
      canAsk: false,
      ...(tool === 'replace' && !fromServer && { soughtElsewhere: pathsOf(given) }),
    }
  },
  answer(_, outcome) {
    switch (outcome.kind) {
      case 'pass':
        return ''
      case 'deny':
        return JSON.stringify({ decision: 'deny', reason: outcome.reason })
      // Its search result mentions the filter.
      case 'narrowed':
      case 'sandboxed':
        return JSON.stringify({ hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: outcome.input } })
      case 'ask':
        throw new ProtocolError('Gemini CLI hangs on an ask when there is no one to answer')
    }
  },
  prompts: {
    event: 'BeforeAgent',
    // The prompt contains the expanded words.
    parse: (input, env) => ({
      project: env.GEMINI_PROJECT_DIR ?? text(input, 'cwd'),
      cwd: text(input, 'cwd'),
      sent: text(input, 'prompt'),
    }),
    refuse: (reason) => JSON.stringify({ decision: 'deny', reason }),
    blind: async (env) => (await import('./gemini-settings.ts')).drivenByEditor(env),
  },
  results: {
    events: ['AfterTool'],
    parse(input, env) {
      const tool = text(input, 'tool_name')
      return {
        tool,
        session: optionalText(input, 'session_id'),
        project: env.GEMINI_PROJECT_DIR ?? null,
        // The text for the person is not the model's.
        value: isObject(input.tool_response) ? input.tool_response.llmContent : null,
        origin: isServers(input) ? 'outside' : rows.originOf(TOOLS, tool, input.tool_input),
        command: tool === 'run_shell_command' && !isServers(input) ? rows.ranCommand(input.tool_input) : null,
        canReplace: true,
      }
    },
    // The reason of a denial replaces the result, and additional context is ignored then.
    answer: (_, { note, value }) => {
      if (value === null)
        return JSON.stringify({ hookSpecificOutput: { hookEventName: 'AfterTool', additionalContext: note } })
      const shown = typeof value === 'string' ? value : JSON.stringify(value)
      return JSON.stringify({ decision: 'deny', reason: note === null ? shown : `${note}\n${shown}` })
    },
  },
  async install() {
    const [
      { groupedRows, offBy, testCall },
      { checkGemini, distrusted, planTrust, rememberedOf, withoutLocalEnv },
      { TELLS_WORDS },
    ] = await Promise.all([import('../host/forms.ts'), import('./gemini-settings.ts'), import('./gemini-settings.ts')])
    const user = ({ home, env }: InstallPlace): string => join(env.GEMINI_CLI_HOME ?? home, '.gemini/settings.json')
    const project = ({ root }: InstallPlace): string => join(root, '.gemini/settings.json')
    const put = groupedRows(
      { BeforeTool: 'call', AfterTool: 'result', BeforeAgent: ({ call }) => `${TELLS_WORDS}${call}` },
      { comments: true, check: checkGemini, timeout: HOOK_TIMEOUT_SECONDS * 1000 },
    )
    const call = testCall('BeforeTool', 'run_shell_command')
    return {
      program: 'gemini',
      brings: { '.gemini/settings.json': ['hooks', 'mcpServers', 'tools.discoveryCommand', 'tools.callCommand'] },
      file: (place) => (place.scope === 'user' ? user(place) : project(place)),
      edit: (text, commands, place, original) => {
        const edited = put(text, commands, place, original)
        return commands === null || edited === null ? edited : withoutLocalEnv(edited)
      },
      missed: 'Gemini CLI finds a project’s hooks from the project’s own folder alone',
      switchedOff: (place, settings) => {
        const system = place.env.GEMINI_CLI_SYSTEM_SETTINGS_PATH ?? '/etc/gemini-cli/settings.json'
        for (const file of [project(place), user(place), system]) {
          const { hooksConfig } = settings(file)
          if (!isObject(hooksConfig)) continue
          if (hooksConfig.enabled === false) return offBy(file, '"hooksConfig.enabled": false')
          if (Array.isArray(hooksConfig.disabled) && hooksConfig.disabled.some(isHookCommand))
            return offBy(file, 'that this hook is disabled ("hooksConfig.disabled")')
        }
        return distrusted(place, settings)
      },
      others: { event: 'BeforeTool', files: (place) => [project(place), user(place)] },
      also: (place, read) => (place.scope === 'project' ? [planTrust(place, read)] : []),
      remembered: rememberedOf,
      note: 'Gemini CLI leaves the .env of projects alone now, since its agent can write one: keep its key in ~/.gemini/.env',
      test: {
        call,
        result: (root, llmContent) => ({
          ...call(root, 'ls'),
          hook_event_name: 'AfterTool',
          tool_response: { llmContent },
        }),
        denial: '"decision":"deny"',
        env: (root) => ({ GEMINI_PROJECT_DIR: root }),
      },
      rehearsal: {
        args: () => ['-p', 'go', '--yolo', '-m', 'gemini-2.5-pro'],
        env: (port) => ({
          GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}`,
          GEMINI_API_KEY: 'scripted',
          // Headless it starts in no untrusted folder; whether a project's hooks are trusted was checked before.
          GEMINI_CLI_TRUST_WORKSPACE: 'true',
        }),
        call: (command) => ({ tool: 'run_shell_command', input: { command, description: 'x' } }),
      },
    }
  },
}

/** The server and tool names beside the tool's full name. */
function namedByServer({ mcp_context }: Json): string | undefined {
  const { server_name: server, tool_name: tool } = isObject(mcp_context) ? mcp_context : {}
  return typeof server === 'string' && typeof tool === 'string' ? `mcp__${server}__${tool}` : undefined
}

function isServers({ mcp_context }: Json): boolean {
  return mcp_context !== undefined && mcp_context !== null
}

/** An edit of a missing relative path applies to the only project file whose path ends in it. */
function pathsOf(given: Json): readonly string[] {
  return [optionalText(given, 'file_path'), optionalText(given, 'path')].filter((path) => path !== null)
}

/** Its settings, nearest first; an exclusion in any of them counts. */
function geminiSettings({ folders, home, env }: RulePlace): readonly string[] {
  return [
    env.GEMINI_CLI_SYSTEM_SETTINGS_PATH ?? '/etc/gemini-cli/settings.json',
    ...folders.map((folder) => join(folder, '.gemini/settings.json')),
    join(home, '.gemini/settings.json'),
  ]
}
