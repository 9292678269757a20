/** The calls before a question, as the record has them: what was called, never what came back. */

import { join } from 'node:path'
import { type AuditLine, parseLine } from '../../audit/event.ts'
import { auditPlaces, partName, readLog, sessionParts } from '../../audit/head.ts'
import type { RecentCall } from './reviewer.ts'

const MAX_BYTES = 128 * 1024
const MAX_CALLS = 10
const MAX_TEXT = 300

/** The last calls of a session, the newest last, and whether it ever read text with orders; `but` is the call that is asked about. */
export function recentCalls(
  stateDir: string,
  session: string,
  but: string | null,
): { readonly recent: readonly RecentCall[]; readonly tainted: boolean } {
  const parts = sessionParts(stateDir, session).map((part) => {
    const bytes = readLog(join(auditPlaces(stateDir).logs, partName(session, part)))
    return Buffer.from(bytes ?? [])
  })
  const lines = (parts.at(-1) ?? Buffer.alloc(0)).subarray(-MAX_BYTES).toString('utf8').split('\n')
  const recent = lines
    .flatMap((line) => parseLine(line) ?? [])
    .filter(({ type, call }) => (type === 'begin' || type === 'denied') && (but === null || call !== but))
    .slice(-MAX_CALLS)
    .map(recentCall)
  // A text that only looks like such a line leaves one question more to the person.
  return { recent, tainted: parts.some((bytes) => bytes.includes('"type":"taint"')) }
}

function recentCall({ tool, decision, subject, summary }: AuditLine): RecentCall {
  const verdict = (decision as { readonly verdict?: unknown } | undefined)?.verdict
  const text = typeof subject === 'string' ? subject : typeof summary === 'string' ? summary : ''
  return { tool: String(tool ?? ''), verdict: String(verdict ?? ''), text: text.slice(0, MAX_TEXT).toWellFormed() }
}
