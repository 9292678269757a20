/** Claude Code: `PreToolUse`, answered with `hookSpecificOutput`. */

import { basename, dirname, join } from 'node:path'
import {
  expectEvent,
  type HookRequest,
  type Host,
  type HostSurroundings,
  isObject,
  type Json,
  type Outcome,
  object,
  optionalText,
  ProtocolError,
  type ResultWord,
  recordOf,
  sessionName,
  text,
} from '../host/host.ts'
import type { InstallPlace } from '../host/install-place.ts'
import { composes, trims } from '../host/path-readings.ts'
import * as rows from '../host/tool-table.ts'
import { claudeRules } from './claude-rules.ts'

const TOOLS: rows.ToolTable = {
  Bash: rows.shell(),
  Monitor: watches,
  Read: rows.reads('file_path'),
  NotebookRead: rows.reads('notebook_path'),
  Write: rows.writes('file_path'),
  Edit: rows.edits('file_path'),
  MultiEdit: rows.edits('file_path'),
  NotebookEdit: rows.edits('notebook_path'),
  Glob: rows.globs('path'),
  Grep: rows.searches('path'),
  LS: rows.lists('path'),
  LSP: rows.asksServer('filePath', 'file_path'),
  WebFetch: rows.fetches,
  WebSearch: rows.searchesWeb,
  Task: startsAgent('Task'),
  Agent: startsAgent('Agent'),
  Skill: rows.expanding(rows.loadsSkill, 'args'),
  SlashCommand: rows.expanding(runsSlash, 'command'),
  // Actions of sub-agents, schedules and workflows arrive here too, call by call.
  Workflow: runsWorkflow,
  ScheduleWakeup: schedules,
  CronCreate: schedules,
  SendMessage: rows.expanding(rows.delegates, 'message'),
  ExitWorktree: leavesWorktree,
  ...rows.inert(
    'TodoWrite TodoRead TaskCreate TaskGet TaskList TaskUpdate TaskOutput TaskStop BashOutput KillShell KillBash',
    'AskUserQuestion EnterPlanMode ExitPlanMode ToolSearch CronDelete CronList ListAgents TeamCreate TeamDelete',
    'ReportFindings EnterWorktree DeferredToolPlaceholder',
  ),
}

/** A sub-agent here or in its own worktree. A remote one takes the project to another machine. */
function startsAgent(tool: string): rows.ToolRow {
  return (input) => {
    const where = optionalText(input, 'isolation')
    return where === null || where === 'worktree'
      ? rows.delegates(input)
      : [...rows.delegates(input), ...rows.foreign(tool)]
  }
}

/** Runs a command and watches its output, or a socket, which no rule covers. */
function watches(input: Json): ReturnType<rows.ToolRow> {
  if (input.ws !== undefined && input.ws !== null) throw new ProtocolError('Monitor would open a WebSocket')
  return rows.shell()(input)
}

