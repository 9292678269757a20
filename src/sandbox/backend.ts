/** The port to a kernel sandbox: one plan in, one command run inside it, or a fault. */

import type { Server, Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { Limits } from './limits.ts'
import type { SandboxPlan, SandboxRoom } from './plan.ts'
import type { Support } from './report.ts'
import type { Violation } from './violation.ts'

/** Where an output goes. A Writable is never ended. */
export type Output = 'inherit' | 'capture' | 'discard' | Writable

/** A person's terminal, relayed to a terminal of the sandbox's own. */
export interface TerminalIo {
  readonly input: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown }
  readonly output: Writable & { readonly rows?: number; readonly columns?: number }
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
  /** This process has nothing else to do: it may be blocked until the command is done, which is faster. */
  readonly blocking?: boolean
  /** The room that `begin` gave for this plan. */
  readonly begun?: BegunRoom
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
  /** With `network: 'listener'`: the listening socket from inside the network namespace, before the command starts. */
  readonly onListener?: (server: Server) => void
  /**
   * With `servers` in the plan: something inside listens on one of these ports now. What it answers is called when that
   * is no longer so, at the latest when the command has ended.
   */
  readonly onServer?: (server: InsideServer) => () => void
}

/** A server of the command, in its own network namespace. */
export interface InsideServer {
  readonly port: number
  /** A connection to it, made from inside, so that it leads nowhere else; null when it is not taken. */
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

/** A room that is being laid out already. */
export interface BegunRoom {
  /** Hands over the plan, whose room this is, and blocks until the command is done. */
  launch(plan: SandboxPlan): LaunchResult
  /** There will be no command, or it is done: nothing is left either way. */
  abandon(): void
}

export interface Backend {
  readonly name: string
  /** Really runs a sandbox, and attacks from inside it. */
  probe(): Promise<Support>
  compile(plan: SandboxPlan): CompiledSandbox
  /**
   * Lays out a room while its plan is still being made, for a launch that may block; null where that is not to be had.
   * Either `launch` is given what this gave, or it is abandoned.
   */
  begin(room: SandboxRoom, limits: Limits, io: LaunchIo): BegunRoom | null
  /** Throws a SandboxFault when the command could not be run inside; never runs it outside. */
  launch(plan: SandboxPlan, io?: LaunchIo): Promise<LaunchResult>
  /** Ends what was laid out ahead; the next launch may begin again. */
  rest(): void
}

export { type BwrapOptions, createBwrapBackend } from './bwrap/backend.ts'
