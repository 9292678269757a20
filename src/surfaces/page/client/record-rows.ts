/** The rows of the record, one per call, filtered by words. */

import type { EventRow } from '../live-feed.ts'

export interface RecordRow {
  readonly key: string
  readonly begin: EventRow
  /** The end of the call, if any. */
  end: EventRow | null
  /** The answer to its question, if any. */
  answer: EventRow | null
  /** Searchable text, built on demand. */
  words: string | null
}

/** Empty texts match anything. */
export interface RecordFilter {
  readonly text: string
  readonly project: string
  readonly session: string
  readonly tool: string
  readonly verdict: string
  readonly host: string
  readonly file: string
  /** Who answered. */
  readonly by: string
  /** ISO times. */
  readonly since: string
  readonly until: string
}

export const NO_FILTER: RecordFilter = {
  ...{ text: '', project: '', session: '', tool: '', verdict: '', host: '', file: '' },
  ...{ by: '', since: '', until: '' },
}

/** A filter in the address, so that a link, the back button and a reload keep it. */
export function filterOf(hash: string): RecordFilter {
  const given = new URLSearchParams(hash.split('?')[1] ?? '')
  const names = Object.keys(NO_FILTER) as (keyof RecordFilter)[]
  return Object.fromEntries(names.map((name) => [name, given.get(name) ?? ''])) as unknown as RecordFilter
}

export function filterLink(filter: Partial<RecordFilter>): string {
  const given = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== '')).toString()
  return given === '' ? '#/record' : `#/record?${given}`
}

/** The kind of a session, by its name. */
const QUIET: ReadonlySet<string> = new Set(['session', 'closed'])

/** Beyond this the oldest rows are dropped. */
const MAX_ROWS = 100_000
const DROPPED = 10_000

/** Rows in order of time. */
export class RecordRows {
  rows: RecordRow[] = []
  /** Who each session is, for a name that a person knows. */
  readonly sessions: Map<string, { agent: string; project: string; since: string }> = new Map()
  /** Counts changes: rows get their ends in place. */
  changes = 0
  readonly #calls = new Map<string, RecordRow>()

  add(events: readonly EventRow[]): void {
    this.changes++
    for (const event of events) {
      this.#note(event)
      if (QUIET.has(event.type)) continue
      const key = `${event.session} ${event.call ?? `#${event.seq}`}`
      const known = this.#calls.get(key)
      if (known && (event.type === 'end' || event.type === 'background')) {
        known.end = event
        known.words = null
      } else if (known && event.type === 'approval') {
        known.answer = event
        known.words = null
      } else if (event.type !== 'end') {
        const row = { key: known ? `${key} ${event.seq}` : key, begin: event, end: null, answer: null, words: null }
        this.rows.push(row)
        if (!known && event.call !== undefined) this.#calls.set(key, row)
      }
    }
    if (this.rows.length > MAX_ROWS + DROPPED)
      for (const row of this.rows.splice(0, this.rows.length - MAX_ROWS)) this.#calls.delete(row.key)
  }

  #note({ session, agent = '', project = '', time }: EventRow): void {
    const known = this.sessions.get(session)
    if (!known) this.sessions.set(session, { agent, project, since: time })
    else if ((known.agent === '' && agent !== '') || (known.project === '' && project !== ''))
      this.sessions.set(session, { ...known, agent: known.agent || agent, project: known.project || project })
  }

  /** Agent, project and start; the id if neither is known. */
  nameOf(session: string): string {
    const known = this.sessions.get(session)
    if (!known || (known.agent === '' && known.project === '')) return session
    const project = known.project.slice(known.project.lastIndexOf('/') + 1)
    return [known.agent || 'session', ...(project === '' ? [] : ['in', project])].join(' ')
  }

  /** Sorts once after loading, since sessions arrive one by one. */
  sort(): void {
    this.rows = this.rows.toSorted((a, b) => (a.begin.time < b.begin.time ? -1 : a.begin.time > b.begin.time ? 1 : 0))
  }

  /** Calls without an end in running sessions. */
  running(sessions: ReadonlySet<string>): RecordRow[] {
    return this.rows.filter(
      ({ begin, end }) =>
        end === null && begin.type === 'begin' && begin.tool !== undefined && sessions.has(begin.session),
    )
  }

  clear(): void {
    this.rows = []
    this.sessions.clear()
    this.#calls.clear()
  }
}