/** `/name words`: a command of the project or the user. */
function runsSlash(input: Json): ReturnType<rows.ToolRow> {
  return rows.loadsSkill({ name: text(input, 'command').trim().split(/\s/)[0]!.replace(/^\//, '') })
}

/** A prompt for later. A durable one outlives the session, so this agent may not set it. */
function schedules(input: Json): ReturnType<rows.ToolRow> {
  if (input.durable !== undefined && input.durable !== false) return rows.foreign('CronCreate')
  const prompt = optionalText(input, 'prompt') ?? ''
  const slash = prompt.trimStart().startsWith('/') ? runsSlash({ command: prompt }) : []
  return [...rows.expanding(rows.delegates, 'prompt')(input), ...slash]
}

/** A script that only starts sub-agents; a script file is read. */
function runsWorkflow(input: Json): ReturnType<rows.ToolRow> {
  const path = optionalText(input, 'scriptPath')
  return [...rows.delegates(input), ...(path === null ? [] : rows.reads('scriptPath')(input))]
}

/** Discarded changes are lost: undo does not keep them. */
function leavesWorktree(input: Json): ReturnType<rows.ToolRow> {
  return input.discard_changes === undefined || input.discard_changes === false ? [] : rows.foreign('ExitWorktree')
}

const SHELLS: ReadonlySet<string> = new Set(['Bash', 'Monitor'])

/** Modes in which a person is asked; in others an ask may go unanswered. */
const ASKING: ReadonlySet<string> = new Set(['default', 'acceptEdits', 'plan'])

export const claudeCode: Host<'claude-code'> = {
  name: 'claude-code',
  tools: TOOLS,
  tellsPerson: true,
  paths: [trims, composes],
  ownSandbox: {
    remedy:
      'Claude Code’s own sandbox keeps Cordon from its records. Run `cordon install claude-code` again: it adds the wrapped form to sandbox.excludedCommands, since each such command is in Cordon’s sandbox.',
    isOn: isSandboxOn,
    // It would ask about every wrapped command by its words, and a lasting yes would cover all of them, including
    // writes.
    isReadOnly: ({ permission_mode: mode }) => mode === 'plan',
  },
  ownFolders(input) {
    const [record, session] = [recordOf(input), sessionName(input)]
    if (record === null || session === null) return []
    const project = dirname(record)
    const temporary = join('/tmp', `claude-${process.getuid?.() ?? 0}`, basename(project), session)
    return [join(project, session), join(temporary, 'tasks'), join(temporary, 'scratchpad')]
  },
  expands: {
    // `MEMORY.md` is its own memory, in a folder that settings can name.
    memory: ['CLAUDE.md', 'CLAUDE.local.md', '.claude/CLAUDE.md', '.claude/rules/', 'MEMORY.md'],
    imports: true,
    texts: ['skills', 'commands', 'agents', 'output-styles', 'agent-memory', 'agent-memory-local'].map(
      (name) => `.claude/${name}/`,
    ),
    runsInline: true,
    startsFromHeads: true,
    naming: {
      files: ['.claude/settings.json', '.claude/settings.local.json'],
      folders: { keys: ['autoMemoryDirectory', 'permissions.additionalDirectories'] },
    },
  },
  ownRules: claudeRules,
  inlineSetting: async (...at) => (await import('./claude-skill-shell.ts')).skillShell(...at),
  parse(input, env) {
    expectEvent(input, 'PreToolUse')
    const tool = text(input, 'tool_name')
    const given = object(input, 'tool_input')
    const mode = optionalText(input, 'permission_mode') ?? ''
    return {
      tool,
      given,
      ...searchOf(tool, given),
      session: optionalText(input, 'session_id'),
      cwd: text(input, 'cwd'),
      project: env.CLAUDE_PROJECT_DIR ?? null,
      command: SHELLS.has(tool)
        ? { text: text(given, 'command'), replaced: (command) => ({ ...given, command }), keepsDirectory: true }
        : null,
      canRewrite: true,
      canAsk: ASKING.has(mode),
    }
  },
  answer: (_, outcome) => {
    const answer = decisionOf(outcome)
    return answer === null ? '' : JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...answer } })
  },
  prompts: {
    event: 'UserPromptSubmit',
    parse: (input, env) => ({
      project: env.CLAUDE_PROJECT_DIR ?? text(input, 'cwd'),
      cwd: text(input, 'cwd'),
      said: text(input, 'prompt'),
    }),
    refuse: (reason) => JSON.stringify({ decision: 'block', reason }),
  },
  results: {
    events: ['PostToolUse', 'PostToolUseFailure'],
    parse(input, env) {
      const tool = text(input, 'tool_name')
      return {
        tool,
        session: optionalText(input, 'session_id'),
        project: env.CLAUDE_PROJECT_DIR ?? null,
        value: input.tool_response ?? input.error,
        origin: rows.originOf(TOOLS, tool, input.tool_input),
        command: SHELLS.has(tool) ? rows.ranCommand(input.tool_input) : null,
        canReplace: true,
      }
    },
    answer: (input, word) => JSON.stringify({ hookSpecificOutput: resultOutput(input, word) }),
  },
  async install() {
    const [{ groupedRows, PROMPT_EVENTS, testCall }, { checkClaude, claudeHooksOff, withDenials }] = await Promise.all([
      import('../host/forms.ts'),
      import('./claude-settings.ts'),
    ])
    const files = ({ root, home, env }: InstallPlace): readonly [string, string, string] => [
      join(root, '.claude/settings.local.json'),
      join(root, '.claude/settings.json'),
      join(env.CLAUDE_CONFIG_DIR ?? join(home, '.claude'), 'settings.json'),
    ]
    const file = (place: InstallPlace): string => files(place)[place.scope === 'project' ? 0 : 2]
    const put = groupedRows({ ...PROMPT_EVENTS, PostToolUseFailure: 'result' }, { comments: false, check: checkClaude })
    const call = testCall('PreToolUse', 'Bash')
    return {
      program: 'claude',
      brings: {
        ...Object.fromEntries(
          ['settings.json', 'settings.local.json'].map((name) => [
            `.claude/${name}`,
            [
              'hooks',
              'statusLine',
              'apiKeyHelper',
              'awsAuthRefresh',
              'awsCredentialExport',
              'gcpAuthRefresh',
              'otelHeadersHelper',
              'proxyAuthHelper',
              'fileSuggestion',
              'subagentStatusLine',
              'enabledPlugins',
              'extraKnownMarketplaces',
              'agent',
              'env',
            ],
          ]),
        ),
        '.claude/skills/*/.claude-plugin/plugin.json': [],
        '.mcp.json': ['mcpServers'],
      },
      file,
      edit: (text, commands, place, original) =>
        withDenials(put(text, commands, place, original), commands !== null, original, place.wrapper),
      missed:
        'Claude Code does not find a project’s hooks from a sub-directory outside git, nor with --setting-sources user',
      withoutHooks: {
        flags: ['--bare', '--restricted', '--safe-mode'],
        variables: ['CLAUDE_CODE_SIMPLE', 'CLAUDE_CODE_RESTRICTED', 'CLAUDE_CODE_SAFE_MODE'],
      },
      switchedOff: (place, settings) => claudeHooksOff(files(place), file(place), settings),
      others: { event: 'PreToolUse', files },
      test: {
        call,
        result: (root, stdout) => ({ ...call(root, 'ls'), hook_event_name: 'PostToolUse', tool_response: { stdout } }),
        denial: '"permissionDecision":"deny"',
        env: (root) => ({ CLAUDE_PROJECT_DIR: root }),
      },
      rehearsal: {
        args: () => ['-p', 'go', '--model', 'claude-sonnet-4-5', '--no-session-persistence'],
        env: (port) => ({
          ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
          ANTHROPIC_API_KEY: 'scripted',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_AUTOUPDATER: '1',
        }),
        call: (command) => ({ tool: 'Bash', input: { command, description: 'x' } }),
      },
    }
  },
}

