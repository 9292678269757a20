/** The record as one stream: what is there, the newest sessions up to a budget, and then what comes, read only as fast as it is taken. */

import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ownUid } from '../system/state.ts'
import { type AuditLine, parseLine } from './event.ts'
import { auditPlaces, auditSessions, partName, sessionParts } from './log-files.ts'
import { Changes } from './read.ts'

/** Where reading a file goes on: after so many bytes. */
interface Reading {
  readonly path: string
  at: number
}

const CHUNK = 128 * 1024
/** A line is never longer; what is would be held in memory. */
const MAX_LINE = 8 * 1024 * 1024

/**
 * Yields the lines of every session, each session in its order, beginning with at most `budget` bytes of the newest; then
 * `null` once, and from then on what is written, until the signal ends it.
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

/** Where to begin, oldest file first: files of which nothing fits the budget are begun at their end. */
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
