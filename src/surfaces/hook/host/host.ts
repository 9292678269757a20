/** What a hook receives from its host and can answer, in any host's form. */

import type { HeldCommand } from '../../../agents/hook/held-commands.ts'
import type { InlineSetting } from '../../../agents/hook/inline.ts'
import type { HookCall } from '../../../agents/hook/judge.ts'
import type { Expansion, Said, UnseenPlace } from '../../../agents/hook/unseen.ts'
import type { CommandWord } from '../../../agents/import/command-words.ts'
import type { Reason } from '../../../policy/decision.ts'
import type { Files } from '../../../system/files.ts'
import type { Machine } from '../../../system/machine.ts'
import type { HostInstall } from './host-install.ts'
import type { PathHabit } from './path-readings.ts'
import type { Quoting } from './sandboxed-command.ts'

/** A JSON object from outside, unchecked. */
export type Json = Readonly<Record<string, unknown>>

/** A shell command of the host's agent. */
export interface HookCommand {
  readonly text: string
  readonly replaced: (text: string) => Json
  /** The host's next command starts in this one's last directory. */
  readonly keepsDirectory?: boolean
}

export interface HookRequest {
  readonly tool: string
  /** The tool's input: a person sees all of it, and a yes is for exactly this. */
  readonly given: Json
  /** The call as Cordon's tools; the strictest decides, and an empty list needs no decision. */
  readonly calls: readonly HookCall[]
  /** The host's session id, for grants that end with it. */
  readonly session: string | null
  readonly cwd: string | null
  /** Where the person started the host, if the agent cannot choose that value. */
  readonly project: string | null
  /** The command to put into the sandbox, and how to replace it in the input. */
  readonly command: HookCommand | null
  /** The search input without these globs; absent if the host cannot exclude any. */
  readonly narrowed?: (globs: readonly string[]) => Json
  readonly canRewrite: boolean
  readonly canAsk: boolean
  /** Relative paths that the host searches for in the project if they do not exist. */
  readonly soughtElsewhere?: readonly string[]
}

/** The outcome of a call. */
export type Outcome =
  /** The host continues as it would without Cordon. */
  | { readonly kind: 'pass' }
  /** Runs with `input`, inside the sandbox. `left`: the host decides whether to ask first. */
  | { readonly kind: 'sandboxed'; readonly input: Json; readonly left: boolean }
  /** The host continues with a search that excludes what the note names. */
  | { readonly kind: 'narrowed'; readonly input: Json; readonly note: string }
  | { readonly kind: 'ask'; readonly reason: string; readonly input: Json | null }
  /** `final`: the session must stop. */
  | { readonly kind: 'deny'; readonly reason: string; readonly final?: true }

/** Outside text (network, servers) is masked, files and command output stay, the agent's own text is skipped. */
export type Origin = 'agent' | 'project' | 'outside'

export interface HookResult {
  readonly tool: string
  readonly session: string | null
  readonly project: string | null
  readonly value: unknown
  readonly origin: Origin
  /** The shell command that ran, as the host reports it; null for other tools. */
  readonly command: string | null
  readonly canReplace: boolean
}

/** What the agent learns about a result. */
export interface ResultWord {
  readonly note: string | null
  /** The result with secrets masked, in the same shape; null if unchanged. */
  readonly value: unknown
}

/** How a host shows results to its hooks. */
export interface HostResults {
  readonly events: readonly string[]
  /** Reads the host's input; null if unchecked. */
  parse(input: Json, env: Readonly<Record<string, string | undefined>>): HookResult
  answer(input: Json, word: ResultWord): string
}

/** The machine on which a host's settings are checked. */
export interface HostSurroundings {
  readonly machine: Pick<Machine, 'home' | 'env'>
  readonly files: Pick<Files, 'exists' | 'readText'>
}

/** A host's own sandbox. The installation exempts wrapped commands from it. */
export interface HostSandbox {
  /** The remedy if a wrapped command runs in it all the same. */
  readonly remedy: string
  /** Whether it would keep this command from writing without us. */
  readonly isReadOnly?: (input: Json, at: HostSurroundings, root: string) => boolean | Promise<boolean>
  /** Whether it is on and exempts only unmodified wrapped commands. */
  readonly isOn?: (at: HostSurroundings, root: string) => boolean
}

/** How a host shows a person's words before they go to its model. */
export interface HostPrompts {
  readonly event: string
  /** The start directory, the current directory, and the words. */
  parse(
    input: Json,
    env: Readonly<Record<string, string | undefined>>,
  ): Said & {
    readonly project: string
    readonly cwd: string
  }
  /** Text for stdout to continue; absent: none. */
  readonly pass?: string
  refuse(reason: string): string
  /** Why no hook of this session sees calls, or null. Nothing may go to the model then. */
  readonly blind?: (
    env: Readonly<Record<string, string | undefined>>,
  ) => Promise<Pick<Reason, 'message' | 'remedy'> | null>
  /** How it asks which commands not to expand, if it asks before the person's words. */
  readonly withheld?: {
    readonly isAsked: (input: Json) => boolean
    readonly answer: (commands: readonly HeldCommand[]) => string
  }
}

/** Where a host's rules are found. */
export interface RulePlace extends Pick<Machine, 'home' | 'env'> {
  readonly folders: readonly string[]
  /** The hook's ancestors' command lines, including the host's; empty if the system hides them. */
  readonly commandLines: () => readonly (readonly string[])[]
}

