/** The rows of the record, one per call, filtered by words. */

import type { EventRow } from '../live-feed.ts'

export interface RecordRow {
  readonly key: string
  readonly begin: EventRow
  /** The end of the call, if any. */
  end: EventRow | null
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
}

export const NO_FILTER: RecordFilter = { text: '', project: '', session: '', tool: '', verdict: '', host: '', file: '' }

/** Beyond this the oldest rows are dropped. */
const MAX_ROWS = 100_000
const DROPPED = 10_000

/** Rows in order of time. */
export class RecordRows {
  rows: RecordRow[] = []
  readonly #calls = new Map<string, RecordRow>()

  add(events: readonly EventRow[]): void {
    for (const event of events) {
      const key = `${event.session} ${event.call ?? `#${event.seq}`}`
      const known = this.#calls.get(key)
      if (known && (event.type === 'end' || event.type === 'background')) {
        known.end = event
        known.words = null
      } else if (event.type !== 'end') {
        const row = { key: known ? `${key} ${event.seq}` : key, begin: event, end: null, words: null }
        this.rows.push(row)
        if (!known && event.call !== undefined) this.#calls.set(key, row)
      }
    }
    if (this.rows.length > MAX_ROWS + DROPPED)
      for (const row of this.rows.splice(0, this.rows.length - MAX_ROWS)) this.#calls.delete(row.key)
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
    this.#calls.clear()
  }
}

/** Matching rows, newest first. */
export function filtered(rows: readonly RecordRow[], filter: RecordFilter): RecordRow[] {
  const found: RecordRow[] = []
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
  const lower = { ...filter, host: filter.host.toLowerCase(), file: filter.file.toLowerCase() }
  for (let at = rows.length - 1; at >= 0; at--) if (fits(rows[at]!, lower, words)) found.push(rows[at]!)
  return found
}

function fits(row: RecordRow, filter: RecordFilter, words: readonly string[]): boolean {
  const { begin, end } = row
  if (filter.project !== '' && begin.project !== filter.project) return false
  if (filter.session !== '' && begin.session !== filter.session) return false
  if (filter.tool !== '' && begin.tool !== filter.tool) return false
  if (filter.verdict !== '' && begin.verdict !== filter.verdict) return false
  if (filter.host !== '' && !contains(filter.host, begin.hosts, end?.hosts)) return false
  if (filter.file !== '' && !contains(filter.file, begin.files, end?.files, begin.subject)) return false
  if (words.length === 0) return true
  row.words ??= wordsOf(row)
  return words.every((word) => row.words!.includes(word))
}

function wordsOf({ begin, end }: RecordRow): string {
  const { subject, tool, type, reason, agent, session, project } = begin
  return [subject, tool, type, reason, agent, session, project, end?.outcome, end?.files, end?.hosts]
    .join('\n')
    .toLowerCase()
}

function contains(wanted: string, ...texts: readonly (string | undefined)[]): boolean {
  return texts.some((text) => text?.toLowerCase().includes(wanted))
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
