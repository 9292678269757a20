/**
 * GitHub Copilot CLI: `preToolUse`, answered with `permissionDecision` and `modifiedArgs`; invalid JSON runs the tool.
 */

import { join } from 'node:path'
import { HOOK_MARK, HOOK_TIMEOUT_SECONDS } from '../host/hook-command.ts'
import { flagValues, type Host, isObject, type Json, object, optionalText, ProtocolError, text } from '../host/host.ts'
import type { InstallPlace } from '../host/install-place.ts'
import { composes, trims } from '../host/path-readings.ts'
import * as rows from '../host/tool-table.ts'

const TOOLS: rows.ToolTable = {
  bash: rows.shell(),
  view: rows.reads('path'),
  create: rows.writes('path'),
  edit: rows.edits('path'),
  str_replace: rows.edits('path'),
  apply_patch: rows.patches('patch', 'input'),
  grep: inEach(rows.searches('path')),
  rg: inEach(rows.searches('path')),
  glob: inEach(rows.globs('path')),
  skill: rows.loadsSkill,
  task: rows.delegates,
  write_agent: rows.delegates,
  web_fetch: rows.fetches,
  web_search: rows.searchesWeb,
  sql: queriesOwnTables,
  // Contains other sessions' texts.
  session_store_sql: () => rows.foreign('session_store_sql'),
  ...rows.inert(
    'read_bash stop_bash list_bash read_agent list_agents ask_user update_todo report_intent',
    'fetch_copilot_cli_documentation',
  ),
}

const SEARCHES: ReadonlySet<string> = new Set(['grep', 'rg'])

/** Its session notes are tables; statements that could reach a file ask, although Copilot CLI refuses those itself. */
function queriesOwnTables(input: Json): ReturnType<rows.ToolRow> {
  return /\b(?:attach|detach|vacuum|pragma|load_extension|readfile|writefile|edit)\b/i.test(text(input, 'query'))
    ? rows.foreign('sql')
    : []
}

/** `paths` is one path or several. */
function inEach(row: rows.ToolRow): rows.ToolRow {
  return (input) => {
    const { paths } = input
    const places = Array.isArray(paths) ? paths : [paths ?? optionalText(input, 'path') ?? '.']
    if (places.some((path) => typeof path !== 'string')) throw new ProtocolError('"paths" is not a list of strings')
    return (places as string[]).flatMap((path) => row({ ...input, path }))
  }
}

