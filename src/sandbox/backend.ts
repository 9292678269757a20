/** The port to a kernel sandbox: one plan in, one command run inside it, or a fault. */

import type { Server, Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { Fault, type FaultCode } from '../system/fault.ts'
import type { SandboxLayout } from './layout.ts'
import type { Limits } from './limits.ts'
import type { SandboxPlan, SoughtPath } from './plan.ts'
import type { Caller, ProgramJudge, RanProgram } from './programs.ts'
import type { Support } from './report.ts'
import type { Violation } from './violation.ts'

/** Where an output goes. A Writable is never ended. */
export type Output = 'inherit' | 'capture' | 'discard' | Writable

/** A person's terminal, relayed to a terminal of the sandbox's own. */
export interface TerminalIo {
  readonly input: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown }
  readonly output: Writable & { readonly rows?: number; readonly columns?: number }
  /** Called with a function that pauses the relay for another program; its result resumes it. */
  readonly onRelay?: (hold: () => (keys?: string) => void) => void
}

export interface LaunchIo {
  /** Bytes, a stream, the caller's own, or nothing (the default). A terminal is never passed on as it is. */
  readonly stdin?: 'inherit' | 'none' | string | Uint8Array | Readable
  readonly stdout?: Output
  readonly stderr?: Output
  /** Interactive: stdin and stdout (and stderr, unless it is given) are a terminal inside. */
  readonly terminal?: TerminalIo
  /** Cancels: the whole sandbox dies. */
  readonly signal?: AbortSignal
  /** Called with the process whose descendants are everything inside. */
  readonly onStarted?: (pid: number) => void
  /** Signals that reach this process while the command runs and are passed on to it. */
  readonly forwardSignals?: readonly NodeJS.Signals[]
  /** Where output beyond the cap is kept; without it the rest is dropped and counted. */
  readonly spillDirectory?: string
  /**
   * A last check, when masks and pins are in place and nothing runs yet. False ends it with the
   * fault `mask-moved`. For commands that start while another one, which can move files, is
   * running.
   */
  readonly verify?: () => boolean | Promise<boolean>
  /** Called as each is observed; the result lists them again. */
  readonly onViolation?: (violation: Violation) => void
  /** With `network: 'listener'`: the listening sockets from inside the network namespace, before the command starts; `broker` is the port of a further one. */
  readonly onListener?: (server: Server, broker: number | null) => void
  /**
   * With `servers` in the plan: a process inside now listens on one of these ports. The returned
   * function is called when it stops, at the latest when the command has ended.
   */
  readonly onServer?: (server: InsideServer) => () => void
  /** With `sockets` in the plan: a connection to the path of one of them. */
  readonly onLocal?: (socket: Socket, target: string) => void
  /** With `programs` in the plan: decides the starts that the table lists. */
  readonly judge?: ProgramJudge
  /** With a line `h` in `programs`: a program that connects to the listener, before its first connection. */
  readonly onCaller?: (caller: Caller) => void
  /** True when `judge` may take its time: it asks a person. */
  readonly judgeAsks?: boolean
  /**
   * With `reportsPorts` in the plan: an unlisted port is open inside. True opens it like others.
   */
  readonly onPort?: (port: number) => Promise<boolean>
}

/** A server of the command, in its own network namespace. */
export interface InsideServer {
  readonly port: number
  /** A connection to it, opened from inside, so that it reaches nothing else; null if refused. */
  connect(): Promise<Socket | null>
}

/** The captured part of one stream. */
export interface CapturedOutput {
  /** The first bytes, up to the cap. */
  readonly bytes: Buffer
  readonly total: number
  readonly truncated: boolean
  /** The file with all output, if it exceeds the cap. */
  readonly spill: string | null
}

/** A name that was asked for, or a host that a connection was meant for, where there was no way to it. */
export interface MissingPath {
  readonly what: 'name' | 'connection'
  readonly name: string
  /** 0 for a name. */
  readonly port: number
}

export interface LaunchResult {
  /** Null when the command was ended by a signal. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** What `cordon run` exits with: the code, or 128 + signal. */
  readonly exitCode: number
  readonly timedOut: boolean
  readonly cancelled: boolean
  readonly stdout: CapturedOutput | null
  readonly stderr: CapturedOutput | null
  readonly violations: readonly Violation[]
  /** Paths that it looked for and that do not exist inside, each once. */
  readonly asked: readonly MissingPath[]
  /** Unlisted ports on which it listened. */
  readonly unlisted: readonly number[]
  /** The first few files that it wrote to its temporary home, now deleted: their paths below it. */
  readonly leftBehind: readonly string[]
  /** The first programs that it started, where starts are judged. */
  readonly programs?: { readonly list: readonly RanProgram[]; readonly leftOut: number }
  /** With `learns` in the plan: the paths that it looked for in order, and how many more. */
  readonly sought?: { readonly list: readonly SoughtPath[]; readonly leftOut: number }
  /** False if opens of masked files could not be watched; they are still hidden. */
  readonly masksWatched: boolean
  readonly milliseconds: number
}

/** A plan in the form its platform takes; for `--plan --json` and tests. */
export interface CompiledSandbox {
  readonly program: string
  readonly args: readonly string[]
  readonly setupMessage: Uint8Array | string
}

