/** The tool interface: name, input, actions, run and ports. */

import type { CheckedPath } from '../system/guarded/checked-path.ts'
import type { GuardedFiles } from '../system/guarded/guarded-files.ts'
import type { InputSchema } from './input-schema.ts'

/** What a tool can do; recorded, and enforced by a custom tool's sandbox. */
export type ToolLabel = 'network' | 'filesystem' | 'execute'

export const toolLabels: readonly ToolLabel[] = ['network', 'filesystem', 'execute']

/** Hints for clients. The policy decides. */
export interface ToolHints {
  /** A title instead of the name. */
  readonly title?: string
  readonly readOnly: boolean
  readonly destructive: boolean
  readonly idempotent: boolean
  readonly openWorld: boolean
}

/** What a call touches, as written: relative paths, unparsed URLs and commands. */
export interface Actions {
  readonly reads?: readonly string[]
  readonly writes?: readonly string[]
  readonly lists?: readonly string[]
  readonly url?: string
  readonly method?: string
  readonly resolved?: readonly string[]
  readonly hops?: readonly string[]
  readonly command?: string
  /** The command continues after the call. */
  readonly background?: boolean
  /** The directory a command starts in; judged like any path. */
  readonly cwd?: string
  /** Only touches what this session started, such as output of a background command. */
  readonly ownOnly?: boolean
}

export interface ToolFacts {
  readonly name: string
  readonly description: string
  readonly input: InputSchema
  readonly labels: readonly ToolLabel[]
  readonly hints: ToolHints
}

export interface ToolSpec extends ToolFacts {
  /** What the input touches; throws an `InputError` if the input contradicts itself. */
  readonly actions: (input: ToolInput) => Actions
  /** The tool's own process checks the input by a foreign schema. */
  readonly checksInput?: true
  /** What the MCP server that it is of says of it. */
  readonly serverHints?: Readonly<Record<string, unknown>>
}

/** An input that fits the tool's schema. */
export type ToolInput = Readonly<Record<string, unknown>>

/**
 * Runs an allowed call. Throws an `InputError` for a caller's mistake, a `Fault` for a failed
 * machine, and the signal's reason when cancelled. Leaves nothing half done.
 */
export type ToolRun = (input: ToolInput, context: ToolContext) => Promise<ToolOutput>

export type Tool = ToolSpec & { readonly run: ToolRun }

export interface ToolOutput {
  /** For the model. */
  readonly text: string
  /** For programs. */
  readonly data?: unknown
  /** The tool ran and reports a failure, such as an exit code or HTTP status. */
  readonly isError?: boolean
  /** Canonical paths, for the audit. */
  readonly files?: { readonly read: readonly string[]; readonly written: readonly string[] }
  readonly hosts?: readonly string[]
  readonly refusedHosts?: readonly string[]
  readonly truncated?: Truncation
  readonly exitCode?: number
}

/** What the text omits. */
export interface Truncation {
  readonly shown: number
  /** Null if counting would cost as much as reading. */
  readonly total: number | null
  readonly unit: 'characters' | 'lines' | 'entries' | 'bytes'
  /** How to read on. */
  readonly remedy: string
}

export type PathAccess = 'read' | 'write' | 'list'

/** A path with the policy's verdict, which the tool must respect. */
export interface JudgedPath {
  readonly path: CheckedPath
  readonly verdict: 'allow' | 'ask' | 'deny'
}

/** A running tool's only access to the machine. */
export interface ToolContext {
  /** Canonical directory for relative paths. */
  readonly cwd: string
  /** Canonical directories of the session, the project root first. */
  readonly roots: readonly string[]
  /** The judged canonical path for a given path. Throws for any other. */
  readonly checked: (given: string) => CheckedPath
  /**
   * The policy's verdict on a path below a searched, unpacked or deleted directory. A stricter one
   * than the directory's counts as a no. `coming`: what the same call creates (`comingTogether`).
   */
  readonly judge: (access: PathAccess, path: string, coming?: ReadonlySet<string>) => JudgedPath
  /** `filter_listings`: list, glob and grep only show readable files. */
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
  /** Bytes of one result. */
  readonly maxOutputBytes: number
  readonly timeoutMs: number
  /** Limit of a background command; by default the same. */
  readonly backgroundMs?: number
}

/** Sandboxed commands; the text must be the decided one. */
export interface CommandPort {
  run(command: string, options: CommandOptions): Promise<CommandResult>
  /** Starts a command and returns its handle, such as `bg_1`. */
  start(command: string, options: CommandOptions): Promise<string>
  list(): readonly BackgroundCommand[]
  /** New output of a handle; null if unknown. */
  read(handle: string): BackgroundOutput | null
  /** Ends the whole process tree; false if unknown. */
  kill(handle: string): Promise<boolean>
}

export interface CommandOptions {
  /** Canonical. */
  readonly cwd: string
  readonly timeoutMs: number
  /** Absent where nothing ends the command early: its launch may then block, which is faster. */
  readonly signal?: AbortSignal
}

export interface CommandResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly timedOut: boolean
  /** True if cut; `spill` then contains all of it. */
  readonly truncated: boolean
  readonly spill: string | null
  /** What was blocked or corrected, one sentence each. */
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
  /** URLs that redirected. */
  readonly hops: readonly string[]
}

/** Session data between calls, such as the to-do list. JSON only. */
export interface SessionStore {
  get(key: string): unknown
  set(key: string, value: unknown): void
}

/** Model code in a container, Python or a JavaScript engine, without project and network. */
export interface CodePort {
  /** Languages available in containers. */
  languages(): readonly string[]
  container(request: ContainerRequest): Promise<ContainerAnswer>
  /** `cordon` inside makes guarded calls. `keep`: the interpreter's state stays. */
  python(request: ProgramRequest & { readonly keep: boolean }): Promise<ProgramAnswer>
  /** `tools` inside makes guarded calls. */
  script(request: ProgramRequest): Promise<ProgramAnswer>
  /** TypeScript declarations of the tools for programs. */
  declarations(): string
}

export interface CodeFile {
  readonly name: string
  readonly bytes: Uint8Array
}

/** A created file that the agent can read. */
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
  /** The limit it hit, and how that is known. */
  readonly hit: { readonly limit: string; readonly certainty: 'observed' | 'inferred' } | null
  readonly files: readonly MadeFile[]
  readonly engine: string
  readonly wall: string
  /** Limits that this engine cannot enforce here, one sentence each. */
  readonly notHeld: readonly string[]
}

export interface ProgramRequest {
  readonly code: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface ProgramAnswer {
  /** Null without a value. */
  readonly value: string | null
  readonly error: string | null
  readonly limit: string | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  readonly files: readonly MadeFile[]
  /** Number of guarded calls. */
  readonly calls: number
  readonly wall: string
  readonly notes: readonly string[]
}

/** Asks a person; null without an answer. */
export interface QuestionPort {
  ask(question: string, options: readonly string[], signal: AbortSignal): Promise<string | null>
}

/** The call's arguments are wrong; the message explains the correct use. */
export class InputError extends Error {
  override readonly name = 'InputError'
}
