/** Reads audit logs: the last lines, matching lines, and new ones as they are written. */

import { closeSync, constants, type FSWatcher, fstatSync, openSync, readSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../system/fault.ts'
import { ownUid } from '../system/state.ts'
import { type AuditLine, parseLine } from './event.ts'
import { auditPlaces, auditSessions, partName, readLog, sessionParts } from './head.ts'

/** What to look for; every field that is given must fit. */
export interface AuditQuery {
  readonly session?: string
  readonly type?: string
  readonly tool?: string
  readonly agent?: string
  readonly verdict?: string
  readonly outcome?: string
  /** ISO times; `since` is included, `until` is not. */
  readonly since?: string
  readonly until?: string
  /** Part of a host, of a file name, of anything. */
  readonly host?: string
  readonly file?: string
  readonly text?: string
  /** At most this many, the newest. */
  readonly limit?: number
}

/** The matching lines, oldest first. Unreadable lines are left out: `verifyAudit` reports them. */
export function queryAudit(stateDir: string, query: AuditQuery = {}): readonly AuditLine[] {
  const sessions = query.session === undefined ? auditSessions(stateDir) : [query.session]
  const found = sessions.flatMap((session) => readLines(stateDir, session).filter((line) => fits(line, query)))
  // Within a session the numbers give the order, whatever the clock did.
  const sorted = sessions.length === 1 ? found : found.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
  return query.limit === undefined ? sorted : sorted.slice(-query.limit)
}

function readLines(stateDir: string, session: string): AuditLine[] {
  const { logs } = auditPlaces(stateDir)
  return sessionParts(stateDir, session).flatMap((part) => {
    const bytes = readLog(join(logs, partName(session, part)))
    return bytes === null ? [] : parseLines(Buffer.from(bytes).toString('utf8'))
  })
}

function parseLines(text: string): AuditLine[] {
  return text.split('\n').flatMap((line) => (line === '' ? [] : (parseLine(line) ?? [])))
}

function fits(line: AuditLine, query: AuditQuery): boolean {
  const verdict = (line.decision as { verdict?: string } | undefined)?.verdict
  const includes = (value: unknown, part: string | undefined) =>
    part === undefined || JSON.stringify(value ?? '').includes(part)
  return (
    (query.type === undefined || line.type === query.type) &&
    (query.tool === undefined || line.tool === query.tool) &&
    (query.agent === undefined || line.agent === query.agent) &&
    (query.verdict === undefined || verdict === query.verdict) &&
    (query.outcome === undefined || line.outcome === query.outcome) &&
    (query.since === undefined || line.time >= query.since) &&
    (query.until === undefined || line.time < query.until) &&
    includes([line.hosts, line.violations], query.host) &&
    includes([line.files, line.violations], query.file) &&
    includes(line, query.text)
  )
}

/** The newest session, by its last line; null when nothing was ever recorded. */
export function newestSession(stateDir: string): string | null {
  let newest: { session: string; time: string } | null = null
  for (const session of auditSessions(stateDir)) {
    const part = sessionParts(stateDir, session).at(-1)
    const bytes = part === undefined ? null : readLog(join(auditPlaces(stateDir).logs, partName(session, part)))
    const time = bytes === null ? undefined : parseLines(Buffer.from(bytes).toString('utf8')).at(-1)?.time
    if (time !== undefined && (newest === null || time > newest.time)) newest = { session, time }
  }
  return newest?.session ?? null
}

/** The lines of a session as they come, beginning with the last `back`; ends when `signal` says so. */
export async function* followAudit(
  stateDir: string,
  session: string,
  options: { readonly back?: number; readonly signal: AbortSignal },
): AsyncGenerator<AuditLine> {
  const { signal } = options
  const known = readLines(stateDir, session)
  let last = known.at(-1)?.seq ?? 0
  yield* known.slice(-(options.back ?? 10))
  const changes = new Changes(auditPlaces(stateDir).logs, signal)
  while (!signal.aborted) {
    await changes.next()
    for (const line of readLines(stateDir, session)) {
      if (line.seq <= last) continue
      last = line.seq
      yield line
    }
  }
}

/** Wakes up on changes in a directory, and periodically on file systems without notifications. */
class Changes {
  #wake: (() => void) | null = null
  #changed = false

  constructor(directory: string, signal: AbortSignal) {
    const touched = () => {
      this.#changed = true
      this.#wake?.()
    }
    const watcher = watched(directory, touched)
    signal.addEventListener('abort', () => {
      watcher?.close()
      touched()
    })
  }

  async next(): Promise<void> {
    if (!this.#changed) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1000)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#changed = false
  }
}

/** Null if the directory does not exist yet: then only the timer wakes up. */
function watched(directory: string, touched: () => void): FSWatcher | null {
  return attempt(() => watch(directory, touched).on('error', touched), null)
}

/** Where reading a file goes on: after so many bytes. */
interface Reading {
  readonly path: string
  at: number
}

const CHUNK = 128 * 1024
/** The longest line; a longer one would fill memory. */
const MAX_LINE = 8 * 1024 * 1024

/**
 * Yields the lines of every session in its order, beginning with at most `budget` bytes of the
 * newest; then `null` once, and then new lines until the signal ends it.
 */
export async function* tailAudit(
  stateDir: string,
  options: { readonly budget: number; readonly signal: AbortSignal },
): AsyncGenerator<AuditLine | null> {
  const { signal } = options
  const readings = new Map<string, Reading>()
  const changes = new Changes(auditPlaces(stateDir).logs, signal)
  for (const reading of startsOf(stateDir, options.budget)) {
    readings.set(reading.path, reading)
    yield* newLines(reading)
    if (signal.aborted) return
  }
  yield null
  while (!signal.aborted) {
    await changes.next()
    for (const path of files(stateDir)) {
      const reading = readings.get(path) ?? { path, at: 0 }
      readings.set(path, reading)
      yield* newLines(reading)
    }
  }
}

/** The start positions, oldest file first: files outside the budget begin at their end. */
function startsOf(stateDir: string, budget: number): readonly Reading[] {
  const known = files(stateDir).flatMap((path) => {
    const facts = statSync(path, { throwIfNoEntry: false })
    return facts ? [{ path, size: facts.size, time: facts.mtimeMs }] : []
  })
  let left = budget
  return known
    .sort((a, b) => b.time - a.time)
    .map(({ path, size }) => {
      const taken = Math.min(size, left)
      left -= taken
      return { path, at: size - taken }
    })
    .reverse()
}

function files(stateDir: string): readonly string[] {
  const { logs } = auditPlaces(stateDir)
  return auditSessions(stateDir).flatMap((session) =>
    sessionParts(stateDir, session).map((part) => join(logs, partName(session, part))),
  )
}

/** The whole lines that came since; the piece before the first newline is left out when reading began inside one. */
function* newLines(reading: Reading): Generator<AuditLine> {
  let fd: number
  try {
    fd = openSync(reading.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return
  }
  try {
    const { size, uid } = fstatSync(fd)
    if (uid !== ownUid() || size <= reading.at) return
    const chunk = Buffer.allocUnsafe(CHUNK)
    let rest = Buffer.alloc(0)
    while (reading.at < size) {
      const read = readSync(fd, chunk, 0, CHUNK, reading.at + rest.length)
      if (read === 0) return
      const bytes = Buffer.concat([rest, chunk.subarray(0, read)])
      const end = bytes.lastIndexOf(10)
      if (end < 0) {
        if (bytes.length > MAX_LINE) reading.at += bytes.length
        rest = bytes.length > MAX_LINE ? Buffer.alloc(0) : bytes
        continue
      }
      reading.at += end + 1
      rest = Buffer.from(bytes.subarray(end + 1))
      for (const text of bytes.toString('utf8', 0, end).split('\n')) {
        const line = parseLine(text)
        if (line) yield line
      }
    }
  } finally {
    closeSync(fd)
  }
}
