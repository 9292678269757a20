/** The audit of a gateway: one process writes it, so it is a session of its own. */

import { randomBytes } from 'node:crypto'
import { openAuditLog } from '../../audit/log.ts'
import { createRedactor } from '../../scan/redact/redact.ts'
import type { Machine } from '../../system/machine.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import { auditRecorder, type SessionRecorder } from '../session/recorder.ts'

/** What a gateway writes down: a line before each call, and one after it. */
export type GatewayRecorder = Pick<SessionRecorder, 'begin' | 'end' | 'close'>

/** The record `mcp-NAME-ID`, begun with its first line. What cannot be recorded does not run: `begin` throws. */
export function gatewayRecorder(loaded: LoadedPolicy, machine: Machine, name: string): GatewayRecorder {
  const session = `mcp-${name}-${randomBytes(6).toString('hex')}`
  let opened: SessionRecorder | null = null
  const own = (): SessionRecorder => {
    opened ??= openRecord(loaded, machine, session)
    return opened
  }
  return {
    begin: (call) => own().begin(call),
    end: (record, result, outcomes) => own().end(record, result, outcomes),
    close: () => opened?.close(),
  }
}

function openRecord(loaded: LoadedPolicy, machine: Machine, session: string): SessionRecorder {
  const redactor = createRedactor()
  const { audit } = loaded.session
  const log = openAuditLog({
    stateDir: machine.stateDir,
    session,
    now: () => new Date().toISOString(),
    redact: (text) => redactor.redact(text),
    maxBytes: audit.maxBytes,
  })
  return auditRecorder(log, { arguments: audit.arguments.value, now: Date.now })
}
