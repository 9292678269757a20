/** The folders of calls that can be undone: each has its journal, kept files and description. */

import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import { createRedactor } from '../scan/redact/redact.ts'
import { attempt } from '../system/fault.ts'
import { withLock } from '../system/lock.ts'
import { writeMade } from '../system/made-file.ts'
import { isSameProcess, startOf } from '../system/processes.ts'
import { makeDirectories } from '../system/state.ts'
import { fileTime, formatEnd, type Journal, parseJournal } from './journal.ts'
import { statAt } from './keeper.ts'
import { isWithoutChanges } from './net-changes.ts'

/** A call's description for a person. */
export interface CallAbout {
  /** Where it could make changes. */
  readonly roots: readonly string[]
  /** The command, or the tool with its path. */
  readonly what: string
  /** ISO, UTC. */
  readonly at: string
  readonly session?: string
  /** Protected places that the manifest opened for this call. */
  readonly opened?: readonly string[]
  /** Its run, so that the next run can settle it if Cordon is killed. */
  readonly run?: string
  /** The call that this one restored. */
  readonly undoes?: string
  /** The undone call that this one redid. */
  readonly redoes?: string
  /** Another program makes the changes and has not reported its end. */
  readonly isOpen?: boolean
  /** The keeping process; while it lives the call is not over. */
  readonly by?: { readonly pid: number; readonly start: string | null }
}

export interface KeptCall {
  readonly id: string
  readonly about: CallAbout
  /** The call that undid this one. */
  readonly undoneBy: string | null
}

/** Whether a call is in effect: not an undo, and not undone. */
export function isInEffect({ about, undoneBy }: KeptCall): boolean {
  return about.undoes === undefined && undoneBy === null
}

export interface PruneLimits {
  readonly olderThanMs: number
  /** Per project. */
  readonly bytes: number
  /** Newer calls stay whatever their size. */
  readonly graceMs: number
}

const DAY_MS = 24 * 3_600_000

/** A week, two gigabytes a project, and a day. */
export const DEFAULT_PRUNE: PruneLimits = { olderThanMs: 7 * DAY_MS, bytes: 2 * 1024 ** 3, graceMs: DAY_MS }

/** Stores a call's size. */
const SIZE = 'bytes'
/** Marks the last pruning. */
const STAMP = 'pruned'
const PRUNE_EVERY_MS = 3_600_000

const ID: RegExp = /^\d{8}-\d{6}-\d{3}-[a-z0-9]+$/

function projectOf({ roots }: CallAbout): string {
  return roots[0] ?? ''
}

let own: { readonly pid: number; readonly start: string | null } | null = null

function ownProcess(): { readonly pid: number; readonly start: string | null } {
  own ??= { pid: process.pid, start: startOf(process.pid) }
  return own
}

export class CallStore {
  readonly #folder: string
  readonly #runs: string

  constructor(stateDir: string) {
    this.#folder = join(stateDir, 'undo')
    this.#runs = join(stateDir, 'runs')
  }

  /** Creates the folder of a new call. */
  begin(about: Omit<CallAbout, 'at' | 'by'>, now: Date = new Date()): { readonly id: string; readonly folder: string } {
    return this.#make({ ...about, by: ownProcess() }, now)
  }

  /** The same for changes by another program: the call stays open until it is ended. */
  beginOpen(about: Omit<CallAbout, 'at' | 'by' | 'isOpen'>): { readonly id: string; readonly folder: string } {
    return this.#make({ ...about, isOpen: true }, new Date())
  }

  /** Ends an open call at its last change. False: nothing has changed yet. */
  endOpen(id: string): boolean {
    const journal = this.journalOf(id)
    if (journal.ended !== null) return true
    const changes = journal.records.map((record) => ({ record, stat: statAt(record.path) }))
    const isChanged = changes.some(({ record, stat }) =>
      record.op === 'made' ? stat !== null : stat === null || stat.ctimeNs !== record.changed,
    )
    if (!isChanged) return false
    const last = changes.reduce((time, { stat }) => (stat && stat.ctimeNs > time ? stat.ctimeNs : time), 0n)
    this.#end(id, journal, last)
    return true
  }

  #make(about: Omit<CallAbout, 'at'>, now: Date): { readonly id: string; readonly folder: string } {
    const at = now.toISOString()
    const stamp = at.replace(/[-:]/g, '').replace(/[T.]/g, '-').replace('Z', '')
    const id = `${stamp}-${process.pid.toString(36)}${Math.random().toString(36).slice(2, 6)}`
    const folder = join(this.#folder, id)
    makeDirectories(folder)
    const what = createRedactor().redact(about.what)
    writeMade(join(folder, 'about.json'), `${JSON.stringify({ ...about, what, at })}\n`)
    return { id, folder }
  }

