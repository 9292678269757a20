/** Faults of a sandbox: the command did not run inside, so it did not run. */

import { Fault } from '../system/fault.ts'

/** For `cordon run`: 125 Cordon's fault, 126 not executable, 127 not found. */
export type FaultExit = 125 | 126 | 127

export class SandboxFault extends Fault {
  readonly exitCode: FaultExit
  /** The path it is about, where there is one. */
  readonly path: string | null

  constructor(
    code: string,
    message: string,
    options: { cause?: unknown; remedy?: string; exitCode?: FaultExit; path?: string } = {},
  ) {
    super(code, message, options)
    this.exitCode = options.exitCode ?? 125
    this.path = options.path ?? null
  }
}
