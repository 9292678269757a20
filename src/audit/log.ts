/** The audit log of a session: appends chained lines, one write a line, and throws before a call when it cannot (A1). */

import { join } from 'node:path'
import { Fault } from '../system/fault.ts'
import { holdLock, isLockHeld, withLock } from '../system/lock.ts'
import { openOwnDirectory, openState } from '../system/state.ts'
import { type AuditEvent, SESSION_ID } from './event.ts'
import { auditPlaces } from './head.ts'
import { type AuditOptions, type AuditSigner, LogWriter } from './log-writer.ts'

export type { AuditOptions, AuditSigner } from './log-writer.ts'

export interface AuditLog {
  readonly session: string
  /** Appends an event. On a Fault nothing was recorded, and the recorded action must not happen. */
  record(event: AuditEvent): void
  /** Signs every line up to here. */
  checkpoint(signer: AuditSigner): void
  /** Whether a checkpoint is due but no writer had the key. */
  readonly isDue: boolean
  /** Writes the last checkpoint and marks the log as ended. In a shared log only this process's part of it ends. */
  close(): void
}

/** Opens the log of a session, after closing what a killed process left open. */
export function openAuditLog(options: AuditOptions): AuditLog {
  if (!SESSION_ID.test(options.session)) throw new RangeError(`not a session id: ${JSON.stringify(options.session)}`)
  const stateDir = openState(options.stateDir)
  const places = auditPlaces(stateDir)
  openOwnDirectory(places.logs, stateDir)
  openOwnDirectory(places.heads, stateDir)
  const writer = new LogWriter({ ...options, stateDir })
  const lock = join(stateDir, 'locks', `audit-${options.session}`)
  if (options.shared) {
    return {
      session: options.session,
      record: (event) =>
        withLock(lock, () => {
          writer.findEnd()
          writer.append(event)
        }),
      checkpoint: (signer) =>
        withLock(lock, () => {
          writer.findEnd()
          writer.checkpoint(signer)
        }),
      get isDue() {
        return writer.isDue
      },
      close: () => writer.closeFiles(),
    }
  }
  return ownLog(options.session, lock, writer)
}

/** Whether an unshared session still runs: a live process has locked its log. */
export function isLogOpen(stateDir: string, session: string): boolean {
  return SESSION_ID.test(session) && isLockHeld(join(stateDir, 'locks', `audit-${session}`))
}

/** The lock is kept until the log is closed: two writers at once would break the chain. */
function ownLog(session: string, lock: string, writer: LogWriter): AuditLog {
  const release = holdLock(lock, { timeoutMs: 2000 })
  try {
    writer.findEnd()
  } catch (error) {
    release()
    throw error
  }
  let open = true
  return {
    session,
    record(event) {
      if (!open) throw new Fault('audit-closed', `the audit log of ${session} is closed`)
      writer.append(event)
    },
    checkpoint: (signer) => writer.checkpoint(signer),
    isDue: false,
    close() {
      if (!open) return
      open = false
      try {
        writer.finish()
      } finally {
        release()
      }
    },
  }
}
