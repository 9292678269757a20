/**
 * Cline's CLI: a hook is a program called `PreToolUse`; it stops a call by `cancel` and rewrites by `overrideInput`.
 */

import { join } from 'node:path'
import { type Host, isObject, type Json, object, optionalText, ProtocolError, text } from '../host/host.ts'
import type { InstallPlace } from '../host/install-place.ts'
import { composes, trims } from '../host/path-readings.ts'
import { quote } from '../host/sandboxed-command.ts'
import * as rows from '../host/tool-table.ts'

const TOOLS: rows.ToolTable = {
  run_commands: (input) => rows.shell()({ command: joined(input) }),
  read_files: each('files', rows.reads('path')),
  search_codebase: () => [{ kind: 'search', path: '.' }],
  editor: rows.edits('path'),
  fetch_web_content: each('requests', rows.fetches),
  ask_question: rows.nothing,
  // Their actions arrive here as well.
  spawn_agent: rows.delegates,
  team_spawn_teammate: rows.delegates,
  team_run_task: rows.delegates,
  ...Object.fromEntries(
    ['shutdown_teammate', 'status', 'task', 'cancel_run', 'list_runs', 'await_runs', 'send_message', 'broadcast']
      .concat(['read_mailbox', 'mission_log', 'cleanup', 'create_outcome', 'attach_outcome_fragment'])
      .concat(['review_outcome_fragment', 'finalize_outcome', 'list_outcomes'])
      .map((name) => [`team_${name}`, rows.nothing]),
  ),
}

function joined(input: Json): string {
  const { commands } = input
  const list = typeof commands === 'string' ? [commands] : commands
  if (!Array.isArray(list) || list.length === 0 || list.some((command) => typeof command !== 'string'))
    throw new ProtocolError('"commands" is not a list of strings')
  return list.join('\n')
}

function each(name: string, row: rows.ToolRow): rows.ToolRow {
  return (input) => {
    const list = input[name]
    if (!Array.isArray(list) || !list.every(isObject)) throw new ProtocolError(`"${name}" is not a list of objects`)
    return list.flatMap((one) => row(one))
  }
}

/** Bun loads these files into its environment first, whatever they set. */
const ENVIRONMENT: readonly string[] = ['', '.development', '.production', '.test'].flatMap((mode) => [
  `.env${mode}`,
  `.env${mode}.local`,
])

