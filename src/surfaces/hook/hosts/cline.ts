/** Cline's CLI: a hook is a program called `PreToolUse`, which takes a call by `cancel` and another input by `overrideInput`. */

import { composes, trims } from '../path-readings.ts'
import { quote } from '../sandboxed-command.ts'
import { type Host, isObject, type Json, object, optionalText, ProtocolError, text } from './host.ts'
import {
  callsOf,
  delegates,
  edits,
  fetches,
  nothing,
  originOf,
  reads,
  shell,
  type ToolRow,
  type ToolTable,
} from './tool-table.ts'

const TOOLS: ToolTable = {
  run_commands: (input) => shell()({ command: joined(input) }),
  read_files: each('files', reads('path')),
  search_codebase: () => [{ kind: 'search', path: '.' }],
  editor: edits('path'),
  fetch_web_content: each('requests', fetches),
  ask_question: nothing,
  // What they do comes here as well.
  spawn_agent: delegates,
  team_spawn_teammate: delegates,
  team_run_task: delegates,
  ...Object.fromEntries(
    ['shutdown_teammate', 'status', 'task', 'cancel_run', 'list_runs', 'await_runs', 'send_message', 'broadcast']
      .concat(['read_mailbox', 'mission_log', 'cleanup', 'create_outcome', 'attach_outcome_fragment'])
      .concat(['review_outcome_fragment', 'finalize_outcome', 'list_outcomes'])
      .map((name) => [`team_${name}`, nothing]),
  ),
}

/** Several commands are one after the other. */
function joined(input: Json): string {
  const { commands } = input
  const list = typeof commands === 'string' ? [commands] : commands
  if (!Array.isArray(list) || list.length === 0 || list.some((command) => typeof command !== 'string'))
    throw new ProtocolError('"commands" is no list of texts')
  return list.join('\n')
}

/** A list of inputs, each of its own. */
function each(name: string, row: ToolRow): ToolRow {
  return (input) => {
    const list = input[name]
    if (!Array.isArray(list) || !list.every(isObject)) throw new ProtocolError(`"${name}" is no list of objects`)
    return list.flatMap((one) => row(one))
  }
}

export const cline: Host = {
  name: 'cline',
  paths: [trims, composes],
  ownSandbox: {
    remedy: 'Leave plan mode for what has to be written down.',
    // In plan mode it goes by a command’s words, and in our wrapper finds none that writes.
    isReadOnly: async (input, at) => {
      const { isActing } = await import('./cline-record.ts')
      return !(await isActing(input, at))
    },
  },
  eventOf: (input) => (input.tool_result === undefined ? 'PreToolUse' : 'PostToolUse'),
  parse(input) {
    const call = object(input, 'tool_call')
    const tool = text(call, 'name')
    const given = object(call, 'input')
    const project = rootOf(input)
    return {
      tool,
      calls: callsOf(TOOLS, tool, given),
      session: optionalText(input, 'taskId'),
      cwd: project,
      project,
      command:
        tool === 'run_commands'
          ? { text: joined(given), replaced: (command) => ({ ...given, commands: [command] }) }
          : null,
      canRewrite: true,
      canAsk: false,
      leaveToHost: false,
    }
  },
  answer(request, outcome) {
    switch (outcome.kind) {
      case 'pass':
        return JSON.stringify({ cancel: false })
      case 'sandboxed':
        return JSON.stringify({ cancel: false, overrideInput: outcome.input })
      case 'deny':
        // A cancelled call ends the whole task; a command can fail instead, and say why. Another hook could undo that, and not a cancel.
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
        origin: originOf(TOOLS, tool, result.input),
        command: ranCommands(result.input),
        canReplace: false,
      }
    },
    answer: (_, { note }) => JSON.stringify({ cancel: false, contextModification: note }),
  },
}

/** A denied command that prints why, in the very form that stands in its place. */
const REFUSAL = /^printf '%s\\n' '(?:[^'\\]|'\\['\\]')*' >&2; exit 126$/

/** The commands that ran, as one; null where what ran is our own refusal. */
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
