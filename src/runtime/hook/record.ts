/** The audit of a host's session: several processes write it, one for each call. */

import { createHash } from 'node:crypto'
import { openAuditLog } from '../../audit/log.ts'
import { createRedactor } from '../../scan/redact/redact.ts'
import type { Machine } from '../../system/machine.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import { auditRecorder, type SessionRecorder } from '../session/recorder.ts'

/** Opens the record of a host's session. Throws when nothing can be recorded: then nothing runs. */
export function hookRecorder(
  loaded: LoadedPolicy,
  machine: Machine,
  host: string,
  session: string | null,
): SessionRecorder {
  const redactor = createRedactor()
  const log = openAuditLog({
    stateDir: machine.stateDir,
    session: sessionName(host, session),
    now: () => new Date().toISOString(),
    redact: (text) => redactor.redact(text),
    maxBytes: loaded.session.audit.maxBytes,
    sync: 'never',
    shared: true,
  })
  return auditRecorder(log, { arguments: loaded.session.audit.arguments.value, now: Date.now })
}

/** The host's id where it can name a file, else its hash; it is the host's word, and names nothing else. */
function sessionName(host: string, session: string | null): string {
  if (session === null) return `${host}-unnamed`
  const plain = /^[A-Za-z0-9_-]{1,60}$/.test(session)
  return `${host}-${plain ? session : createHash('sha256').update(session).digest('hex').slice(0, 32)}`
}
