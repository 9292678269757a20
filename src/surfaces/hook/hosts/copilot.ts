/** GitHub Copilot CLI: `preToolUse`, answered with `permissionDecision`, and `modifiedArgs` for a rewrite; what is no JSON runs the tool. */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { composes, trims } from '../path-readings.ts'
import {
  type Host,
  type HostSurroundings,
  isObject,
  type Json,
  MAX_RECORD,
  object,
  optionalText,
  ProtocolError,
  sessionName,
  text,
} from './host.ts'
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
    isReadOnly: (input, at) => !isActing(input, at),
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

/** Modes in which a command may write to the project. */
const ACTING: ReadonlySet<unknown> = new Set(['interactive', 'autopilot'])
const MODE_CHANGED = 'session.mode_changed'

/**
 * Whether its record of the session has it act. In plan mode Copilot CLI goes by the words of a command, and a wrapped one tells it
 * nothing. A session begins without a word about its mode; where there is no record, it only reads.
 */
function isActing({ sessionId, cwd }: Json, at: HostSurroundings): boolean {
  const session = sessionName({ session_id: sessionId })
  const record = session === null ? null : recordFor(session, cwd, at)
  if (record === null) return false
  try {
    const lines = record.split('\n').filter((line) => line.includes(MODE_CHANGED))
    const modes = lines.map((line): unknown => JSON.parse(line))
    const last = modes.findLast((event) => isObject(event) && event.type === MODE_CHANGED)
    return last === undefined || (isObject(last) && isObject(last.data) && ACTING.has(last.data.newMode))
  } catch {
    return false
  }
}

/** The session's record; a sub-agent has none, and is of the session here that was last written to. */
function recordFor(session: string, cwd: unknown, { machine, files }: HostSurroundings): string | null {
  const folder = join(machine.env.COPILOT_HOME ?? join(machine.home, '.copilot'), 'session-state')
  const file = (name: string): string => join(folder, name, 'events.jsonl')
  const read = (name: string): string | null => {
    try {
      return files.readText(file(name), MAX_RECORD)
    } catch {
      return null
    }
  }
  const own = read(session)
  if (own !== null || typeof cwd !== 'string') return own
  const changed = (name: string): number => statSync(file(name), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const latest = files.list(folder).toSorted((one, other) => changed(other) - changed(one))
  for (const name of latest) {
    const record = read(name)
    // In a later text of the record these quotes would be escaped.
    const [start = ''] = record?.split('\n', 1) ?? []
    if (start.includes(`"cwd":${JSON.stringify(cwd)}`)) return record
  }
  return null
}
