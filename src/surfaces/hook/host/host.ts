/** What a hook hears from its host and what it can answer, whatever form the host gives to either. */

import type { HeldCommand } from '../../../agents/hook/held-commands.ts'
import type { InlineSetting } from '../../../agents/hook/inline.ts'
import type { HookCall } from '../../../agents/hook/judge.ts'
import type { Expansion, Said } from '../../../agents/hook/unseen.ts'
import type { CommandWord } from '../../../agents/import/command-words.ts'
import type { Reason } from '../../../policy/decision.ts'
import type { Files } from '../../../system/files.ts'
import type { Machine } from '../../../system/machine.ts'
import type { HostInstall } from './host-install.ts'
import type { PathHabit } from './path-readings.ts'
import type { Quoting } from './sandboxed-command.ts'

/** A JSON object as it came in; nothing in it is believed before it is checked. */
export type Json = Readonly<Record<string, unknown>>

/** A shell command of the host's agent. */
export interface HookCommand {
  readonly text: string
  readonly replaced: (text: string) => Json
  /** The host's next command starts where this one ends. */
  readonly keepsDirectory?: boolean
}

/** One tool call of the host's agent. */
export interface HookRequest {
  /** The host's name of the tool. */
  readonly tool: string
  /** What the tool is called with: a person is shown all of it, and a yes is for exactly this. */
  readonly given: Json
  /** What the call does, in Cordon's tools; the strictest decides, and none means that there is nothing to decide. */
  readonly calls: readonly HookCall[]
  /** The host's own id of the session, for grants that end with it. */
  readonly session: string | null
  /** Where relative paths and commands start; null for the project itself. */
  readonly cwd: string | null
  /** Where the person started the host, when the host says so in a way that its agent cannot choose. */
  readonly project: string | null
  /** The command that can be put into the sandbox, and the tool's input with another one in its place. */
  readonly command: HookCommand | null
  /** The input of a search that leaves these globs out; absent where the host takes no such input. */
  readonly narrowed?: (globs: readonly string[]) => Json
  /** The host takes another command instead of the one it asked about. */
  readonly canRewrite: boolean
  /** The host puts an ask to its person, and waits for the answer. */
  readonly canAsk: boolean
  /** Relative paths that the host looks for in the whole project when they are not where they say. */
  readonly soughtElsewhere?: readonly string[]
}

/** What becomes of a call. */
export type Outcome =
  /** The host goes on as it would without Cordon. */
  | { readonly kind: 'pass' }
  /** It may run, as `input`, which puts it into the sandbox. `left`: whether to ask first is the host's to decide. */
  | { readonly kind: 'sandboxed'; readonly input: Json; readonly left: boolean }
  /** The host goes on with less: a search that leaves out what the note says. */
  | { readonly kind: 'narrowed'; readonly input: Json; readonly note: string }
  | { readonly kind: 'ask'; readonly reason: string; readonly input: Json | null }
  /** `final`: nothing more of this session may run. */
  | { readonly kind: 'deny'; readonly reason: string; readonly final?: true }

/** Secrets from outside, the network or a server, are masked; files and commands are shown as they are; what the agent wrote is not read. */
export type Origin = 'agent' | 'project' | 'outside'

/** What a tool of the host's agent gave; it ran, and nothing that is said now undoes it. */
export interface HookResult {
  readonly tool: string
  readonly session: string | null
  readonly project: string | null
  /** The result in the host's own shape. */
  readonly value: unknown
  readonly origin: Origin
  /** The shell command that ran, as the host says it; null for every other tool. */
  readonly command: string | null
  /** The host takes another result in its place. */
  readonly canReplace: boolean
}

/** What the agent is told about a result. */
export interface ResultWord {
  /** A sentence for the agent; null when there is nothing to say. */
  readonly note: string | null
  /** The result without its secrets, in the same shape; null when it stays as it is. */
  readonly value: unknown
}

/** How a host shows results to its hooks. */
export interface HostResults {
  readonly events: readonly string[]
  /** Reads the host's input; what it cannot read is not checked. */
  parse(input: Json, env: Readonly<Record<string, string | undefined>>): HookResult
  /** What goes to stdout, to the letter. */
  answer(input: Json, word: ResultWord): string
}

/** What is known of the machine where a host's settings are checked. */
export interface HostSurroundings {
  readonly machine: Pick<Machine, 'home' | 'env'>
  readonly files: Pick<Files, 'exists' | 'readText'>
}

/** A host's own sandbox. The installation has it leave the wrapped command alone, since that is in one of Cordon's. */
export interface HostSandbox {
  /** What to do when a wrapped command runs in it all the same. */
  readonly remedy: string
  /** It would keep this command from writing, if it were not for us. */
  readonly isReadOnly?: (input: Json, at: HostSurroundings, root: string) => boolean | Promise<boolean>
  /** It is switched on, and leaves only a wrapped command alone on its own. */
  readonly isOn?: (at: HostSurroundings, root: string) => boolean
}

/** How a host shows what its person says before anything goes to its model. */
export interface HostPrompts {
  readonly event: string
  /** Where the person started it, where it stands, and their words. */
  parse(
    input: Json,
    env: Readonly<Record<string, string | undefined>>,
  ): Said & {
    readonly project: string
    readonly cwd: string
  }
  /** What goes to stdout when it goes on; absent: nothing. */
  readonly pass?: string
  /** What goes to stdout when nothing may go to the model. */
  refuse(reason: string): string
  /** Why its hooks are asked about no call of this session; null where they are. Nothing may go to its model then. */
  readonly blind?: (
    env: Readonly<Record<string, string | undefined>>,
  ) => Promise<Pick<Reason, 'message' | 'remedy'> | null>
  /** How it asks which commands it must not expand, where it does so before it asks about its person's words. */
  readonly held?: {
    readonly isAsked: (input: Json) => boolean
    readonly answer: (commands: readonly HeldCommand[]) => string
  }
}

