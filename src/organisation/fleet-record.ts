/** What the fleet does to this machine, in the machine's record. */

import { openAuditLog } from '../audit/log.ts'
import { createRedactor } from '../scan/redact/redact.ts'
import type { Machine } from '../system/machine.ts'

/** A refused policy, or a break-glass: somebody tried or did something that is worth knowing. */
export function recordFleetEvent(
  machine: Pick<Machine, 'stateDir'>,
  about: 'fleet-policy' | 'break-glass',
  facts: Readonly<Record<string, unknown>>,
): void {
  const redactor = createRedactor()
  const log = openAuditLog({
    stateDir: machine.stateDir,
    session: 'fleet',
    now: () => new Date().toISOString(),
    redact: (text) => redactor.redact(text),
    sync: 'never',
    shared: true,
  })
  try {
    log.record({ type: 'warning', about, ...facts })
  } finally {
    log.close()
  }
}
