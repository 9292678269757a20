/** The audit trail for surfaces: query, follow, verify, report. */

import { hostname } from 'node:os'
import { isSelfTest } from '../agents/hook/self-test.ts'
import type { AuditLine } from '../audit/event.ts'
import { auditSessions } from '../audit/head.ts'
import { isLogOpen } from '../audit/log.ts'
import { ocsfEvent } from '../audit/ocsf.ts'
import { type AuditQuery, followAudit, newestSession, queryAudit, tailAudit } from '../audit/read.ts'
import { auditReport, auditReportJson, type ReportFacts } from '../audit/report.ts'
import { verifyAudit } from '../audit/verify.ts'
import { userKeySince, userPublicKey } from '../manifest/sign/sign.ts'
import type { Machine } from '../system/machine.ts'
import { version } from '../system/version.ts'
import { CallStore } from '../undo/call-store.ts'

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
  /** Whether the session's log is still held by its process. */
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