/** Variables that make programs run code. */
const RUNNING = ['LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'BASH_ENV', 'NODE_OPTIONS', 'PATH']

export const cline: Host<'cline'> = {
  name: 'cline',
  tools: TOOLS,
  paths: [trims, composes],
  environment: ENVIRONMENT,
  ownSandbox: {
    remedy: 'Leave plan mode for what has to be written down.',
    // In plan mode it judges a command’s words, and finds no write in our wrapper.
    isReadOnly: async (input, at) => {
      const { isActing } = await import('../records/cline-record.ts')
      return !(await isActing(input, at))
    },
  },
  // No hook can hold back its person's words, so its calls are stopped.
  expands: {
    memory: ['AGENTS.md', '.clinerules', '.clinerules/', '.cline/rules/'],
    imports: false,
    texts: ['.cline/skills/', '.cline/agents/', '.claude/skills/', '.agents/skills/'],
    runsInline: false,
  },
  eventOf: (input) => (input.tool_result === undefined ? 'PreToolUse' : 'PostToolUse'),
  parse(input) {
    const call = object(input, 'tool_call')
    const tool = text(call, 'name')
    const given = object(call, 'input')
    const project = rootOf(input)
    return {
      tool,
      given,
      calls: rows.callsOf(TOOLS, tool, given),
      session: optionalText(input, 'taskId'),
      cwd: project,
      project,
      command:
        tool === 'run_commands'
          ? { text: joined(given), replaced: (command) => ({ ...given, commands: [command] }) }
          : null,
      canRewrite: true,
      canAsk: false,
    }
  },
  answer(request, outcome) {
    switch (outcome.kind) {
      case 'pass':
        return JSON.stringify({ cancel: false })
      case 'sandboxed':
        return JSON.stringify({ cancel: false, overrideInput: outcome.input })
      case 'deny':
        // A cancelled call ends the whole task; a failing command can give a reason. Another hook could override the
        // rewrite, but not a cancel.
        return request.command === null || outcome.final
          ? JSON.stringify({ cancel: true, errorMessage: outcome.reason })
          : JSON.stringify({
              cancel: false,
              overrideInput: request.command.replaced(`printf '%s\\n' ${quote(outcome.reason)} >&2; exit 126`),
            })
      case 'narrowed':
      case 'ask':
        throw new ProtocolError('Cline’s hooks cannot ask, nor narrow a search')
    }
  },
  results: {
    events: ['PostToolUse'],
    parse(input) {
      const result = object(input, 'tool_result')
      const tool = text(result, 'name')
      return {
        tool,
        session: optionalText(input, 'taskId'),
        project: rootOf(input),
        value: result.output,
        origin: rows.originOf(TOOLS, tool, result.input),
        command: ranCommands(result.input),
        canReplace: false,
      }
    },
    answer: (_, { note }) => JSON.stringify({ cancel: false, contextModification: note }),
  },
  async install() {
    const { ownFile } = await import('../host/forms.ts')
    const hooks = ({ scope, root, home, env }: InstallPlace): string =>
      scope === 'project' ? join(root, '.clinerules/hooks') : join(env.CLINE_DIR ?? join(home, '.cline'), 'hooks')
    return {
      program: 'cline',
      brings: {
        '.clinerules/hooks/': [],
        '.cline/hooks/': [],
        '.cline/plugins/': [],
        'bunfig.toml': ['preload', 'run.preload'],
        ...Object.fromEntries(ENVIRONMENT.map((name) => [name, RUNNING])),
      },
      isProgram: true,
      file: (place) => join(hooks(place), 'PreToolUse'),
      edit: ownFile(isProgram, ({ call }) => programOf(call, { cancel: true, errorMessage: UNJUDGED })),
      second: {
        file: (place) => join(hooks(place), 'PostToolUse'),
        edit: ownFile(isProgram, ({ result }) => programOf(result, { cancel: false })),
      },
      missed: 'Cline finds a project’s hooks from the project’s own folder alone, and not with --worktree',
      test: {
        call: (root, command) => ({
          taskId: 'cordon-self-test',
          workspaceRoots: [root],
          tool_call: { id: 'c', name: 'run_commands', input: { commands: [command] } },
        }),
        result: (root, result) => ({
          taskId: 'cordon-self-test',
          workspaceRoots: [root],
          tool_result: { id: 'c', name: 'read_files', input: { files: [{ path: root }] }, output: [{ result }] },
        }),
        denial: 'exit 126"',
      },
      rehearsal: {
        args: () => ['-P', 'openai-compatible', '-m', 'scripted', 'go on'],
        env: (_, folder) => ({
          CLINE_PROVIDER_SETTINGS_PATH: join(folder, 'providers.json'),
          CLINE_SESSION_DATA_DIR: join(folder, 'sessions'),
          // Run in this process, not in the background process that it shares.
          CLINE_SESSION_BACKEND_MODE: 'local',
        }),
        files: (port) => ({
          'providers.json': JSON.stringify({
            version: 1,
            lastUsedProvider: 'openai-compatible',
            modes: {},
            providers: {
              'openai-compatible': {
                settings: {
                  provider: 'openai-compatible',
                  apiKey: 'scripted',
                  model: 'scripted',
                  baseUrl: `http://127.0.0.1:${port}/v1`,
                },
                updatedAt: '2026-01-01T00:00:00.000Z',
                tokenSource: 'manual',
              },
            },
          }),
        }),
        call: (command) => ({ tool: 'run_commands', input: { commands: [command] } }),
      },
    }
  },
}

const PROGRAM_MARK = '# Written by cordon install; cordon install cline --uninstall removes it.'
const UNJUDGED =
  'cordon: the call could not be judged, so it was blocked; cordon doctor says why. If Cordon was removed, delete its hooks from the settings of cline.'

/** Cline runs a file, reads only its JSON, and takes every exit code as an allow: failures print `otherwise`. */
function programOf(command: string, otherwise: Json): string {
  const script = `out=$(${command}\n) && [ -n "$out" ] && printf %s "$out" || printf %s ${quote(JSON.stringify(otherwise))}`
  return `#!/bin/sh\n${PROGRAM_MARK}\n${script}\n`
}

/** True for a program of ours, of any version. */
function isProgram(text: string): boolean {
  return text.includes(PROGRAM_MARK)
}

/** A denied command that prints the reason, in exactly the form of the rewrite. */
const REFUSAL = /^printf '%s\\n' '(?:[^'\\]|'\\['\\]')*' >&2; exit 126$/

/** The commands that ran, as one; null if our own refusal ran. */
function ranCommands(input: unknown): string | null {
  if (!isObject(input) || input.commands === undefined) return null
  const text = joined(input)
  return REFUSAL.test(text) ? null : text
}

function rootOf(input: Json): string {
  const roots: readonly unknown[] = Array.isArray(input.workspaceRoots) ? input.workspaceRoots : []
  const [root] = roots
  if (typeof root !== 'string') throw new ProtocolError('the input has no "workspaceRoots"')
  return root
}
