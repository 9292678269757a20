/** Hosts that speak Claude Code's protocol with their own tools and settings: what differs between them is data. */

import { join } from 'node:path'
import type { Expansion } from '../../../agents/hook/unseen.ts'
import { expectEvent, type Host, isObject, type Json, object, optionalText, ProtocolError, text } from './host.ts'
import type { HostInstall } from './host-install.ts'
import type { InstallPlace } from './install-place.ts'
import { composes, decodes, dropsAt, dropsNul, trims } from './path-readings.ts'
import { callsOf, originOf, ranCommand, type ToolTable } from './tool-table.ts'

export interface ClaudeForm<Name extends string>
  extends Pick<Host<Name>, 'name' | 'ownRules' | 'environment' | 'tellsPerson'> {
  readonly tools: ToolTable
  /** The tool that runs a command. */
  readonly shell: string
  /** It runs another command instead; absent: its agent must write the wrapped one. */
  readonly rewrites?: true
  readonly expands: Expansion
  /** Its folder of settings, the variable that moves the person's, and the file of hooks in it. */
  readonly folder: string
  readonly folderVariable: string | null
  readonly hooksFile: string
  /** The result as its model gets it; absent: `tool_response`. */
  readonly resultOf?: (input: Json) => unknown
  /** The person's words, and what goes to its model; absent: `prompt` for both. */
  readonly promptOf?: (input: Json) => { readonly said: string; readonly sent?: string }
  /** How a prompt is refused; absent: by `decision`. */
  readonly refusesBy?: 'permissionDecision'
  /** Modes in which a command may write; in any other it can only read. Absent: its own modes apply after the hook. */
  readonly writingModes?: readonly string[]
  /** A field that says that the input was shortened: nothing is allowed on it then. */
  readonly cutField?: string
  readonly program: string
  readonly install: () => Promise<
    Pick<HostInstall, 'missed' | 'brings' | 'withoutHooks' | 'switchedOff' | 'rehearsal' | 'note'>
  >
}

export function claudeForm<Name extends string>(row: ClaudeForm<Name>): Host<Name> {
  const { name, tools, shell, expands, ownRules, environment, tellsPerson } = row
  const rewrites = row.rewrites === true
  const promptOf = row.promptOf ?? ((input: Json) => ({ said: text(input, 'prompt') }))
  return {
    name,
    tools,
    // What it strips is not known: more forms of a path can only make a decision stricter.
    paths: [dropsNul, trims, dropsAt, decodes, composes],
    expands,
    ...(ownRules && { ownRules }),
    ...(environment && { environment }),
    ...(tellsPerson && { tellsPerson }),
    ...(row.writingModes && {
      ownSandbox: {
        remedy: `Switch off the sandbox of ${row.program}: each command is in Cordon's.`,
        isReadOnly: ({ permission_mode: mode }) => !row.writingModes!.includes(String(mode)),
      },
    }),
    parse(input) {
      expectEvent(input, 'PreToolUse')
      if (row.cutField !== undefined && input[row.cutField] === true)
        throw new ProtocolError('the input of the call was shortened, so it cannot be judged')
      const tool = text(input, 'tool_name')
      const given = object(input, 'tool_input')
      const cwd = text(input, 'cwd')
      return {
        tool,
        given,
        calls: callsOf(tools, tool, given),
        session: optionalText(input, 'session_id'),
        cwd,
        project: cwd,
        command:
          tool === shell ? { text: text(given, 'command'), replaced: (command) => ({ ...given, command }) } : null,
        canRewrite: rewrites,
        canAsk: false,
      }
    },
    answer(_, outcome) {
      if (outcome.kind === 'pass') return ''
      if (outcome.kind === 'deny') return said('PreToolUse', denied(outcome.reason))
      if (outcome.kind !== 'sandboxed' || !rewrites)
        throw new ProtocolError(`${name} supports neither rewritten commands nor asks`)
      return said('PreToolUse', {
        ...(!outcome.left && { permissionDecision: 'allow' }),
        updatedInput: outcome.input,
      })
    },
    prompts: {
      event: 'UserPromptSubmit',
      parse: (input) => ({ project: text(input, 'cwd'), cwd: text(input, 'cwd'), ...promptOf(input) }),
      refuse: (reason) =>
        row.refusesBy === 'permissionDecision'
          ? said('UserPromptSubmit', denied(reason))
          : JSON.stringify({ decision: 'block', reason }),
    },
    results: {
      events: ['PostToolUse'],
      parse(input) {
        const tool = text(input, 'tool_name')
        return {
          tool,
          session: optionalText(input, 'session_id'),
          project: text(input, 'cwd'),
          value: row.resultOf ? row.resultOf(input) : input.tool_response,
          origin: originOf(tools, tool, input.tool_input),
          command: tool === shell ? ranCommand(input.tool_input) : null,
          canReplace: false,
        }
      },
      answer: (_, { note }) => said('PostToolUse', { additionalContext: note }),
    },
    install: async () => ({ program: row.program, ...(await row.install()), ...(await hookFiles(row)) }),
  }
}

const said = (hookEventName: string, fields: Json): string =>
  JSON.stringify({ hookSpecificOutput: { hookEventName, ...fields } })
const denied = (reason: string): Json => ({ permissionDecision: 'deny', permissionDecisionReason: reason })

/** The person's folder of settings. */
export function ownFolder(
  { folder, folderVariable }: Pick<ClaudeForm<string>, 'folder' | 'folderVariable'>,
  { home, env }: Pick<InstallPlace, 'home' | 'env'>,
): string {
  return (folderVariable === null ? undefined : env[folderVariable]) ?? join(home, folder)
}

async function hookFiles(row: ClaudeForm<string>): Promise<Pick<HostInstall, 'file' | 'edit' | 'test' | 'others'>> {
  const { groupedRows, PROMPT_EVENTS, testCall, tomlRows } = await import('./forms.ts')
  const { folder, hooksFile, shell } = row
  const user = (place: InstallPlace): string => join(ownFolder(row, place), hooksFile)
  const project = ({ root }: InstallPlace): string => join(root, folder, hooksFile)
  const call = testCall('PreToolUse', shell)
  const isToml = hooksFile.endsWith('.toml')
  return {
    file: (place) => (place.scope === 'project' ? project(place) : user(place)),
    edit: isToml ? tomlRows(PROMPT_EVENTS) : groupedRows(PROMPT_EVENTS, { comments: true }),
    ...(!isToml && { others: { event: 'PreToolUse', files: (place) => [project(place), user(place)] } }),
    test: {
      call,
      result: (root, result) => ({
        ...call(root, 'ls'),
        hook_event_name: 'PostToolUse',
        tool_response: { llmContent: result, output: result },
        tool_output: result,
      }),
      denial: '"permissionDecision":"deny"',
    },
  }
}

/** A prompt as a list of parts, of which the texts count. */
export function textsOfParts(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) throw new ProtocolError('the prompt is not a list of parts')
  return value.flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : [])).join('\n')
}