export const copilot: Host<'copilot'> = {
  name: 'copilot',
  tools: TOOLS,
  paths: [trims, composes],
  ownSandbox: {
    remedy: 'Leave plan mode for what has to be written down.',
    // In plan mode it judges a command’s words, and would reject ours.
    isReadOnly: async (input, { machine }) => {
      const { isActing } = await import('../records/copilot-record.ts')
      return !(await isActing(input, machine))
    },
  },
  expands: {
    memory: [
      ...['AGENTS.md', 'CLAUDE.md', '.claude/CLAUDE.md', '.claude/rules/', 'GEMINI.md'],
      ...['.github/copilot-instructions.md', '.github/instructions/'],
    ],
    imports: false,
    texts: ['.github/skills/', '.github/agents/', '.github/prompts/', '.claude/skills/', '.agents/skills/'],
    runsInline: false,
  },
  ownRules: {
    // Its rules are only on its command line.
    sources: (at) =>
      flagValues(at, '--deny-tool').map((given) => ({ from: '--deny-tool', text: JSON.stringify(given) })),
    reader: async () => (await import('../../../agents/import/bracket-rules.ts')).copilotCommands,
  },
  eventOf: (input) =>
    input.toolName === undefined && input.prompt !== undefined
      ? 'userPromptSubmitted'
      : input.toolResult === undefined
        ? 'preToolUse'
        : 'postToolUse',
  parse(input) {
    const tool = text(input, 'toolName')
    const given = argumentsOf(input, tool)
    const cwd = text(input, 'cwd')
    return {
      tool,
      given,
      ...rows.narrowedSearch(SEARCHES, 'glob', tool, given, rows.callsOf(TOOLS, tool, given)),
      session: optionalText(input, 'sessionId'),
      cwd,
      project: cwd,
      command:
        tool === 'bash' ? { text: text(given, 'command'), replaced: (command) => ({ ...given, command }) } : null,
      canRewrite: true,
      canAsk: false,
    }
  },
  answer(_, outcome) {
    switch (outcome.kind) {
      case 'pass':
        return ''
      case 'sandboxed':
        return JSON.stringify({ permissionDecision: 'allow', modifiedArgs: outcome.input })
      case 'deny':
        return JSON.stringify({ permissionDecision: 'deny', permissionDecisionReason: outcome.reason })
      case 'narrowed':
        return JSON.stringify({
          permissionDecision: 'allow',
          modifiedArgs: outcome.input,
          additionalContext: outcome.note,
        })
      case 'ask':
        throw new ProtocolError('Copilot CLI cannot ask when it runs without a terminal')
    }
  },
  prompts: {
    event: 'userPromptSubmitted',
    parse: (input) => ({ project: text(input, 'cwd'), cwd: text(input, 'cwd') }),
    refuse: (reason) => JSON.stringify({ decision: 'block', reason }),
  },
  results: {
    events: ['postToolUse'],
    parse(input) {
      const tool = text(input, 'toolName')
      const given = argumentsOf(input, tool)
      return {
        tool,
        session: optionalText(input, 'sessionId'),
        project: text(input, 'cwd'),
        value: input.toolResult,
        origin: rows.originOf(TOOLS, tool, given),
        command: tool === 'bash' ? rows.ranCommand(given) : null,
        canReplace: true,
      }
    },
    answer: (_, { note, value }) =>
      JSON.stringify({
        ...(note !== null && { additionalContext: note }),
        ...(value !== null && { modifiedResult: value }),
      }),
  },
  async install() {
    const { allHooksOff, ownFile } = await import('../host/forms.ts')
    const folder = ({ home, env }: InstallPlace): string => env.COPILOT_HOME ?? join(home, '.copilot')
    const row = (bash: string): Json => ({ type: 'command', bash, timeoutSec: HOOK_TIMEOUT_SECONDS })
    const call = (cwd: string, command: string): Json => ({
      sessionId: 'cordon-self-test',
      timestamp: 0,
      cwd,
      toolName: 'bash',
      toolArgs: { command },
    })
    return {
      program: 'copilot',
      brings: { '.github/hooks/': [], '.mcp.json': ['mcpServers'], '.github/lsp.json': ['lspServers'] },
      file: (place) =>
        place.scope === 'project'
          ? join(place.root, '.github/hooks/cordon.json')
          : join(folder(place), 'hooks/cordon.json'),
      edit: ownFile(
        (text) => text.includes(HOOK_MARK),
        (commands) => {
          const hooks = {
            preToolUse: [row(commands.call)],
            postToolUse: [row(commands.result)],
            userPromptSubmitted: [row(commands.call)],
          }
          return `${JSON.stringify({ version: 1, hooks }, null, 2)}\n`
        },
      ),
      missed: 'Copilot CLI finds a project’s hooks in a trusted folder alone, and not in a worktree',
      switchedOff: (place, settings) => {
        const files = [
          join(place.root, '.github/copilot/settings.local.json'),
          join(place.root, '.github/copilot/settings.json'),
          join(folder(place), 'settings.json'),
          join(folder(place), 'config.json'),
        ]
        // Disabled hooks are listed by its own hashes, so any of them may be ours.
        const some = ({ disabledHooks: hooks }: Json): string | null =>
          Array.isArray(hooks) && hooks.length > 0 ? '"disabledHooks", which may name this one' : null
        return allHooksOff(files, settings, some)
      },
      test: {
        call,
        result: (root, textResultForLlm) => ({
          ...call(root, 'ls'),
          toolResult: { resultType: 'success', textResultForLlm },
        }),
        denial: '"permissionDecision":"deny"',
      },
      rehearsal: {
        args: () => ['-p', 'go', '--allow-all-tools', '--no-auto-update'],
        env: (port) => ({
          COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${port}/v1`,
          COPILOT_PROVIDER_API_KEY: 'scripted',
          COPILOT_MODEL: 'gpt-5',
          COPILOT_OFFLINE: 'true',
        }),
        call: (command) => ({ tool: 'bash', input: { command, description: 'x' } }),
      },
    }
  },
}

/** Some versions send text. The responses protocol sends a patch as plain text, not JSON. */
function argumentsOf(input: Json, tool: string): Json {
  const { toolArgs } = input
  if (typeof toolArgs !== 'string') return object(input, 'toolArgs')
  if (tool === 'apply_patch' && !toolArgs.trimStart().startsWith('{')) return { input: toolArgs }
  const given: unknown = JSON.parse(toolArgs)
  if (!isObject(given)) throw new ProtocolError('"toolArgs" is not an object')
  return given
}
