/** The port to a kernel sandbox: one plan in, one command run inside it, or a fault. */

import type { Server, Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { SandboxLayout } from './layout.ts'
import type { Limits } from './limits.ts'
import type { SandboxPlan, Sought } from './plan.ts'
import type { Caller, ProgramJudge, RanProgram } from './programs.ts'
import type { Support } from './report.ts'
import { SandboxFault } from './sandbox-fault.ts'
import type { Violation } from './violation.ts'

/** Where an output goes. A Writable is never ended. */
export type Output = 'inherit' | 'capture' | 'discard' | Writable

/** A person's terminal, relayed to a terminal of the sandbox's own. */
export interface TerminalIo {
  readonly input: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown }
  readonly output: Writable & { readonly rows?: number; readonly columns?: number }
  /** Given what holds the relay while somebody else uses the terminal; what that answers lets it go on. */
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
  /** Signals that reach this process while the command runs and are passed on to it. */
  readonly forwardSignals?: readonly NodeJS.Signals[]
  /** Where output beyond the cap is kept; without it the rest is dropped and counted. */
  readonly spillDirectory?: string
  /**
   * A last look, when masks and pins are in place and nothing runs yet. False ends it with the fault `mask-moved`. For
   * commands that start while another one, which can move files, is running.
   */
  readonly verify?: () => boolean | Promise<boolean>
  /** Told as they are observed; each is also in the result. */
  readonly onViolation?: (violation: Violation) => void
  /** With `network: 'listener'`: the listening sockets from inside the network namespace, before the command starts; `broker` is the port of a further one. */
  readonly onListener?: (server: Server, broker: number | null) => void
  /**
   * With `servers` in the plan: something inside listens on one of these ports now. What it answers is called when that
   * is no longer so, at the latest when the command has ended.
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
  /** With `tellsPorts` in the plan: something inside listens on a port that is not listed. True opens it like a listed one. */
  readonly onPort?: (port: number) => Promise<boolean>
}

/** A server of the command, in its own network namespace. */
export interface InsideServer {
  readonly port: number
  /** A connection to it, made from inside, so that it points nowhere else; null when it is not taken. */
  connect(): Promise<Socket | null>
}

/** What was captured of one stream. */
export interface Captured {
  /** The first bytes, up to the cap. */
  readonly bytes: Buffer
  readonly total: number
  readonly truncated: boolean
  /** The file that holds everything, when there was more than the cap. */
  readonly spill: string | null
}

/** A name that was asked for, or a host that a connection was meant for, where there was no way to it. */
export interface Asked {
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
  readonly stdout: Captured | null
  readonly stderr: Captured | null
  readonly violations: readonly Violation[]
  /** What it looked for and does not exist inside, each once. */
  readonly asked: readonly Asked[]
  /** Ports on which it listened and that are not listed. */
  readonly unlisted: readonly number[]
  /** Files that it left in its own home, which is gone with it: their paths below it, the first few. */
  readonly leftBehind: readonly string[]
  /** The first programs that it started, where starts are judged. */
  readonly programs?: { readonly list: readonly RanProgram[]; readonly leftOut: number }
  /** With `learns` in the plan: what it looked for, in the order of the first time, and how much more there was. */
  readonly sought?: { readonly list: readonly Sought[]; readonly leftOut: number }
  /** False when opens of masked files could not be watched (they are hidden all the same). */
  readonly masksWatched: boolean
  readonly milliseconds: number
}

/** A plan in the form its platform takes; for `--plan --json` and tests. */
export interface CompiledSandbox {
  readonly program: string
  readonly args: readonly string[]
  readonly orders: Uint8Array | string
}

/**
 * What a backend can do beyond running a command, streams and status passed through, under a time limit. A plan that needs
 * more than its backend declares is refused (`requireCapable`); nothing of it is ever left out.
 */
