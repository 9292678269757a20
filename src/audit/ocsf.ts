/** Lines of the record as OCSF events (API Activity, 6003), for SIEMs that read that. */

import type { AuditDecision, AuditLine } from './event.ts'

const VERSION = '1.3.0'
const CLASS = 6003
const CATEGORY = 6
/** "Other": a call of a tool is not one of create, read, update, delete. */
const ACTIVITY = 99

interface Disposition {
  readonly action_id: number
  readonly disposition_id: number
  readonly disposition: string
}

/** The outcome of an ask has a separate line. */
const DISPOSITIONS: Readonly<Record<string, Disposition>> = {
  allow: { action_id: 1, disposition_id: 1, disposition: 'Allowed' },
  ask: { action_id: 99, disposition_id: 99, disposition: 'Asked' },
  deny: { action_id: 2, disposition_id: 2, disposition: 'Blocked' },
}
const UNKNOWN: Disposition = { action_id: 0, disposition_id: 0, disposition: 'Unknown' }

interface OcsfSource {
  readonly version: string
  /** The machine of the events. */
  readonly host: string
}

/** The event of a line; null for lines that are about the log itself. */
export function ocsfEvent(line: AuditLine, { version, host }: OcsfSource): Readonly<Record<string, unknown>> | null {
  if (['checkpoint', 'rotated', 'recovered', 'closed'].includes(line.type)) return null
  const decision = line.decision as AuditDecision | undefined
  const denied = line.type === 'denied'
  const failed = line.outcome !== undefined && line.outcome !== 'ok'
  return {
    activity_id: ACTIVITY,
    activity_name: line.type,
    category_uid: CATEGORY,
    class_uid: CLASS,
    type_uid: CLASS * 100 + ACTIVITY,
    time: Date.parse(line.time),
    severity_id: denied || line.type === 'violation' ? 3 : 1,
    // A call that has begun is neither yet.
    status_id: denied || failed ? 2 : line.outcome === undefined ? 0 : 1,
    ...(typeof line.outcome === 'string' && { status_detail: line.outcome }),
    metadata: {
      version: VERSION,
      product: { name: 'Cordon', vendor_name: 'Cordon', version },
      profiles: ['security_control'],
      uid: `${line.session}.${line.seq}`,
      correlation_uid: line.session,
      sequence: line.seq,
    },
    actor: { app_name: String(line.agent ?? 'unknown'), session: { uid: line.session } },
    api: { operation: String(line.tool ?? line.type), ...(line.call !== undefined && { request: { uid: line.call } }) },
    src_endpoint: { name: host },
    ...(DISPOSITIONS[decision?.verdict ?? ''] ?? UNKNOWN),
    ...(decision && {
      ...(decision.rules?.[0] !== undefined && { firewall_rule: { name: decision.rules[0] } }),
      message: decision.message ?? decision.reason,
    }),
    unmapped: { cordon: line },
  }
}
