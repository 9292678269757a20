/** Faults of a sandbox: the command did not run inside, so it did not run. */

import { Fault, type FaultCode } from '../system/fault.ts'

export class SandboxFault extends Fault {
  /** The path it is about, where there is one. */
  readonly path: string | null

  constructor(code: FaultCode, message: string, options: { cause?: unknown; remedy?: string; path?: string } = {}) {
    super(code, message, options)
    this.path = options.path ?? null
  }
}