  /** Runs alone: two undos at once would undo each other. */
  alone<T>(work: () => T): T {
    return withLock(join(this.#folder, 'lock'), work)
  }

  /** The folder of a call's kept files. */
  folderOf(id: string): string {
    if (!ID.test(id)) throw new RangeError(`${JSON.stringify(id)} is not the id of a call`)
    return join(this.#folder, id)
  }

  /** A call's journal, empty if it never began. */
  journalOf(id: string): Journal {
    const path = join(this.folderOf(id), 'journal')
    return existsSync(path) ? parseJournal(readFileSync(path)) : { records: [], ended: null, whole: true, size: 0 }
  }

  /** Removes a call without changes, and ends one whose keeper was killed. Returns its journal. */
  settle(id: string): Journal {
    const journal = this.journalOf(id)
    if (isWithoutChanges(journal.records)) this.forget(id)
    else if (journal.ended === null) this.#end(id, journal)
    return journal
  }

  /** Whether a call is still running. */
  isUnderWay({ id, about }: KeptCall): boolean {
    return about.by !== undefined && isSameProcess(about.by.pid, about.by.start) && this.journalOf(id).ended === null
  }

  /** After the last whole record: space may have been reserved. */
  #end(id: string, { size }: Journal, time = BigInt(Date.now() + 1) * 1_000_000n): void {
    const path = join(this.folderOf(id), 'journal')
    truncateSync(path, size)
    appendFileSync(path, formatEnd(fileTime(time)))
  }

  /** The description of a call; null if it is not kept. */
  about(id: string): CallAbout | null {
    return ID.test(id) ? this.#aboutOf(id) : null
  }

  list(): KeptCall[] {
    return this.#ids().flatMap((id) => {
      const about = this.#aboutOf(id)
      return about ? [{ id, about, undoneBy: this.#undoneBy(id) }] : []
    })
  }

  markUndone(id: string, by: string): void {
    writeMade(join(this.folderOf(id), 'undone'), `${by}\n`)
  }

  forget(id: string): void {
    rmSync(this.folderOf(id), { recursive: true, force: true })
  }

  /** Removes kept files of an undone call; its journal stays. */
  dropKept(id: string): void {
    const folder = this.folderOf(id)
    for (const name of readdirSync(folder))
      if (/^g?\d+$/.test(name) || name === SIZE) rmSync(join(folder, name), { recursive: true, force: true })
  }

  /** Removes old calls, and the oldest beyond the size limit. Returns the removed ones. */
  prune({ olderThanMs, bytes, graceMs }: PruneLimits, now: Date = new Date()): string[] {
    const removed: string[] = []
    const totals = new Map<string, number>()
    for (const call of this.list()) {
      const { id, about } = call
      const over = !this.isUnderWay(call)
      const total = (totals.get(projectOf(about)) ?? 0) + this.#bytesOf(id, over)
      totals.set(projectOf(about), total)
      const age = now.getTime() - Date.parse(about.at)
      // The next run uses its journal to tell a killed command's changes from the person's.
      const isWanted = about.run !== undefined && existsSync(join(this.#runs, `${about.run}.json`))
      if (!over || isWanted || (age <= olderThanMs && (total <= bytes || age <= graceMs))) continue
      this.forget(id)
      removed.push(id)
    }
    return removed
  }

  /** Whether a project exceeds its limit. */
  isFull(root: string, { bytes }: PruneLimits): boolean {
    const calls = this.list().filter(({ about }) => projectOf(about) === root)
    return calls.reduce((sum, call) => sum + this.#bytesOf(call.id, !this.isUnderWay(call)), 0) > bytes
  }

  /** Prunes at most once an hour, when a session or run ends. */
  pruneWhenDue(limits: PruneLimits, now: Date = new Date()): void {
    const stamp = join(this.#folder, STAMP)
    try {
      const { mtimeMs } = statSync(stamp, { throwIfNoEntry: false }) ?? { mtimeMs: 0 }
      if (now.getTime() - mtimeMs < PRUNE_EVERY_MS || !existsSync(this.#folder)) return
      writeMade(stamp, '')
      utimesSync(stamp, now, now)
      this.prune(limits, now)
    } catch {
      // The rest is removed another time.
    }
  }

  /** Size of kept files; stored once the call is over. */
  #bytesOf(id: string, over: boolean): number {
    const folder = this.folderOf(id)
    const known = join(folder, SIZE)
    if (existsSync(known)) return Number(readFileSync(known, 'utf8'))
    const bytes = readdirSync(folder, { encoding: 'utf8', recursive: true }).reduce((sum, name) => {
      const { size, blocks } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? { size: 0, blocks: 0 }
      return sum + Math.min(size, blocks * 512)
    }, 0)
    if (over) writeMade(known, String(bytes))
    return bytes
  }

  #ids(): string[] {
    return attempt(
      () =>
        readdirSync(this.#folder)
          .filter((name) => ID.test(name))
          .sort()
          .reverse(),
      [],
    )
  }

  #aboutOf(id: string): CallAbout | null {
    return attempt(() => JSON.parse(readFileSync(join(this.folderOf(id), 'about.json'), 'utf8')) as CallAbout, null)
  }

  #undoneBy(id: string): string | null {
    return attempt(() => readFileSync(join(this.folderOf(id), 'undone'), 'utf8').trim(), null)
  }
}