/** A source of rules: a file, a folder's files with this ending, or text from elsewhere. */
export type RuleSource =
  | { readonly file: string }
  | { readonly folder: string; readonly ending: string }
  | { readonly from: string; readonly text: string }

/** A host's own rules about commands. The host would only match the wrapped command, so the hook applies them. */
export interface OwnRules {
  readonly settings?: (at: RulePlace) => readonly string[]
  readonly sources: (at: RulePlace) => readonly RuleSource[]
  /** Rules that the installation wrote for the host's own reads: Cordon enforces them for commands. */
  readonly ours?: ReadonlySet<string>
  /** The last matching rule of a source wins; absent: the strictest. */
  readonly lastWins?: true
  /** Reads a source: settings as a value, other sources as text. */
  reader(): Promise<(source: unknown) => readonly CommandWord[]>
}

/** The values of a flag on the command lines, each up to the next flag. */
export function flagValues({ commandLines }: RulePlace, ...flags: readonly string[]): readonly string[] {
  return commandLines().flatMap((words) =>
    words.flatMap((word, at) => {
      const flag = flags.find((one) => word === one || word.startsWith(`${one}=`))
      if (flag === undefined) return []
      if (word !== flag) return [word.slice(flag.length + 1)]
      const rest = words.slice(at + 1)
      const end = rest.findIndex((next) => next.startsWith('-'))
      return end < 0 ? rest : rest.slice(0, end)
    }),
  )
}

/** An agent program with hooks. */
export interface Host<Name extends string = string> {
  /** Its name for `cordon hook` and `cordon install`. */
  readonly name: Name
  /** Its tools by their names; any other asks. */
  readonly tools: Readonly<Record<string, unknown>>
  readonly paths: readonly PathHabit[]
  /** What it reads and runs besides the calls that it shows; absent: nothing known. */
  readonly expands?: Expansion
  /** Its settings for commands in skills, in a project and a folder of it; absent: no such setting. */
  readonly inlineSetting?: (at: HostSurroundings, root: string, cwd: string) => Promise<InlineSetting>
  /** Shows its person a `systemMessage` beside an answer. */
  readonly tellsPerson?: true
  readonly ownSandbox?: HostSandbox
  /** How its shells read quotes; absent: any shell. */
  readonly quoting?: Quoting
  /** Folders for this session's own data (output, scratchpads), which its agent may read. */
  readonly ownFolders?: (input: Json, at: HostSurroundings) => readonly string[]
  /** Variable files that it loads into its own process and its hooks, so its agent may not write them. */
  readonly environment?: readonly string[]
  readonly ownRules?: OwnRules
  /** Whether an input for another host's hook comes from this one, which runs those hooks too. */
  readonly borrows?: (from: string, input: Json) => boolean
  readonly eventOf?: (input: Json) => string
  /** Reads the host's input; throws a `ProtocolError` for anything unknown. */
  parse(input: Json, env: Readonly<Record<string, string | undefined>>): HookRequest
  answer(request: HookRequest, outcome: Outcome): string
  readonly results: HostResults
  /** Absent if it reads nothing on its own at its start, or asks nobody. */
  readonly prompts?: HostPrompts
  /** How its hook is installed and tested. Imported only on demand, to keep hooks fast. */
  install(): Promise<HostInstall>
}

/** Input of a host that its hook does not know: nothing is allowed on it. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

/** A required text field. */
export function text(input: Json, ...names: readonly string[]): string {
  const value = optionalText(input, ...names)
  if (value === null) throw new ProtocolError(`the input has no "${names[0]}"`)
  return value
}

/** The first of these text fields that is present, or null. Present but not text is an error. */
export function optionalText(input: Json, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined
    if (value === undefined || value === null) continue
    if (typeof value !== 'string') throw new ProtocolError(`"${name}" is not a text`)
    return value
  }
  return null
}

/** The host's id of a call, the same before and after it. */
export function useOf({ tool_use_id, tool_call_id, call_id }: Json): string | null {
  const [id] = [tool_use_id, tool_call_id, call_id].filter((value) => typeof value === 'string')
  return id ?? null
}

export function recordOf({ transcript_path: path }: Json): string | null {
  return typeof path === 'string' && path.startsWith('/') ? path : null
}

/** The session's id if it can name a folder, or null. */
export function sessionName({ session_id: id }: Json): string | null {
  return typeof id === 'string' && /^[\w-]{8,}$/.test(id) ? id : null
}

export function object(input: Json, name: string): Json {
  const value = Object.hasOwn(input, name) ? input[name] : undefined
  if (!isObject(value)) throw new ProtocolError(`the input has no object "${name}"`)
  return value
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Requires the event that the hook was installed for. */
export function expectEvent(input: Json, ...events: readonly string[]): string {
  const event = text(input, 'hook_event_name')
  if (!events.includes(event)) {
    throw new ProtocolError(`the event is "${event}"; this hook answers ${events.join(', ')}`)
  }
  return event
}

/** Where a host expands on its own, and its settings for commands in skills. */
export function unseenPlace(
  { inlineSetting }: Host,
  root: string,
  cwd: string,
  { machine, files }: { readonly machine: Machine; readonly files: Files },
): UnseenPlace {
  const at = files.canonical(cwd)
  return { machine, cwd: at, setting: inlineSetting ? () => inlineSetting({ machine, files }, root, at) : null }
}
