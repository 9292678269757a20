/** Codex: Claude Code's protocol, stricter: an unknown field or an ask is an allow, and a rewrite needs an allow. */

import { join } from 'node:path'
import { expectEvent, type Host, isObject, object, optionalText, ProtocolError, text } from '../host/host.ts'
import type { InstallPlace } from '../host/install-place.ts'
import { trims } from '../host/path-readings.ts'
import * as rows from '../host/tool-table.ts'
import {
  CODEX_RULES,
  codexHome,
  codexRuleFolders,
  codexRules,
  isCodexRules,
  isReadOnlyTurn,
} from '../records/codex-record.ts'

/** Input for another agent: images and skills are read from `path`. */
const handsOver: rows.ToolRow = (input) => {
  const { items = [] } = input
  if (!Array.isArray(items) || !items.every(isObject)) throw new ProtocolError('"items" is not a list of objects')
  return [...rows.delegates(input), ...items.filter((item) => item.path !== undefined).flatMap(rows.reads('path'))]
}

/** Tools of sub-agents, whose actions arrive here as well. */
const AGENTS: rows.ToolTable = {
  spawn_agent: handsOver,
  send_input: handsOver,
  send_message: handsOver,
  followup_task: handsOver,
  resume_agent: rows.nothing,
  wait_agent: rows.nothing,
  close_agent: rows.nothing,
  interrupt_agent: rows.nothing,
  list_agents: rows.nothing,
}

function inNamespace(namespace: string, table: rows.ToolTable): rows.ToolTable {
  return Object.fromEntries(Object.entries(table).map(([name, row]) => [`${namespace}${name}`, row]))
}

const TOOLS: rows.ToolTable = {
  Bash: rows.shell(),
  apply_patch: rows.patches('command', 'input', 'patch'),
  view_image: rows.reads('path'),
  ...AGENTS,
  ...inNamespace('collaboration', AGENTS),
  ...inNamespace('clock', { curr_time: rows.nothing, sleep: rows.nothing }),
  ...rows.inert(
    'update_plan request_user_input request_user_input_async list_mcp_resources list_mcp_resource_templates',
    'get_goal create_goal update_goal',
  ),
}

