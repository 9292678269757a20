/**
 * The audit files as a queue: lines that a receiver has not confirmed are read again after a crash.
 */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../system/fault.ts'
import { readOwnJson, writeOwnJson } from '../system/state.ts'
import { auditPlaces, auditSessions, partName, readHead, sessionParts } from './head.ts'

/** A line of the record with its position, which is its unique, permanent name. */
export interface QueuedLine {
  readonly session: string
  readonly part: number
  readonly offset: number
  /** Without its newline. */
  readonly text: string
}

interface QueuedBatch {
  readonly lines: readonly QueuedLine[]
  /** Moves the cursor past these lines: the receiver has said that it keeps them. */
  confirm(): void
}

type Place = readonly [part: number, offset: number]

interface CursorFile {
  readonly version: 1
  readonly places: Readonly<Record<string, Place>>
}

interface QueueOptions {
  readonly stateDir: string
  /** Where the cursor is kept; one for each receiver. */
  readonly cursor: string
  readonly maxLines?: number
  readonly maxBytes?: number
}

const MAX_LINES = 500
const MAX_BYTES = 1024 * 1024
/** The longest line that the log writes, and its newline. */
const LONGEST = 1024 * 1024 + 4096

/** A queue over all sessions. At most one batch is in memory. */
export class AuditQueue {
  readonly #options: Required<QueueOptions>
  #places: Map<string, Place>
  /** The order of sessions in this round; looked up anew when it is used up. */
  #sessions: string[] = []

  constructor(options: QueueOptions) {
    this.#options = { maxLines: MAX_LINES, maxBytes: MAX_BYTES, ...options }
    const stored = readOwnJson(options.cursor, isCursorFile)
    this.#places = new Map(Object.entries(stored?.places ?? {}))
  }

  /** The next lines; null when everything that was written is confirmed. */
  next(): QueuedBatch | null {
    const { stateDir, maxLines, maxBytes } = this.#options
    const known = auditSessions(stateDir)
    if (this.#sessions.length === 0) this.#sessions = [...known]
    const lines: QueuedLine[] = []
    const moved = new Map<string, Place>()
    let bytes = 0
    while (this.#sessions.length > 0 && lines.length < maxLines && bytes < maxBytes) {
      const session = this.#sessions[0]!
      const from = moved.get(session) ?? this.#places.get(session) ?? [0, 0]
      const read = this.#readSession(session, from, maxLines - lines.length, maxBytes - bytes)
      for (const line of read.lines) {
        lines.push(line)
        bytes += line.text.length
      }
      if (read.place[0] !== from[0] || read.place[1] !== from[1]) moved.set(session, read.place)
      if (read.ended) this.#sessions.shift()
    }
    if (lines.length === 0) {
      for (const [session, place] of moved) this.#places.set(session, place)
      return null
    }
    return { lines, confirm: () => this.#confirm(moved, new Set(known)) }
  }

  #confirm(moved: ReadonlyMap<string, Place>, known: ReadonlySet<string>): void {
    for (const [session, place] of moved) this.#places.set(session, place)
    for (const session of this.#places.keys()) if (!known.has(session)) this.#places.delete(session)
    const file: CursorFile = { version: 1, places: Object.fromEntries(this.#places) }
    writeOwnJson(this.#options.cursor, file)
  }

  #readSession(
    session: string,
    [part, offset]: Place,
    maxLines: number,
    maxBytes: number,
  ): { readonly lines: readonly QueuedLine[]; readonly place: Place; readonly ended: boolean } {
    const { logs, heads } = auditPlaces(this.#options.stateDir)
    const head = readHead(join(heads, `${session}.head`))
    const current = typeof head === 'object' ? head : null
    const path = join(logs, partName(session, part))
    // Lines beyond the head are not final: they may still be removed.
    const limit = current?.part === part ? current.size : Number.POSITIVE_INFINITY
    const chunk = readLines(path, offset, limit, maxLines, maxBytes)
    const lines = chunk.texts.map((text) => ({ session, part, ...text }))
    const place: Place = [part, offset + chunk.bytes]
    if (lines.length > 0) return { lines, place, ended: false }
    const later = sessionParts(this.#options.stateDir, session).find((other) => other > part)
    const ended = later === undefined || (current !== null && current.part <= part)
    return { lines, place: ended ? place : [later, 0], ended }
  }
}

interface Chunk {
  readonly texts: readonly { readonly offset: number; readonly text: string }[]
  readonly bytes: number
}

/** Whole lines from an offset on. */
function readLines(path: string, offset: number, limit: number, maxLines: number, maxBytes: number): Chunk {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { texts: [], bytes: 0 }
    throw error
  }
  try {
    const size = Math.min(fstatSync(fd).size, limit)
    if (size <= offset) return { texts: [], bytes: 0 }
    const buffer = Buffer.alloc(Math.min(size - offset, Math.max(maxBytes, 1) + LONGEST))
    const read = readSync(fd, buffer, 0, buffer.length, offset)
    const texts: { offset: number; text: string }[] = []
    let at = 0
    while (texts.length < maxLines && at < maxBytes) {
      const newline = buffer.indexOf(0x0a, at)
      if (newline < 0 || newline >= read) break
      texts.push({ offset: offset + at, text: buffer.toString('utf8', at, newline) })
      at = newline + 1
    }
    return { texts, bytes: at }
  } finally {
    closeSync(fd)
  }
}

function isCursorFile(value: unknown): value is CursorFile {
  const file = value as Partial<CursorFile> | null
  return (
    file?.version === 1 &&
    typeof file.places === 'object' &&
    Object.values(file.places ?? {}).every(
      (place) => Array.isArray(place) && place.every((number) => Number.isSafeInteger(number) && number >= 0),
    )
  )
}
