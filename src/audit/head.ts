/** The files of a log, and its head: where the log ended, so that a cut tail shows. */

import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../system/addon.ts'
import { errorCode, Fault } from '../system/fault.ts'
import { openMade } from '../system/made-file.ts'
import { mustBeOurs, readOwnFile } from '../system/state.ts'

export interface Head {
  readonly session: string
  /** The number of the file that the last line is in. */
  readonly part: number
  /** The bytes of that file up to the last line. */
  readonly size: number
  /** The last line's number; 0 before the first. */
  readonly seq: number
  /** The last line's hash. */
  readonly hash: string
  readonly closed: boolean
}

/**
 * Two slots of one sector, written in turn, each with a checksum: if a write is cut short, the
 * other slot still has the line before.
 */
const SLOT = 512

export class HeadFile {
  readonly #fd: number
  readonly #slot: Buffer = Buffer.alloc(SLOT)

  constructor(path: string) {
    this.#fd = openMade(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW)
    mustBeOurs(path, fstatSync(this.#fd))
  }

  read(): Head | null {
    const bytes = Buffer.alloc(SLOT * 2)
    readSync(this.#fd, bytes, 0, bytes.length, 0)
    return newest(bytes)
  }

  write(head: Head): void {
    const body = JSON.stringify(head)
    const text = `${sha256(body).slice(0, 16)} ${body}`
    this.#slot.fill(0x20)
    this.#slot.write(text, 'latin1')
    this.#slot[SLOT - 1] = 0x0a
    writeSync(this.#fd, this.#slot, 0, SLOT, (head.seq % 2) * SLOT)
  }

  close(): void {
    closeSync(this.#fd)
  }
}

/** The head of a session for reading; null if missing, `damaged` if neither slot is readable. */
export function readHead(path: string): Head | null | 'damaged' {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    return 'damaged'
  }
  try {
    const bytes = Buffer.alloc(SLOT * 2)
    // An opened session without events has an empty one; beside existing lines that is a missing
    // head.
    if (readSync(fd, bytes, 0, bytes.length, 0) === 0) return null
    return newest(bytes) ?? 'damaged'
  } finally {
    closeSync(fd)
  }
}

/** The newer slot of those that are whole. Mostly the newer one is, and the other's checksum is not asked for. */
function newest(bytes: Buffer): Head | null {
  const slots = [readSlot(bytes.subarray(0, SLOT)), readSlot(bytes.subarray(SLOT))].filter((slot) => slot !== null)
  slots.sort(({ head: a }, { head: b }) => b.seq - a.seq || Number(b.closed) - Number(a.closed))
  return slots.find(({ body, checksum }) => sha256(body).startsWith(checksum))?.head ?? null
}

/** A slot as it reads, not checked yet. */
function readSlot(bytes: Buffer): { readonly head: Head; readonly body: string; readonly checksum: string } | null {
  const text = bytes.toString('latin1').trim()
  if (text.length < 18) return null
  const body = text.slice(17)
  try {
    const head = JSON.parse(body) as Head | null
    return head && { head, body, checksum: text.slice(0, 16) }
  } catch {
    return null
  }
}

/** Where they are. */
export function auditPlaces(stateDir: string): { readonly logs: string; readonly heads: string } {
  return { logs: join(stateDir, 'audit'), heads: join(stateDir, 'audit-heads') }
}

/** `SESSION.0.jsonl`, then `SESSION.1.jsonl` … */
export function partName(session: string, part: number): string {
  return `${session}.${part}.jsonl`
}

const MAX_LOG_BYTES = 2 ** 31 - 1

/** The bytes of a log file, or null if it does not exist. */
export function readLog(path: string): Uint8Array | null {
  return readOwnFile(path, undefined, MAX_LOG_BYTES)
}

/** The sessions that have a log or a head, oldest id first. */
export function auditSessions(stateDir: string): readonly string[] {
  const { logs, heads } = auditPlaces(stateDir)
  const names = new Set<string>()
  for (const name of list(logs)) {
    const match = /^(.+)\.[0-9]+\.jsonl$/.exec(name)
    if (match !== null) names.add(match[1]!)
  }
  for (const name of list(heads)) if (name.endsWith('.head')) names.add(name.slice(0, -'.head'.length))
  return [...names].sort()
}

/** The files of a session by number, with holes where one is missing. */
export function sessionParts(stateDir: string, session: string): readonly number[] {
  const prefix = `${session}.`
  return list(auditPlaces(stateDir).logs)
    .filter((name) => name.startsWith(prefix) && /^[0-9]+\.jsonl$/.test(name.slice(prefix.length)))
    .map((name) => Number.parseInt(name.slice(prefix.length), 10))
    .sort((a, b) => a - b)
}

/** The entries of a directory; empty if it is missing. An unreadable one must not look empty. */
function list(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw new Fault(
      'audit-unreadable',
      `the audit log in ${directory} cannot be read (${errorCode(error) ?? 'unknown'})`,
      {
        cause: error,
        remedy: 'Run it as the user whose log it is.',
      },
    )
  }
}
