/** Writes the chained lines of one session: one write a line, one for the head, and a tail that was cut short is closed first. */

import { closeSync, constants, fdatasyncSync, fstatSync, ftruncateSync, lstatSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../system/addon.ts'
import { errorCode, Fault } from '../system/fault.ts'
import { openMade } from '../system/made-file.ts'
import { mustBeOurs } from '../system/state.ts'
import { type AuditEvent, checkpointMessage, formatLine, genesis, parseLine, redactDeep } from './event.ts'
import { auditPlaces, type Head, HeadFile, partName } from './head.ts'

/** Signs checkpoints; asked for only when one is due, because a keychain takes time. */
export interface AuditSigner {
  /** `ed25519:BASE64` */
  readonly publicKey: string
  readonly sign: (message: string) => string
}

export interface AuditOptions {
  readonly stateDir: string
  readonly session: string
  readonly now: () => string
  /** Everything that is written passes it. */
  readonly redact: (text: string) => string
  readonly signer?: () => AuditSigner | null
  /** The size at which the next file begins; 0 for never. */
  readonly maxBytes?: number
  /** When lines are forced onto the disk: with every line, with every checkpoint and the close, or never. */
  readonly sync?: 'lines' | 'checkpoints' | 'never'
  /** Lines between two checkpoints. */
  readonly checkpointEvery?: number
  /** The first line of a new log: its user and project. */
  readonly first?: AuditEvent
  /**
   * Several processes write this session (hooks): each append takes the lock and looks for the end anew. Otherwise the log
   * is this process's own until it is closed.
   */
  readonly shared?: boolean
}

const MAX_LINE = 1024 * 1024
/** A log that the person's key does not vouch for so often was not written by Cordon, or by one without the key. */
export const CHECKPOINT_EVERY = 256
/** For shared logs that nobody closes: the most lines that can be rewritten without the key. */
const SHARED_CHECKPOINT_EVERY = 8

/** The end of a session's log, with append. */
export class LogWriter {
  readonly #options: AuditOptions
  readonly #headFile: HeadFile
  readonly #directory: string
  #fd: number | null = null
  /** Known once the end was looked for. */
  #head: Head = { session: '', part: -1, size: 0, seq: 0, hash: '', closed: false }
  #broken: Fault | null = null
  /** The last number when this process first looked. */
  #from: number | null = null

  constructor(options: AuditOptions) {
    const places = auditPlaces(options.stateDir)
    this.#options = options
    this.#directory = places.logs
    try {
      this.#headFile = new HeadFile(join(places.heads, `${options.session}.head`))
    } catch (error) {
      throw unwritable(places.heads, error)
    }
  }

  #freshHead(): Head {
    const { session } = this.#options
    return { session, part: 0, size: 0, seq: 0, hash: sha256(genesis(session)), closed: false }
  }

  /** Finds where the log ends, and closes a tail that was cut short. */
  findEnd(): void {
    const stored = this.#headFile.read() ?? this.#freshHead()
    const reopen = this.#fd === null || stored.part !== this.#head.part
    this.#head = { ...stored, closed: false }
    this.#from ??= stored.seq
    if (reopen) this.#openPart(stored.part)
    const size = fstatSync(this.#fd!).size
    if (size < stored.size) {
      // The lines that the head knew are gone. The next file begins with that, chained to the
      // missing line.
      this.#beginPart('recovered', { problem: 'cut', expected_bytes: stored.size, found_bytes: size })
    } else if (size > stored.size) this.#closeTail(size)
    else if (isThere(join(this.#directory, partName(this.#options.session, stored.part + 1)))) this.#adoptNextPart()
  }

  /** A process that was killed while it rotated: the next file is there, and the head does not know it yet. */
  #adoptNextPart(): void {
    const before = this.#fd
    this.#head = { ...this.#head, part: this.#head.part + 1, size: 0 }
    this.#openPart(this.#head.part)
    if (before !== null) closeSync(before)
    const { size } = fstatSync(this.#fd!)
    if (size > 0) this.#closeTail(size)
    else this.#writeEvent({ type: 'rotated', part: this.#head.part })
  }

  /** Bytes beyond the head: a whole line whose head was not written yet, or a torn one. */
  #closeTail(size: number): void {
    const tail = Buffer.alloc(Math.min(size - this.#head.size, MAX_LINE * 2))
    readSync(this.#fd!, tail, 0, tail.length, this.#head.size)
    const text = tail.toString('utf8')
    const newline = text.indexOf('\n')
    const line = newline < 0 ? null : parseLine(text.slice(0, newline))
    if (line !== null && newline === text.length - 1 && this.#follows(line)) {
      this.#advance(sha256(text.slice(0, newline)), tail.length)
      this.#writeEvent({ type: 'recovered', problem: 'unacknowledged', line: line.seq })
      return
    }
    const torn = { problem: 'torn', bytes: tail.length, sha256: sha256(tail) }
    // The torn bytes stay on a separate line, and the next line covers them.
    const gap = text.endsWith('\n') ? '' : '\n'
    this.#write(`${gap}${this.#line({ type: 'recovered', ...torn })}\n`, tail.length)
  }

  #follows(line: { readonly seq: number; readonly prev: string; readonly session: string }): boolean {
    const { seq, hash: last, session } = this.#head
    return line.seq === seq + 1 && line.prev === last && line.session === session
  }

  append(event: AuditEvent): void {
    const { maxBytes = 0, checkpointEvery = CHECKPOINT_EVERY } = this.#options
    if (this.#broken !== null) throw this.#broken
    if (this.#head.seq === 0 && this.#options.first) this.#writeEvent(this.#options.first)
    if (maxBytes > 0 && this.#head.size >= maxBytes) this.#rotate()
    this.#writeEvent(event)
    // By the number, not by a count of ours: in a shared log each process writes only a few lines.
    if (this.#head.seq % checkpointEvery === 0) this.#checkpoint()
  }

  finish(): void {
    try {
      if (this.#broken === null && this.#head.seq > 0) {
        this.#checkpoint()
        this.#writeEvent({ type: 'closed' })
        this.#writeHead({ ...this.#head, closed: true })
        if (this.#options.sync !== 'never') fdatasyncSync(this.#fd!)
      }
    } finally {
      this.closeFiles()
    }
  }

  closeFiles(): void {
    if (this.#fd !== null) closeSync(this.#fd)
    this.#fd = null
    this.#headFile.close()
  }

  #writeEvent(event: AuditEvent): void {
    this.#write(`${this.#line(event)}\n`, 0)
  }

  #line(event: AuditEvent): string {
    const { now, session, redact } = this.#options
    const json = JSON.stringify(event)
    let payload = redact(json)
    // A mask contains no JSON syntax, but a match that ended inside an escape could break it.
    if (payload !== json && !isJson(payload)) payload = JSON.stringify(redactDeep(event, redact))
    if (payload.length > MAX_LINE) {
      throw new Fault('audit-line', `an audit event of ${payload.length} bytes is larger than ${MAX_LINE}`)
    }
    return formatLine(this.#head.seq + 1, now(), session, payload, this.#head.hash)
  }

  /** One write for the line, one for the head. `skipped` are bytes that were there already. */
  #write(text: string, skipped: number): void {
    const bytes = Buffer.from(text)
    let written = 0
    try {
      written = writeSync(this.#fd!, bytes)
      if (written !== bytes.length) throw Object.assign(new Error('a short write'), { code: 'ENOSPC' })
      if (this.#options.sync === 'lines') fdatasyncSync(this.#fd!)
    } catch (error) {
      this.#takeBack(error)
      throw unwritable(join(this.#directory, partName(this.#options.session, this.#head.part)), error)
    }
    const line = text.trim()
    this.#advance(sha256(line), skipped + bytes.length)
  }

  #advance(last: string, bytes: number): void {
    this.#head = { ...this.#head, seq: this.#head.seq + 1, size: this.#head.size + bytes, hash: last }
    this.#writeHead(this.#head)
  }

  #writeHead(head: Head): void {
    try {
      this.#headFile.write(head)
    } catch (error) {
      throw unwritable(join(auditPlaces(this.#options.stateDir).heads, `${head.session}.head`), error)
    }
  }

  /** Half a line on a full disk is removed again; where that fails too, nothing more is written here. */
  #takeBack(cause: unknown): void {
    try {
      ftruncateSync(this.#fd!, this.#head.size)
    } catch {
      this.#broken = unwritable(this.#directory, cause)
    }
  }

  /** Whether a checkpoint is due in a log whose writers have no key. */
  get isDue(): boolean {
    const every = this.#options.checkpointEvery ?? SHARED_CHECKPOINT_EVERY
    return this.#from !== null && Math.floor(this.#head.seq / every) > Math.floor(this.#from / every)
  }

  /** Vouches for every line up to here; not where the last one does already. */
  checkpoint(signer: AuditSigner): void {
    const { session, seq, hash: last } = this.#head
    if (seq === 0 || this.#endsWithCheckpoint()) return
    const message = checkpointMessage(session, seq + 1, last)
    // Not through the redactor: to it a signature looks like a secret.
    const payload = JSON.stringify({ type: 'checkpoint', key: signer.publicKey, signature: signer.sign(message) })
    this.#write(`${formatLine(seq + 1, this.#options.now(), session, payload, last)}\n`, 0)
    if (this.#options.sync !== 'never') fdatasyncSync(this.#fd!)
  }

  #endsWithCheckpoint(): boolean {
    const tail = Buffer.alloc(Math.min(this.#head.size, 1024))
    readSync(this.#fd!, tail, 0, tail.length, this.#head.size - tail.length)
    const line = parseLine(tail.toString('utf8').trimEnd().split('\n').at(-1) ?? '')
    return line?.type === 'checkpoint' && typeof line.signature === 'string'
  }

  /** Without a key there is nothing to vouch with, and nothing is written. */
  #checkpoint(): void {
    const signer = this.#options.signer?.() ?? null
    if (signer) this.checkpoint(signer)
  }

  #rotate(): void {
    this.#checkpoint()
    this.#beginPart('rotated', { from: partName(this.#options.session, this.#head.part) })
  }

  #beginPart(type: 'rotated' | 'recovered', fields: Readonly<Record<string, unknown>>): void {
    const before = this.#fd
    const part = this.#head.part + 1
    const previous = this.#head
    this.#openPart(part)
    this.#head = { ...previous, part, size: 0 }
    try {
      this.#writeEvent({ type, part, ...fields })
    } catch (error) {
      // The file that the head knows is where the next attempt goes on.
      closeSync(this.#fd!)
      this.#fd = before
      this.#head = previous
      throw error
    }
    if (before !== null) closeSync(before)
  }

  #openPart(part: number): void {
    const path = join(this.#directory, partName(this.#options.session, part))
    try {
      const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
      const fd = openMade(path, flags)
      mustBeOurs(path, fstatSync(fd))
      this.#fd = fd
    } catch (error) {
      throw error instanceof Fault ? error : unwritable(path, error)
    }
  }
}

/** Even a link that points nowhere is there, and is refused when it is opened. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function unwritable(path: string, error: unknown): Fault {
  const code = errorCode(error)
  const why =
    code === 'ENOSPC' ? 'the disk is full' : code === 'EROFS' ? 'the file system is read-only' : (code ?? 'unknown')
  return new Fault('audit-unwritable', `the audit log ${path} cannot be written (${why}), so nothing may run`, {
    cause: error,
    remedy: 'Free some space or make it writable; a call that cannot be recorded does not run.',
  })
}
