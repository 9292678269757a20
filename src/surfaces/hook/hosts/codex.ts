/** Codex: Claude Code's protocol, stricter: an unknown field or an ask is an allow, and a rewrite needs an allow. */

import { join } from 'node:path'
import { trims } from '../path-readings.ts'
import { isReadOnlyTurn } from './codex-record.ts'
import { CODEX_RULES, codexHome } from './codex-rules.ts'
import { expectEvent, type Host, isObject, object, optionalText, ProtocolError, text } from './host.ts'
import {
  callsOf,
  delegates,
  nothing,
  originOf,
  patches,
  ranCommand,
  reads,
  shell,
  type ToolRow,
  type ToolTable,
} from './tool-table.ts'

/** What goes to another agent beside the words: images and skills are read from where `path` says. */
const handsOver: ToolRow = (input) => {
  const { items = [] } = input
  if (!Array.isArray(items) || !items.every(isObject)) throw new ProtocolError('"items" is no list of objects')
  return [...delegates(input), ...items.filter((item) => item.path !== undefined).flatMap(reads('path'))]
}

const TOOLS: ToolTable = {
  Bash: shell(),
  apply_patch: patches('command', 'input', 'patch'),
  view_image: reads('path'),
  update_plan: nothing,
  request_user_input: nothing,
  // What other agents do comes here as well.
  spawn_agent: handsOver,
  send_input: handsOver,
  resume_agent: nothing,
  wait_agent: nothing,
  close_agent: nothing,
  list_agents: nothing,
  get_goal: nothing,
  create_goal: nothing,
  update_goal: nothing,
}

export const codex: Host = {
  name: 'codex',
  tellsPerson: true,
  paths: [trims],
  quoting: 'posix',
  ownSandbox: {
    remedy:
      'Codex’s own sandbox keeps Cordon from its records. Run `cordon install codex` again: it has Codex leave wrapped commands alone, since each is in Cordon’s sandbox.',
    // Without the rules of ours its own sandbox is around the command, and holds it.
    isReadOnly: (input, { machine, files }, root) =>
      [codexHome(machine), join(root, '.codex')].some((place) => files.exists(join(place, CODEX_RULES))) &&
      isReadOnlyTurn(input),
  },
  parse(input) {
    expectEvent(input, 'PreToolUse')
    const tool = text(input, 'tool_name')
    const given = object(input, 'tool_input')
    return {
      tool,
      calls: callsOf(TOOLS, tool, given),
      session: optionalText(input, 'session_id'),
      cwd: text(input, 'cwd'),
      // The working directory is the call's own, so it says nothing about the project; the session's record does.
      project: null,
      command:
        tool === 'Bash' ? { text: text(given, 'command'), replaced: (command) => ({ ...given, command }) } : null,
      canRewrite: true,
      canAsk: false,
      leaveToHost: false,
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
  results: {
    events: ['PostToolUse'],
    parse(input) {
      const tool = text(input, 'tool_name')
      return {
        tool,
        session: optionalText(input, 'session_id'),
        project: null,
        value: input.tool_response,
        origin: originOf(TOOLS, tool, input.tool_input),
        command: tool === 'Bash' ? ranCommand(input.tool_input) : null,
        canReplace: true,
      }
    },
    // The reason of a block stands in the place of the result; one with an unknown field is not read at all.
    answer: (_, { note, value }) =>
      JSON.stringify({
        ...(value !== null && { decision: 'block', reason: typeof value === 'string' ? value : JSON.stringify(value) }),
        ...(note !== null && { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: note } }),
      }),
  },
}
