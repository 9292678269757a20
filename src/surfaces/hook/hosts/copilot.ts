/** GitHub Copilot CLI: `preToolUse`, answered with `permissionDecision`, and `modifiedArgs` for a rewrite; what is no JSON runs the tool. */

import { composes, trims } from '../path-readings.ts'
import { type Host, isObject, type Json, object, optionalText, ProtocolError, text } from './host.ts'
import {
  callsOf,
  delegates,
  edits,
  fetches,
  foreign,
  globs,
  loadsSkill,
  nothing,
  originOf,
  patches,
  ranCommand,
  reads,
  searches,
  searchesWeb,
  shell,
  type ToolRow,
  type ToolTable,
  writes,
} from './tool-table.ts'

const TOOLS: ToolTable = {
  bash: shell(),
  read_bash: nothing,
  stop_bash: nothing,
  list_bash: nothing,
  view: reads('path'),
  create: writes('path'),
  edit: edits('path'),
  str_replace: edits('path'),
  apply_patch: patches('patch', 'input'),
  grep: inEach(searches('path')),
  rg: inEach(searches('path')),
  glob: inEach(globs('path')),
  skill: loadsSkill,
  task: delegates,
  read_agent: nothing,
  list_agents: nothing,
  write_agent: delegates,
  web_fetch: fetches,
  web_search: searchesWeb,
  ask_user: nothing,
  update_todo: nothing,
  report_intent: nothing,
  fetch_copilot_cli_documentation: nothing,
  sql: queriesOwnTables,
}

/** Its notes of a session are tables; a statement that could reach a file is for a person, though Copilot CLI refuses those itself. */
function queriesOwnTables(input: Json): ReturnType<ToolRow> {
  return /\b(?:attach|detach|vacuum|pragma|load_extension|readfile|writefile|edit)\b/i.test(text(input, 'query'))
    ? foreign('sql')
    : []
}

/** `paths` is one path or several. */
function inEach(row: ToolRow): ToolRow {
  return (input) => {
    const { paths } = input
    const places = Array.isArray(paths) ? paths : [paths ?? optionalText(input, 'path') ?? '.']
    if (places.some((path) => typeof path !== 'string')) throw new ProtocolError('"paths" is no list of texts')
    return (places as string[]).flatMap((path) => row({ ...input, path }))
  }
}

export const copilot: Host = {
  name: 'copilot',
  paths: [trims, composes],
  ownSandbox: {
    remedy: 'Leave plan mode for what has to be written down.',
    // In plan mode it goes by a command’s words, and finds ours.
    isReadOnly: async (input, { machine }) => {
      const { isActing } = await import('./copilot-record.ts')
      return !(await isActing(input, machine))
    },
  },
  eventOf: (input) => (input.toolResult === undefined ? 'preToolUse' : 'postToolUse'),
  parse(input) {
    const tool = text(input, 'toolName')
    const given = argumentsOf(input)
    const cwd = text(input, 'cwd')
    return {
      tool,
      calls: callsOf(TOOLS, tool, given),
      session: optionalText(input, 'sessionId'),
      cwd,
      project: cwd,
      command:
        tool === 'bash' ? { text: text(given, 'command'), replaced: (command) => ({ ...given, command }) } : null,
      canRewrite: true,
      canAsk: false,
      leaveToHost: false,
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
      case 'ask':
        throw new ProtocolError('Copilot CLI asks nobody when it runs without a terminal')
    }
  },
  results: {
    events: ['postToolUse'],
    parse(input) {
      const tool = text(input, 'toolName')
      const given = argumentsOf(input)
      return {
        tool,
        session: optionalText(input, 'sessionId'),
        project: text(input, 'cwd'),
        value: input.toolResult,
        origin: originOf(TOOLS, tool, given),
        command: tool === 'bash' ? ranCommand(given) : null,
        canReplace: true,
      }
    },
    answer: (_, { note, value }) =>
      JSON.stringify({
        ...(note !== null && { additionalContext: note }),
        ...(value !== null && { modifiedResult: value }),
      }),
  },
}

/** Some versions give them as a text. */
function argumentsOf(input: Json): Json {
  if (typeof input.toolArgs !== 'string') return object(input, 'toolArgs')
  const given: unknown = JSON.parse(input.toolArgs)
  if (!isObject(given)) throw new ProtocolError('"toolArgs" is no object')
  return given
}
