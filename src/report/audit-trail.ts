/** The audit trail for surfaces: query, follow, verify, report. */

import { hostname } from 'node:os'
import { isSelfTest } from '../agents/hook/self-test.ts'
import type { AuditDecision, AuditLine } from '../audit/event.ts'
import { auditSessions } from '../audit/head.ts'
import { isLogOpen } from '../audit/log.ts'
import { type AuditQuery, followAudit, newestSession, queryAudit, tailAudit } from '../audit/read.ts'
import { auditReport, auditReportJson, type ReportFacts } from '../audit/report.ts'
import { verifyAudit } from '../audit/verify.ts'
import { userKeySince, userPublicKey } from '../manifest/sign/sign.ts'
import type { Machine } from '../system/machine.ts'
import { version } from '../system/version.ts'
import { CallStore } from '../undo/call-store.ts'

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
    severity_id: denied || (Array.isArray(line.violations) && line.violations.length > 0) ? 3 : 1,
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

export type { AuditLine } from '../audit/event.ts'
export { EVENT_TYPES } from '../audit/event.ts'
export type { AuditQuery } from '../audit/read.ts'

export interface AuditTrail {
  query(query: AuditQuery): readonly AuditLine[]
  /** Subjects that undo knows for lines without one, by call. */
  subjects(lines: readonly AuditLine[]): ReadonlyMap<unknown, string>
  newest(): string | null
  /** Every recorded session. */
  sessions(): readonly string[]
  follow(session: string, back: number, signal: AbortSignal): AsyncGenerator<AuditLine>
  /** The existing lines, null, then new lines; without those of tests of hooks. */
  tail(budget: number, signal: AbortSignal): AsyncGenerator<AuditLine | null>
  /** Whether the session's log still belongs to a running process. */
  isRunning(session: string): boolean
  verify(session?: string): ReturnType<typeof verifyAudit>
  /** A self-contained HTML page, or JSON. */
  report(query: AuditQuery, now: Date, form: 'page' | 'json'): string
}

export function openAuditTrail(machine: Machine): AuditTrail {
  const { stateDir } = machine
  const verify = (session?: string) => {
    const key = userPublicKey(stateDir)
    const since = userKeySince(stateDir)
    const keys = key === null ? [] : [key]
    return verifyAudit({ stateDir, keys, ...(since && { since }), ...(session !== undefined && { session }) })
  }
  const reportFacts = (query: AuditQuery, now: Date): ReportFacts => ({
    lines: queryAudit(stateDir, query),
    verification: verify(query.session).sessions,
    generatedAt: now.toISOString(),
    title: query.session ? `Session ${query.session}` : 'All sessions',
  })
  return {
    query: (query: AuditQuery) => queryAudit(stateDir, query),
    subjects: (lines) => {
      const store = new CallStore(stateDir)
      const known = lines.flatMap(({ call, changes }) => {
        const { undo } = (changes ?? {}) as { readonly undo?: unknown }
        const what = typeof undo === 'string' ? store.about(undo)?.what : undefined
        return typeof what === 'string' ? [[call, what] as const] : []
      })
      return new Map(known)
    },
    newest: () => newestSession(stateDir),
    sessions: () => auditSessions(stateDir),
    follow: (session: string, back: number, signal: AbortSignal) => followAudit(stateDir, session, { back, signal }),
    async *tail(budget: number, signal: AbortSignal) {
      for await (const line of tailAudit(stateDir, { budget, signal }))
        if (line === null || !isSelfTest(line)) yield line
    },
    isRunning: (session: string) => isLogOpen(stateDir, session),
    verify,
    report: (query: AuditQuery, now: Date, form: 'page' | 'json') =>
      (form === 'json' ? auditReportJson : auditReport)(reportFacts(query, now)),
  }
}

/** One JSON line per event. */
export function ocsfLines(lines: readonly AuditLine[]): readonly string[] {
  return lines.flatMap((line) => {
    const event = ocsfEvent(line, { version, host: hostname() })
    return event === null ? [] : [JSON.stringify(event)]
  })
}
