/** A tool as Cordon knows it: its name, what it takes, what a call of it touches, and how it is run. */

import type { CheckedPath } from '../system/guarded/checked-path.ts'
import type { GuardedFiles } from '../system/guarded/guarded-files.ts'
import type { InputSchema } from './input-schema.ts'

/** What a tool can do beyond its answer: it is in the record, and a custom tool's sandbox enforces it. */
export type ToolLabel = 'network' | 'filesystem' | 'execute'

export const toolLabels: readonly ToolLabel[] = ['network', 'filesystem', 'execute']

/** What clients are told about a tool, beside its schema. Hints, not promises: the policy decides. */
export interface ToolHints {
  /** What a person reads instead of the name. */
  readonly title?: string
  readonly readOnly: boolean
  readonly destructive: boolean
  readonly idempotent: boolean
  readonly openWorld: boolean
}

/** What a call touches, as it was written: paths are still relative, URLs unparsed, the command unread. */
export interface Actions {
  readonly reads?: readonly string[]
  readonly writes?: readonly string[]
  readonly lists?: readonly string[]
  readonly url?: string
  readonly method?: string
  readonly resolved?: readonly string[]
  readonly hops?: readonly string[]
  readonly command?: string
  /** The command runs on after the call has returned. */
  readonly background?: boolean
  /** The directory a command starts in; a path like any other. */
  readonly cwd?: string
  /** Touches only what this session itself started, such as the output of a background command. */
  readonly ownOnly?: boolean
}

/** A tool as a model and its client see it. */
export interface ToolFacts {
  readonly name: string
  readonly description: string
  readonly input: InputSchema
  readonly labels: readonly ToolLabel[]
  readonly hints: ToolHints
}

/** What a decision needs of a tool. */
export interface ToolSpec extends ToolFacts {
  /** What this input touches; throws an `InputError` when the input contradicts itself. */
  readonly actions: (input: ToolInput) => Actions
  /** Its schema is a stranger's: the process that runs it holds the input to it. */
  readonly checksInput?: true
  /** What the MCP server that it is of says of it. */
  readonly serverHints?: Readonly<Record<string, unknown>>
}

/** An input that fits the tool's schema. */
export type ToolInput = Readonly<Record<string, unknown>>

/**
 * Runs a call that was allowed. Throws an `InputError` for what the caller can put right, a `Fault` for what the
 * machine failed at, and the signal's reason when it was cancelled; nothing half done stays behind.
 */
export type ToolRun = (input: ToolInput, context: ToolContext) => Promise<ToolOutput>

export type Tool = ToolSpec & { readonly run: ToolRun }

export interface ToolOutput {
  /** What the model reads. */
  readonly text: string
  /** The same for programs. */
  readonly data?: unknown
  /** The tool ran and its answer is a failure: a command's exit code, an HTTP refusal. */
  readonly isError?: boolean
  /** Canonical paths, for the audit. */
  readonly files?: { readonly read: readonly string[]; readonly written: readonly string[] }
  readonly hosts?: readonly string[]
  readonly refusedHosts?: readonly string[]
  readonly truncated?: Truncation
  readonly exitCode?: number
}

/** What was left out of the text, and how to get at it. */
export interface Truncation {
  readonly shown: number
  /** Null when counting the rest would cost as much as reading it. */
  readonly total: number | null
  readonly unit: 'characters' | 'lines' | 'entries' | 'bytes'
  /** How to read on. */
  readonly remedy: string
}

export type PathAccess = 'read' | 'write' | 'list'

/** A path that the policy was asked about; to honour the verdict is the tool's part. */
export interface JudgedPath {
  readonly path: CheckedPath
  readonly verdict: 'allow' | 'ask' | 'deny'
}

/** What a running tool may reach. Everything a tool does to the machine goes through here. */
export interface ToolContext {
  /** Canonical directory that relative paths are under. */
  readonly cwd: string
  /** Canonical directories of the session: the project root first. */
  readonly roots: readonly string[]
  /** The canonical path that the decision was about, for a path as the input gave it. Throws for any other. */
  readonly checked: (given: string) => CheckedPath
  /**
   * What the policy says about a canonical path the decision did not name: a file below a searched, unpacked or
   * deleted directory. An answer stricter than the one for the directory itself is honoured as a no.
   */
  readonly judge: (access: PathAccess, path: string) => JudgedPath
  /** `filter_listings`: list, glob and grep show only what may be read. */
  readonly filterListings: boolean
  readonly limits: ToolLimits
  readonly files: GuardedFiles
  readonly commands: CommandPort
  readonly web: WebPort
  readonly store: SessionStore
  readonly ask: QuestionPort
  readonly code: CodePort
  readonly signal: AbortSignal
}