/**
 * Capabilities of a backend beyond running a command with streams, status and a time limit. A plan
 * that needs an undeclared one is refused (`requireCapable`), never reduced.
 */
export type Capability =
  /** Runs the programs of this machine. */
  | 'programs'
  /** Opens of masked files are observed and reported. */
  | 'observed-masks'
  /**
   * Reports when the host replaces a hidden file, which then becomes visible; without it, the new
   * file is hidden as well.
   */
  | 'lifted-masks'
  /** Notices that a file is not the one that was checked: `maskIdentities`, `verify`. */
  | 'moved-files'
  /** `standIns`. */
  | 'stand-ins'
  /** `network: 'listener'`. */
  | 'listener'
  /** Refuses connections by itself, and reports the host: without a listener too. */
  | 'refusals'
  | 'servers'
  | 'unix-sockets'
  /** A terminal of the sandbox's own. */
  | 'terminal'
  /** `forwardSignals`. */
  | 'signals'
  /** The user inside is the user outside. */
  | 'same-user'
  /** Reached limits are reported, and the machine's memory is shared fairly. */
  | 'watched-limits'
  /** `changes`: they go through the init. */
  | 'held-changes'
  /** `learns`: paths that a command looks for in vain are reported. */
  | 'sought-paths'
  /** `programs`: every program start is judged. */
  | 'judged-programs'
  /** Reports which program makes each connection. */
  | 'reported-callers'

/** A plan whose first part is known: a backend may start on that while the rest is prepared. */
export interface PlanUnderway {
  /** Prepared on demand. */
  layout(): SandboxLayout
  readonly limits: Limits
  /** Whether sockets will be handed out of the sandbox. */
  readonly sockets: boolean
  /** The result of `arrange`. */
  readonly arrangement?: Arrangement
  /** Completes the plan. If it throws, nothing runs and the backend leaves nothing. */
  complete(): SandboxPlan
}

/** Resources of a command without namespaces, known before its plan. */
export interface Arrangement {
  /** Its private folder for temporary files, canonical; shown and writable. */
  readonly temporary: string
  /** What HOME means where the person's own is not shown; absent: the same path. */
  readonly home?: string
  /** Its proxy, and the token to show there: other programs of the machine can connect, too. */
  readonly proxy: { readonly port: number; readonly token: string } | null
  dispose(): void
}

export interface Backend {
  readonly name: string
  /** Shown to the person once: why this backend was chosen. */
  readonly notice?: string
  readonly capabilities: ReadonlySet<Capability>
  /** Really runs a sandbox, and attacks from inside it. */
  probe(): Promise<Support>
  compile(plan: SandboxPlan): CompiledSandbox
  /**
   * Only for a backend without namespaces: creates what a plan names. The caller disposes of it.
   */
  arrange?(needs: { readonly network: boolean }): Promise<Arrangement>
  /**
   * Runs one command. Throws a SandboxFault if it could not run inside; never runs it outside.
   * INVARIANT: a plan under way is completed before this returns its promise, so other commands see
   * both checks as one moment.
   */
  launch(plan: SandboxPlan | PlanUnderway, io?: LaunchIo): Promise<LaunchResult>
  /** A launch of this plan is likely to come, with the same streams: a backend may begin to make ready for it. */
  expect?(plan: Omit<PlanUnderway, 'complete'>, io: LaunchIo): void
  /** Releases prepared resources; the next launch may prepare them again. */
  release(): void
}

/** Throws the fault of a plan that needs more than a backend can do. */
export function requireCapable({ name, capabilities }: Backend, plan: SandboxPlan, io: LaunchIo): void {
  const needed: readonly (readonly [boolean, Capability, string])[] = [
    [plan.network.kind === 'listener', 'listener', 'access to the granted hosts'],
    [plan.servers.length > 0, 'servers', 'ports of servers inside'],
    [plan.sockets.length > 0, 'unix-sockets', 'the unix sockets that are granted'],
    [plan.changes !== null, 'held-changes', 'judged changes'],
    [plan.learns, 'sought-paths', 'a report of what it looks for'],
    [plan.programs !== null, 'judged-programs', 'a check of the programs that it starts'],
    [plan.standIns.length > 0, 'stand-ins', 'replacement files'],
    [plan.maskFaces.size + plan.replaced.size > 0, 'stand-ins', 'committed contents instead of secrets'],
    [io.terminal !== undefined, 'terminal', 'a terminal'],
    [io.verify !== undefined, 'moved-files', 'a last check while other commands run'],
  ]
  const lacking = needed.find(([wanted, capability]) => wanted && !capabilities.has(capability))
  if (!lacking) return
  throw new SandboxFault('sandbox-unable', `the sandbox "${name}" cannot give this command ${lacking[2]}`, {
    remedy: 'Remove that grant from the manifest, or use another sandbox ([sandbox.os] backend).',
  })
}

/** Faults of a sandbox: the command did not run inside, so it did not run. */
export class SandboxFault extends Fault {
  /** The path it is about, where there is one. */
  readonly path: string | null

  constructor(code: FaultCode, message: string, options: { cause?: unknown; remedy?: string; path?: string } = {}) {
    super(code, message, options)
    this.path = options.path ?? null
  }
}
