/** The port to a kernel sandbox: one plan in, one command run inside it, or a fault. */

import type { Server } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { SandboxPlan } from './plan.ts'
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

export interface Backend {
  readonly name: string
  /** Really runs a sandbox, and attacks from inside it. */
  probe(): Promise<Support>
  compile(plan: SandboxPlan): CompiledSandbox
  /** Throws a SandboxFault when the command could not be run inside; never runs it outside. */
  launch(plan: SandboxPlan, io?: LaunchIo): Promise<LaunchResult>
}

export { type BwrapOptions, createBwrapBackend } from './bwrap/backend.ts'