export const codex: Host<'codex'> = {
  name: 'codex',
  tools: TOOLS,
  tellsPerson: true,
  paths: [trims],
  quoting: 'posix',
  ownSandbox: {
    remedy:
      'Codex’s own sandbox keeps Cordon from its records. Run `cordon install codex` again: it has Codex leave wrapped commands alone, since each is in Cordon’s sandbox.',
    // Without our rules, its own sandbox contains the command.
    isReadOnly: (input, { machine, files }, root) =>
      [codexHome(machine), join(root, '.codex')].some((place) => files.exists(join(place, CODEX_RULES))) &&
      isReadOnlyTurn(input),
  },
  ownRules: {
    settings: ({ folders, ...at }) => [
      ...folders.map((folder) => join(folder, '.codex/config.toml')),
      join(codexHome(at), 'config.toml'),
    ],
    sources: (at) => codexRuleFolders(at).map((folder) => ({ folder, ending: '.rules' })),
    reader: async () => (await import('../../../agents/import/codex.ts')).codexCommands,
  },
  parse(input) {
    expectEvent(input, 'PreToolUse')
    const tool = text(input, 'tool_name')
    const given = object(input, 'tool_input')
    return {
      tool,
      given,
      calls: rows.callsOf(TOOLS, tool, given),
      session: optionalText(input, 'session_id'),
      cwd: text(input, 'cwd'),
      // The working directory is the call's own; the session's record names the project.
      project: null,
      command:
        tool === 'Bash' ? { text: text(given, 'command'), replaced: (command) => ({ ...given, command }) } : null,
      canRewrite: true,
      canAsk: false,
    }
  },
  answer(_, outcome) {
    if (outcome.kind === 'pass') return ''
    if (outcome.kind === 'ask') throw new ProtocolError('Codex takes an ask for an allow')
    const decision =
      outcome.kind === 'deny'
        ? { permissionDecision: 'deny', permissionDecisionReason: outcome.reason }
        : { permissionDecision: 'allow', updatedInput: outcome.input }
    return JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision } })
  },
  expands: {
    memory: ['AGENTS.override.md', 'AGENTS.md'],
    imports: false,
    texts: ['.agents/skills/', '.codex/skills/', '.codex/agents/'],
    runsInline: false,
    naming: {
      files: ['.codex/config.toml'],
      names: ['project_doc_fallback_filenames'],
      paths: ['', 'profiles.*.'].flatMap((table) =>
        ['model_instructions_file', 'experimental_instructions_file', 'experimental_compact_prompt_file'].map(
          (key) => `${table}${key}`,
        ),
      ),
    },
  },
  prompts: {
    event: 'UserPromptSubmit',
    parse: (input) => ({ project: text(input, 'cwd'), cwd: text(input, 'cwd') }),
    refuse: (reason) => JSON.stringify({ decision: 'block', reason }),
  },
  results: {
    events: ['PostToolUse'],
    parse(input) {
      const tool = text(input, 'tool_name')
      return {
        tool,
        session: optionalText(input, 'session_id'),
        project: null,
        value: input.tool_response,
        origin: rows.originOf(TOOLS, tool, input.tool_input),
        command: tool === 'Bash' ? rows.ranCommand(input.tool_input) : null,
        canReplace: true,
      }
    },
    // The reason of a block replaces the result; an answer with an unknown field is ignored.
    answer: (_, { note, value }) =>
      JSON.stringify({
        ...(value !== null && { decision: 'block', reason: typeof value === 'string' ? value : JSON.stringify(value) }),
        ...(note !== null && { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: note } }),
      }),
  },
  async install() {
    const [{ groupedRows, ownFile, PROMPT_EVENTS, testCall }, { asked, trusted }] = await Promise.all([
      import('../host/forms.ts'),
      import('./codex-trust.ts'),
    ])
    const folder = ({ scope, root, home, env }: InstallPlace): string =>
      scope === 'project' ? join(root, '.codex') : codexHome({ home, env })
    const file = (place: InstallPlace): string => join(folder(place), 'hooks.json')
    const call = testCall('PreToolUse', 'Bash')
    return {
      program: 'codex',
      brings: {
        '.codex/config.toml': ['mcp_servers', 'notify', 'hooks'],
        '.codex/hooks.json': ['hooks'],
      },
      file,
      edit: groupedRows(PROMPT_EVENTS, { comments: false }),
      second: {
        file: (place) => join(folder(place), CODEX_RULES),
        edit: ownFile(isCodexRules, (_, { wrapper }) => codexRules(wrapper)),
      },
      missed: 'Codex has no project hooks in `exec --worktree`, nor in a sub-directory outside git',
      others: {
        event: 'PreToolUse',
        files: (place) => [file({ ...place, scope: 'project' }), file({ ...place, scope: 'user' })],
      },
      test: {
        call,
        result: (root, tool_response) => ({ ...call(root, 'ls'), hook_event_name: 'PostToolUse', tool_response }),
        denial: '"permissionDecision":"deny"',
        blocksUser: true,
      },
      asked: (program, place) => asked(program, place, file(place)),
      trust: (place, program, read) => trusted(program, place, file(place), read),
      rehearsal: {
        args: (port) => [
          ...['exec', '--skip-git-repo-check', '-m', 'gpt-5.1', '-c', 'model_provider="cordon-rehearsal"'],
          ...['-c', 'model_providers.cordon-rehearsal.name="scripted"'],
          ...['-c', `model_providers.cordon-rehearsal.base_url="http://127.0.0.1:${port}/v1"`],
          ...['-c', 'model_providers.cordon-rehearsal.wire_api="responses"'],
          ...['-c', 'model_providers.cordon-rehearsal.env_key="CORDON_REHEARSAL_KEY"'],
          ...['-c', 'model_providers.cordon-rehearsal.request_max_retries=0', 'go'],
        ],
        env: () => ({ CORDON_REHEARSAL_KEY: 'scripted' }),
        call: (command, tools) =>
          tools.includes('exec_command')
            ? { tool: 'exec_command', input: { cmd: command } }
            : tools.includes('shell_command')
              ? { tool: 'shell_command', input: { command } }
              : { tool: 'shell', input: { command: ['bash', '-lc', command] } },
      },
    }
  },
}
