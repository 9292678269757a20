/** The report: a session's calls, their decisions and results, as one self-contained HTML file. */

import type { AuditDecision, AuditLine, AuditViolation } from './event.ts'
import { PAGE_SCRIPT, PAGE_STYLE } from './report-page.ts'
import type { SessionVerification } from './verify.ts'

/** One call as a person thinks of it: asked, decided, ended. */
interface ReportedCall {
  readonly id: string
  readonly seq: number
  readonly time: string
  readonly session: string
  readonly agent: string
  readonly tool: string
  readonly subject: string
  readonly verdict: string
  readonly reason: string
  readonly message: string
  readonly rules: readonly string[]
  readonly approver: string
  /** `denied`, `open` for a call without a recorded end, or its end. */
  readonly outcome: string
  readonly duration: number | null
  readonly exitCode: number | null
  readonly files: readonly string[]
  readonly hosts: readonly string[]
  readonly violations: readonly AuditViolation[]
  readonly labels: readonly string[]
  readonly trust: string
  readonly injection: number | null
}

export interface ReportFacts {
  readonly lines: readonly AuditLine[]
  readonly verification: readonly SessionVerification[]
  readonly generatedAt: string
  readonly title: string
}

/** The report for programs: the same facts as the page shows. */
export function auditReportJson({ lines, verification, generatedAt, title }: ReportFacts): string {
  return JSON.stringify({ title, generatedAt, sessions: verification, calls: reportedCalls(lines) })
}

/** Joins begin and end lines into calls, in the order they began. */
export function reportedCalls(lines: readonly AuditLine[]): readonly ReportedCall[] {
  const calls = new Map<string, ReportedCall>()
  for (const line of lines) {
    const key = `${line.session} ${String(line.call)}`
    if (line.type === 'begin' || line.type === 'denied') calls.set(key, fromBegin(line))
    const begun = calls.get(key)
    if (line.type === 'end' && begun !== undefined) calls.set(key, withEnd(begun, line))
    if (line.type === 'taint' && begun !== undefined && typeof line.score === 'number')
      calls.set(key, { ...begun, injection: line.score })
    if (line.type === 'approval' && begun !== undefined && line.approved === true)
      calls.set(key, { ...begun, approver: text(line.approver) })
    if (line.type === 'background' && begun !== undefined) calls.set(key, withReach(begun, line))
  }
  return [...calls.values()]
}

function fromBegin(line: AuditLine): ReportedCall {
  const decision = (line.decision ?? {}) as Partial<AuditDecision>
  return {
    id: text(line.call),
    seq: line.seq,
    time: line.time,
    session: line.session,
    agent: text(line.agent),
    tool: text(line.tool),
    subject: text(line.subject) || text(line.summary),
    verdict: text(decision.verdict),
    reason: text(decision.reason),
    message: text(decision.message),
    rules: texts(decision.rules),
    approver: text(decision.approver),
    outcome: line.type === 'denied' ? 'denied' : 'open',
    duration: null,
    exitCode: null,
    files: texts(line.files),
    hosts: texts(line.hosts),
    violations: [],
    labels: texts(line.labels),
    trust: text(line.trust),
    injection: null,
  }
}

/** Adds the reach and the refusals of a call from a later line. */
function withReach(call: ReportedCall, line: AuditLine): ReportedCall {
  const violations = Array.isArray(line.violations) ? (line.violations as AuditViolation[]) : []
  return {
    ...call,
    files: [...new Set([...call.files, ...texts(line.files)])],
    hosts: [...new Set([...call.hosts, ...texts(line.hosts)])],
    violations: [...call.violations, ...violations],
  }
}

function withEnd(call: ReportedCall, line: AuditLine): ReportedCall {
  return {
    ...withReach(call, line),
    outcome: text(line.outcome),
    duration: typeof line.duration_ms === 'number' ? line.duration_ms : null,
    exitCode: typeof line.exit_code === 'number' ? line.exit_code : null,
  }
}