export type Capability =
  /** Runs the programs of this machine. */
  | 'programs'
  /** Opens of masked files are observed, and told. */
  | 'observed-masks'
  /** Tells when the host puts another file instead of a hidden one, which then shows; without it, that is hidden as well. */
  | 'lifted-masks'
  /** Notices that a file is not the one that was checked: `maskIdentities`, `verify`. */
  | 'moved-files'
  /** `standIns`. */
  | 'stand-ins'
  /** `network: 'listener'`. */
  | 'listener'
  /** `servers`. */
  | 'servers'
  /** `sockets`. */
  | 'unix-sockets'
  /** A terminal of the sandbox's own. */
  | 'terminal'
  /** `forwardSignals`. */
  | 'signals'
  /** The user inside is the user outside. */
  | 'same-user'
  /** Limits that are met are told, and a share of the machine's memory is looked after. */
  | 'watched-limits'
  /** `changes`: they go through the init. */
  | 'held-changes'
  /** `learns`: what a command looks for in vain is told. */
  | 'sought-paths'
  /** `programs`: every program start is judged. */
  | 'judged-programs'
  /** Which program makes a connection is told. */
  | 'told-callers'

/** A plan whose first part is known: a backend may work on that while the rest is still being made. */
export interface PlanUnderway {
  /** Made when it is asked for. */
  layout(): SandboxLayout
  readonly limits: Limits
  /** Whether sockets will be handed out of the sandbox. */
  readonly sockets: boolean
  /** What `arrange` made for it. */
  readonly arrangement?: Arrangement
  /** Makes the whole plan, whose layout this is. When it throws, nothing runs and the backend leaves nothing. */
  complete(): SandboxPlan
}

/** What its own command without namespaces is given on the machine, known before its plan is made. */
export interface Arrangement {
  /** Its private folder for temporary files, canonical; shown and writable. */
  readonly temporary: string
  /** What HOME means where the person's own is not shown; absent: the same path. */
  readonly home?: string
  /** Where its proxy is, and what it must show there: others of the machine can knock, too. */
  readonly proxy: { readonly port: number; readonly token: string } | null
  dispose(): void
}

export interface Backend {
  readonly name: string
  /** Told to the person once: why this one was taken, and not the usual one. */
  readonly notice?: string
  readonly capabilities: ReadonlySet<Capability>
  /** Really runs a sandbox, and attacks from inside it. */
  probe(): Promise<Support>
  compile(plan: SandboxPlan): CompiledSandbox
  /** Only of a backend that has no namespaces: makes what a plan has to name. A process that asks disposes of it. */
  arrange?(needs: { readonly network: boolean }): Promise<Arrangement>
  /**
   * Runs one command. Throws a SandboxFault when it could not be run inside; never runs it outside.
   * INVARIANT: a plan that is under way is completed before this returns its promise: what was checked for its first part
   * and for the rest is then one moment to every other command.
   */
  launch(plan: SandboxPlan | PlanUnderway, io?: LaunchIo): Promise<LaunchResult>
  /** A launch of this plan is likely to come, with the same streams: a backend may begin to make ready for it. */
  expect?(plan: Omit<PlanUnderway, 'complete'>, io: LaunchIo): void
  /** Lets go of what was made ready for commands to come; the next launch may make it ready again. */
  release(): void
}

/** Throws the fault of a plan that needs more than a backend can do. */
export function requireCapable({ name, capabilities }: Backend, plan: SandboxPlan, io: LaunchIo): void {
  const needed: readonly (readonly [boolean, Capability, string])[] = [
    [plan.network.kind === 'listener', 'listener', 'a way to the hosts that are granted'],
    [plan.servers.length > 0, 'servers', 'ports of servers inside'],
    [plan.sockets.length > 0, 'unix-sockets', 'the unix sockets that are granted'],
    [plan.changes !== null, 'held-changes', 'changes that are held while it runs'],
    [plan.learns, 'sought-paths', 'somebody who tells what it looks for'],
    [plan.programs !== null, 'judged-programs', 'somebody who judges the programs that it starts'],
    [plan.standIns.length > 0, 'stand-ins', 'files that stand in for others'],
    [plan.maskFaces.size + plan.replaced.size > 0, 'stand-ins', 'what was committed in the place of secrets'],
    [io.terminal !== undefined, 'terminal', 'a terminal'],
    [io.verify !== undefined, 'moved-files', 'a last look while other commands run'],
  ]
  const lacking = needed.find(([wanted, capability]) => wanted && !capabilities.has(capability))
  if (!lacking) return
  throw new SandboxFault('sandbox-unable', `the sandbox "${name}" cannot give this command ${lacking[2]}`, {
    remedy: 'Take that grant out of the manifest, or use another sandbox ([sandbox.os] backend).',
  })
}
