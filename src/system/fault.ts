/** Faults: the machine failed. A fault is thrown, has a stable code, and never becomes an allow. */

import type { FaultCode } from './fault-codes.ts'

export type { FaultCode } from './fault-codes.ts'

export class Fault extends Error {
  override readonly name = 'Fault'
  readonly code: FaultCode
  /** What a person can do about it. */
  readonly remedy: string | null

  constructor(code: FaultCode, message: string, options: { cause?: unknown; remedy?: string } = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.remedy = options.remedy ?? null
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The `code` of a Node system error (`ENOENT`), or null. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}

/** The fault of a file or folder of Cordon's own that cannot be written: the disk is full or read-only, or it is another user's. */
export function unwritable(path: string, error: unknown): Fault {
  const code = errorCode(error)
  const full = code === 'ENOSPC' || code === 'EDQUOT'
  return new Fault(
    'state-unwritable',
    `${path} cannot be written (${full ? 'the disk is full' : (code ?? 'unknown')})`,
    {
      cause: error,
      remedy: full
        ? 'Free space on the disk, or set XDG_STATE_HOME and XDG_CACHE_HOME to a disk with free space.'
        : 'Make it writable for you, or set XDG_STATE_HOME and XDG_CACHE_HOME to directories that are.',
    },
  )
}
