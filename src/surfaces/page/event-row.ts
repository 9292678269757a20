/** A line of the record as the page lists it: what it was, short and made visible; the rest is asked for when a call is opened. */

import type { AuditLine } from '../../report/audit-trail.ts'
import { visible } from '../../scan/visible-text.ts'

/** One row. Fields that a line does not have are left out. */
export interface EventRow {
  readonly session: string
  readonly seq: number
  readonly time: string
  readonly type: string
  readonly call?: string
  readonly project?: string
  readonly agent?: string
  readonly tool?: string
  readonly subject?: string
  readonly verdict?: string
  readonly reason?: string
  readonly outcome?: string
  readonly ms?: number
  /** Undo's name for what the call changed. */
  readonly undo?: string
  readonly changed?: number
  /** Hosts and files, for the filter. */
  readonly hosts?: string
  readonly files?: string
}

const MAX_SHOWN = 300

/** The row of a line. Secrets were masked when the line was written. */
export function eventRow(line: AuditLine): EventRow {
  const decision = record(line.decision)
  const changes = record(line.changes)
  const names = [line.files, changes.names, record(line.violations).subject].flatMap(texts)
  const subject = text(line.subject) ?? text(line.value) ?? text(line.error)
  const count = ['made', 'changed', 'removed'].reduce((sum, name) => sum + (Number(changes[name]) || 0), 0)
  const found = {
    call: text(line.call),
    project: text(line.project),
    agent: text(line.agent) ?? text(line.by),
    tool: text(line.tool),
    subject,
    verdict: text(decision.verdict) ?? approvedWord(line.approved),
    reason: text(decision.reason) ?? text(line.approver) ?? text(line.error_code),
    outcome: text(line.outcome),
    undo: text(changes.undo),
    hosts: joined([line.hosts, line.refused_hosts].flatMap(texts)),
    files: joined(names),
  }
  return {
    session: visible(line.session),
    seq: line.seq,
    time: visible(line.time),
    type: visible(line.type),
    ...Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined && value !== '')),
    ...(typeof line.duration_ms === 'number' && { ms: line.duration_ms }),
    ...(count > 0 && { changed: count }),
  }
}

function approvedWord(approved: unknown): string | undefined {
  return typeof approved === 'boolean' ? (approved ? 'allow' : 'deny') : undefined
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? visible(value.slice(0, MAX_SHOWN)) : undefined
}

function joined(all: readonly string[]): string | undefined {
  return all.length === 0 ? undefined : visible(all.slice(0, 20).join(' ').slice(0, MAX_SHOWN))
}