/** Matching rows, newest first. */
export function filtered(rows: readonly RecordRow[], filter: RecordFilter, running?: ReadonlySet<string>): RecordRow[] {
  const found: RecordRow[] = []
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
  const lower = { ...filter, host: filter.host.toLowerCase(), file: filter.file.toLowerCase() }
  for (let at = rows.length - 1; at >= 0; at--) if (fits(rows[at]!, lower, words, running)) found.push(rows[at]!)
  return found
}

function fits(
  row: RecordRow,
  filter: RecordFilter,
  words: readonly string[],
  running: ReadonlySet<string> | undefined,
): boolean {
  const { begin, end } = row
  if (filter.project !== '' && begin.project !== filter.project) return false
  if (filter.session !== '' && begin.session !== filter.session) return false
  if (filter.tool !== '' && begin.tool !== filter.tool) return false
  if (filter.verdict !== '' && begin.verdict !== filter.verdict && !(filter.verdict === 'deny' && isRefused(row)))
    return false
  if (filter.since !== '' && begin.time < filter.since) return false
  if (filter.until !== '' && begin.time >= filter.until) return false
  if (filter.by !== '' && answerOf(row, running) !== filter.by) return false
  if (filter.host !== '' && !contains(filter.host, begin.hosts, end?.hosts, end?.refused)) return false
  if (filter.file !== '' && !contains(filter.file, begin.files, end?.files, begin.subject)) return false
  if (words.length === 0) return true
  row.words ??= wordsOf(row)
  return words.every((word) => row.words!.includes(word))
}

function wordsOf(row: RecordRow): string {
  const { begin, end } = row
  const { tool, type, reason, agent, session, project } = begin
  return [subjectOf(row), tool, type, reason, agent, session, project, end?.outcome, end?.files, end?.hosts]
    .join('\n')
    .toLowerCase()
}

function contains(wanted: string, ...texts: readonly (string | undefined)[]): boolean {
  return texts.some((text) => text?.toLowerCase().includes(wanted))
}

/** The command or path; what undo knows of it, or its programs, if it is not kept. */
export function subjectOf({ begin, end }: RecordRow): string {
  return begin.subject ?? end?.subject ?? begin.summary ?? ''
}

/** Denied by a rule or by a person. */
export function isRefused({ begin, answer }: RecordRow): boolean {
  return begin.verdict === 'deny' || answer?.verdict === 'deny'
}

const NO_SESSIONS: ReadonlySet<string> = new Set()

/** Who answered a call that asked, or agreed in advance; empty if nobody had to. */
export function answerOf({ begin, answer, end }: RecordRow, running: ReadonlySet<string> = NO_SESSIONS): string {
  if (answer?.by !== undefined) return `${answer.verdict === 'allow' ? 'yes' : 'no'}, ${by(answer.by)}`
  if (begin.verdict === 'ask')
    return end === null && running.has(begin.session) ? 'not answered yet' : 'no answer recorded'
  if (begin.by === undefined || begin.type !== 'begin') return ''
  return begin.by === 'typed' ? '' : `yes, ${by(begin.by)}`
}

function by(who: string): string {
  return who.startsWith('grant:') ? 'by a saved answer' : `by ${who}`
}

/** Values of a field for a list, most frequent first. */
export function valuesOf(rows: readonly RecordRow[], field: 'project' | 'session' | 'tool'): string[] {
  const counts = new Map<string, number>()
  for (const { begin } of rows) {
    const value = begin[field]
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 100)
    .map(([value]) => value)
}