/** Where a host's rules are looked for. */
export interface RulePlace extends Pick<Machine, 'home' | 'env'> {
  /** Folders of the project that may hold its settings, the nearest first. */
  readonly folders: readonly string[]
  /** The command lines above the hook, among them the host's; empty where the system does not show them. */
  readonly commandLines: () => readonly (readonly string[])[]
}

/** What holds rules: a file, the files of a folder with this ending, or a text that is not a file's. */
export type RuleSource =
  | { readonly file: string }
  | { readonly folder: string; readonly ending: string }
  | { readonly from: string; readonly text: string }

/** A host's own rules about commands. It holds them against the wrapped command, where they find nothing: so the hook does. */
export interface OwnRules {
  /** The settings that `cordon import` reads, the nearest first. */
  readonly settings?: (at: RulePlace) => readonly string[]
  readonly sources: (at: RulePlace) => readonly RuleSource[]
  /** Rules that the installation wrote for what the host reads by itself: Cordon has its own for commands. */
  readonly ours?: ReadonlySet<string>
  /** The last rule of a source that matches wins; absent: the strictest. */
  readonly lastWins?: true
  /** Reads one of them: settings as a value, everything else as text. */
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

/** An agent program that has hooks. */
export interface Host<Name extends string = string> {
  /** What `cordon hook` and `cordon install` call it. */
  readonly name: Name
  /** What it does to a path before it uses it. */
  readonly paths: readonly PathHabit[]
  /** What it reads and runs by itself beside the calls that it shows; absent: nothing that is known. */
  readonly expands?: Expansion
  /** What its settings say of commands in skills, in a project and a folder of it; absent: it has no such setting. */
  readonly inlineSetting?: (at: HostSurroundings, root: string, cwd: string) => Promise<InlineSetting>
  /** It shows its person a `systemMessage` beside an answer. */
  readonly tellsPerson?: true
  /** Its own sandbox around commands; absent: it has none that is known. */
  readonly ownSandbox?: HostSandbox
  /** How its shells read quotes; absent: any shell may be the person's. */
  readonly quoting?: Quoting
  /** Folders in which it keeps what belongs to this session (saved and background output, scratchpads): its agent may read them. */
  readonly ownFolders?: (input: Json, at: HostSurroundings) => readonly string[]
  /** Files of a folder whose variables it takes into its own process, and so into its hooks: its agent may not write them. */
  readonly environment?: readonly string[]
  /** Its own rules about commands; absent: it has none that is known. */
  readonly ownRules?: OwnRules
  /** It also runs the hooks of another host, in its own form, and its input says who it is. */
  readonly borrows?: (from: string, input: Json) => boolean
  /** The event of an input that does not name it itself. */
  readonly eventOf?: (input: Json) => string
  /** Reads the host's input; throws a `ProtocolError` for anything it does not know. */
  parse(input: Json, env: Readonly<Record<string, string | undefined>>): HookRequest
  /** What goes to stdout, to the letter. */
  answer(request: HookRequest, outcome: Outcome): string
  readonly results: HostResults
  /** Absent where it reads nothing by itself at its start, or asks no one. */
  readonly prompts?: HostPrompts
  /** How its hook is installed and tried. Asked for late, and what it needs is imported in it: a hook that answers starts without. */
  install(): Promise<HostInstall>
}

/** The host said something that its hook does not know: nothing is allowed on it. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

/** A text field that must be there. */
export function text(input: Json, ...names: readonly string[]): string {
  const value = optionalText(input, ...names)
  if (value === null) throw new ProtocolError(`the input has no "${names[0]}"`)
  return value
}

/** The first of these text fields that is there; null when none is. One that is there and no text is an error. */
export function optionalText(input: Json, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined
    if (value === undefined || value === null) continue
    if (typeof value !== 'string') throw new ProtocolError(`"${name}" is not a text`)
    return value
  }
  return null
}

/** The host's own id of a call: the same before it and after it. */
export function useOf({ tool_use_id, tool_call_id, call_id }: Json): string | null {
  const [id] = [tool_use_id, tool_call_id, call_id].filter((value) => typeof value === 'string')
  return id ?? null
}

/** The host's record of the session, by its whole path; null where it says none. */
export function recordOf({ transcript_path: path }: Json): string | null {
  return typeof path === 'string' && path.startsWith('/') ? path : null
}

/** The session's id where it can be a name of a folder; null for everything else. */
export function sessionName({ session_id: id }: Json): string | null {
  return typeof id === 'string' && /^[\w-]{8,}$/.test(id) ? id : null
}

/** An object field that must be there. */
export function object(input: Json, name: string): Json {
  const value = Object.hasOwn(input, name) ? input[name] : undefined
  if (!isObject(value)) throw new ProtocolError(`the input has no object "${name}"`)
  return value
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Holds the input to the event that the hook was installed for. */
export function expectEvent(input: Json, ...events: readonly string[]): string {
  const event = text(input, 'hook_event_name')
  if (!events.includes(event)) {
    throw new ProtocolError(`the event is "${event}"; this hook answers ${events.join(', ')}`)
  }
  return event
}