/** Whether any of its settings enables its sandbox; unreadable settings may. */
function isSandboxOn({ machine: { home, env }, files }: HostSurroundings, root: string): boolean {
  const places = [env.CLAUDE_CONFIG_DIR ?? join(home, '.claude'), join(root, '.claude')]
  const own = places.flatMap((place) => ['settings.json', 'settings.local.json'].map((name) => join(place, name)))
  return [...own, '/etc/claude-code/managed-settings.json'].filter(files.exists).some((path) => {
    try {
      const { sandbox } = JSON.parse(files.readText(path)) as Json
      return isObject(sandbox) && sandbox.enabled === true
    } catch {
      return true
    }
  })
}

function resultOutput({ tool_name, hook_event_name }: Json, { note, value }: ResultWord): Json {
  return {
    hookEventName: hook_event_name,
    ...(note !== null && { additionalContext: note }),
    // It only accepts a replacement result in the same shape; older versions only for servers' tools.
    ...(value !== null && { updatedToolOutput: value }),
    ...(value !== null && String(tool_name).startsWith('mcp__') && { updatedMCPToolOutput: value }),
  }
}

/** `Grep` takes several globs between blanks, of which the last match counts. */
function searchOf(tool: string, given: Json): Pick<HookRequest, 'calls' | 'narrowed'> {
  const calls = rows.callsOf(TOOLS, tool, given)
  if (tool !== 'Grep') return { calls }
  const glob = optionalText(given, 'glob')
  return {
    calls: rows.narrowing(calls),
    narrowed: (globs) => ({ ...given, glob: [glob ?? [], globs.map((one) => `!${one}`)].flat().join(' ') }),
  }
}

function decisionOf(outcome: Outcome): Json | null {
  switch (outcome.kind) {
    case 'pass':
      return null
    case 'sandboxed':
      return { ...(!outcome.left && { permissionDecision: 'allow' }), updatedInput: outcome.input }
    case 'narrowed':
      return { updatedInput: outcome.input, additionalContext: outcome.note }
    case 'ask':
      return {
        permissionDecision: 'ask',
        permissionDecisionReason: outcome.reason,
        ...(outcome.input && { updatedInput: outcome.input }),
      }
    case 'deny':
      return { permissionDecision: 'deny', permissionDecisionReason: outcome.reason }
  }
}