export interface ToolLimits {
  /** Characters that `read` returns. */
  readonly readSizeLimit: number
  /** Bytes of one tool result. */
  readonly maxOutputBytes: number
  readonly timeoutMs: number
  /** Of a command in the background, which may be a server; unset: the same. */
  readonly backgroundMs?: number
}

/** Commands in the sandbox; the command text is the one that was decided. */
export interface CommandPort {
  run(command: string, options: CommandOptions): Promise<CommandResult>
  /** Starts a command and returns its handle, such as `bg_1`. */
  start(command: string, options: CommandOptions): Promise<string>
  list(): readonly BackgroundCommand[]
  /** Output since the last read of this handle; null for an unknown one. */
  read(handle: string): BackgroundOutput | null
  /** Ends the whole process tree; false for an unknown handle. */
  kill(handle: string): Promise<boolean>
}

export interface CommandOptions {
  /** Canonical. */
  readonly cwd: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface CommandResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly timedOut: boolean
  /** True when output was cut; `spill` then holds all of it. */
  readonly truncated: boolean
  readonly spill: string | null
  /** What was stopped or put right on the way, a sentence each. */
  readonly notes: readonly string[]
}

export interface BackgroundCommand {
  readonly handle: string
  readonly command: string
  readonly running: boolean
  /** Null while it runs. */
  readonly exitCode: number | null
}

export interface BackgroundOutput extends BackgroundCommand {
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  readonly notes: readonly string[]
}

/** HTTP under the egress rules; every hop is judged and dialled at the judged address. */
export interface WebPort {
  fetch(request: WebRequest): Promise<WebAnswer>
}

export interface WebRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Of the decoded body. */
  readonly maxBytes: number
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export type WebAnswer = { readonly response: WebResponse } | { readonly refused: string; readonly url: string }

export interface WebResponse {
  readonly status: number
  readonly statusText: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly truncated: boolean
  readonly finalUrl: string
  /** URLs that led to the final one. */
  readonly hops: readonly string[]
}

/** What a session remembers between calls, such as the to-do list. JSON values only. */
export interface SessionStore {
  get(key: string): unknown
  set(key: string, value: unknown): void
}

/** Code of the model: in its own container, in Python, in a JavaScript engine. None of it sees the project or a network. */
export interface CodePort {
  /** Languages that containers have here. */
  languages(): readonly string[]
  container(request: ContainerRequest): Promise<ContainerAnswer>
  /** `cordon` inside makes guarded calls of this session. `keep`: the interpreter and its state stay for the next call. */
  python(request: ProgramRequest & { readonly keep: boolean }): Promise<ProgramAnswer>
  /** `tools` inside makes guarded calls of this session. */
  script(request: ProgramRequest): Promise<ProgramAnswer>
  /** What programs can call, as TypeScript declarations. */
  declarations(): string
}

export interface CodeFile {
  readonly name: string
  readonly bytes: Uint8Array
}

/** A file that a program made, where the agent can read it. */
export interface MadeFile {
  readonly name: string
  readonly path: string
  readonly bytes: number
}

export interface ContainerRequest {
  readonly language: string
  readonly code: string
  readonly stdin: string
  readonly files: readonly CodeFile[]
  readonly outputs: readonly string[]
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface ContainerAnswer {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  /** The limit that it met with, and how that is known. */
  readonly hit: { readonly limit: string; readonly certainty: 'observed' | 'inferred' } | null
  readonly files: readonly MadeFile[]
  readonly engine: string
  readonly wall: string
  /** Limits that this engine cannot hold here, a sentence each. */
  readonly notHeld: readonly string[]
}

export interface ProgramRequest {
  readonly code: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface ProgramAnswer {
  /** Null when it came to nothing. */
  readonly value: string | null
  readonly error: string | null
  readonly limit: string | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  readonly files: readonly MadeFile[]
  /** Guarded calls that it made. */
  readonly calls: number
  readonly wall: string
  readonly notes: readonly string[]
}

/** A person to ask; null when there is none or they gave no answer. */
export interface QuestionPort {
  ask(question: string, options: readonly string[], signal: AbortSignal): Promise<string | null>
}

/** The call's own arguments are wrong; the message says how to call the tool right. */
export class InputError extends Error {
  override readonly name = 'InputError'
}