/** The page. Everything in it that came from a log is text, never markup. */
export function auditReport(facts: ReportFacts): string {
  const calls = reportedCalls(facts.lines)
  const damage = facts.verification.flatMap((session) => session.damage)
  const notes = facts.lines.filter((line) =>
    ['mode', 'taint', 'grant', 'approval', 'trust', 'signing', 'warning', 'recovered'].includes(line.type),
  )
  const data = {
    calls,
    notes: notes.map(({ time, session, seq, type, prev: _, v: __, ...rest }) => ({ time, session, seq, type, rest })),
    damage,
  }
  const lines = facts.verification.reduce((sum, session) => sum + session.lines, 0)
  const signed = facts.verification.some((session) => session.checkpoints > 0)
  const verdict =
    damage.length === 0
      ? `<p class="seal good"><b>Chain intact.</b> ${count(lines, 'line')} verified${signed ? ', signed checkpoints good' : ', no signed checkpoint yet'}.</p>`
      : `<p class="seal bad"><b>The log was damaged.</b> ${count(damage.length, 'problem')} found; the list is below.</p>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>${escapeHtml(facts.title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<div class="brand">cordon <span>audit report</span></div>
<h1>${escapeHtml(facts.title)}</h1>
<p class="meta">${escapeHtml(period(facts.lines))} · made ${escapeHtml(facts.generatedAt)}</p>
${verdict}
</header>
<section class="tiles">${tiles(calls)}</section>
<section class="panel"><h2>Timeline</h2><div id="timeline" role="img" aria-label="Calls over time"></div></section>
<section class="columns">
<div class="panel"><h2>Hosts</h2><div id="hosts" class="bars"></div></div>
<div class="panel"><h2>Files</h2><div id="files" class="bars"></div></div>
<div class="panel"><h2>Stopped</h2><div id="stopped" class="bars"></div></div>
</section>
<section class="panel">
<div class="toolbar">
<h2>Calls</h2>
<input id="search" type="search" placeholder="Search commands, paths, hosts, rules" aria-label="Search">
<select id="tool" aria-label="Tool"><option value="">every tool</option></select>
<select id="session" aria-label="Session"><option value="">every session</option></select>
<div id="chips" class="chips" role="group" aria-label="Outcome"></div>
</div>
<div id="calls"></div>
<p id="empty" hidden>Nothing fits these filters.</p>
</section>
<section class="panel" id="notes-panel" hidden><h2>Also recorded</h2><div id="notes"></div></section>
<section class="panel" id="damage-panel" hidden><h2>Damage</h2><div id="damage"></div></section>
<footer>Arguments appear only where the manifest stores them. Verify this log again with <code>cordon audit verify</code>.</footer>
<script type="application/json" id="data">${scriptSafe(data)}</script>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`
}

function tiles(calls: readonly ReportedCall[]): string {
  const number = (fits: (call: ReportedCall) => boolean) => calls.filter(fits).length
  const hosts = new Set(calls.flatMap((call) => call.hosts)).size
  const files = new Set(calls.flatMap((call) => call.files)).size
  const rows: readonly (readonly [number, string, string])[] = [
    [calls.length, 'calls', ''],
    [number((call) => call.outcome === 'ok'), 'went well', 'good'],
    [number((call) => call.outcome === 'denied'), 'denied', 'bad'],
    [number((call) => call.approver !== '' && call.outcome !== 'denied'), 'approved by a person', 'ask'],
    [number((call) => ['failed', 'timeout', 'cancelled', 'fault'].includes(call.outcome)), 'failed', 'warn'],
    [calls.reduce((sum, call) => sum + call.violations.length, 0), 'stopped by the sandbox', 'bad'],
    [hosts, 'hosts', ''],
    [files, 'files', ''],
  ]
  return rows
    .map(([value, label, tone]) => `<div class="tile ${tone}"><b>${value}</b><span>${label}</span></div>`)
    .join('')
}

function period(lines: readonly AuditLine[]): string {
  const [first, last] = [lines[0]?.time, lines.at(-1)?.time]
  if (first === undefined || last === undefined) return 'nothing recorded'
  return `${first.replace('T', ' ').slice(0, 19)} to ${last.replace('T', ' ').slice(0, 19)} UTC`
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}

/** JSON inside a script element: nothing in it may end the element or open a comment. */
function scriptSafe(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
