/** The folders of calls that can be undone: one each, with its journal, what it would have lost, and what it was. */

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
import { isSameProcess, startOf } from '../system/alive.ts'
import { withLock } from '../system/lock.ts'
import { writeMade } from '../system/made-file.ts'
import { makeDirectories } from '../system/state.ts'
import { formatEnd, type Journal, parseJournal } from './journal.ts'
import { isWithoutChanges } from './net-changes.ts'

/** What a call was, as a person would recognise it. */
export interface CallAbout {
  /** Where it could change something. */
  readonly roots: readonly string[]
  /** The command, or the tool with its path. */
  readonly what: string
  /** ISO, UTC. */
  readonly at: string
  readonly session?: string
  /** The run that it is part of: should Cordon be killed, the next run settles by what this call did. */
  readonly run?: string
  /** The call that this one put back. */
  readonly undoes?: string
  /** The call that this one did again, after it had been put back. */
  readonly redoes?: string
  /** The process that keeps, and its start: while it lives the call is not over. */
  readonly by?: { readonly pid: number; readonly start: string | null }
}

export interface KeptCall {
  readonly id: string
  readonly about: CallAbout
  /** The call that put this one back. */
  readonly undoneBy: string | null
}

/** Whether a call stands: it is no putting back itself, and nobody put it back. */
export function isStanding({ about, undoneBy }: KeptCall): boolean {
  return about.undoes === undefined && undoneBy === null
}

export interface PruneLimits {
  readonly olderThanMs: number
  readonly bytes: number
}

/** A week, and two gigabytes. */
export const DEFAULT_PRUNE: PruneLimits = { olderThanMs: 7 * 24 * 3_600_000, bytes: 2 * 1024 ** 3 }

/** Holds how much room a call takes. */
const SIZE = 'bytes'
/** When calls were pruned last. */
const STAMP = 'pruned'
const PRUNE_EVERY_MS = 3_600_000

const ID: RegExp = /^\d{8}-\d{6}-\d{3}-[a-z0-9]+$/

let own: { readonly pid: number; readonly start: string | null } | null = null

function ownProcess(): { readonly pid: number; readonly start: string | null } {
  own ??= { pid: process.pid, start: startOf(process.pid) }
  return own
}

/** The calls of one state directory. */
export class CallStore {
  readonly #folder: string
  readonly #runs: string

  constructor(stateDir: string) {
    this.#folder = join(stateDir, 'undo')
    this.#runs = join(stateDir, 'runs')
  }

  /** Makes the folder of a call that begins now. */
  begin(about: Omit<CallAbout, 'at' | 'by'>, now: Date = new Date()): { readonly id: string; readonly folder: string } {
    const at = now.toISOString()
    const stamp = at.replace(/[-:]/g, '').replace(/[T.]/g, '-').replace('Z', '')
    const id = `${stamp}-${process.pid.toString(36)}${Math.random().toString(36).slice(2, 6)}`
    const folder = join(this.#folder, id)
    makeDirectories(folder)
    const what = createRedactor().redact(about.what)
    writeMade(join(folder, 'about.json'), `${JSON.stringify({ ...about, what, at, by: ownProcess() })}\n`)
    return { id, folder }
  }

  /** Does something while no other process does the like: two undos at once would undo each other. */
  alone<T>(work: () => T): T {
    return withLock(join(this.#folder, 'lock'), work)
  }

  /** Where a call's kept files are. */
  folderOf(id: string): string {
    if (!ID.test(id)) throw new RangeError(`${JSON.stringify(id)} is no name of a call`)
    return join(this.#folder, id)
  }

  /** The journal of a call; an empty one when it was never begun. */
  journalOf(id: string): Journal {
    const path = join(this.folderOf(id), 'journal')
    return existsSync(path) ? parseJournal(readFileSync(path)) : { records: [], ended: null, whole: true, size: 0 }
  }

  /** Lets go of a call that changed nothing, and ends one whose keeper was killed. Returns its journal. */
  settle(id: string): Journal {
    const journal = this.journalOf(id)
    if (isWithoutChanges(journal.records)) this.forget(id)
    else if (journal.ended === null) this.#end(id, journal)
    return journal
  }

  /** Whether a call is still being made. */
  isUnderWay({ id, about }: KeptCall): boolean {
    return about.by !== undefined && isSameProcess(about.by.pid, about.by.start) && this.journalOf(id).ended === null
  }

  /** Behind the last whole record: there may be room that was reserved for more. */
  #end(id: string, { size }: Journal): void {
    const path = join(this.folderOf(id), 'journal')
    const now = Date.now() + 1
    truncateSync(path, size)
    appendFileSync(path, formatEnd({ seconds: BigInt(Math.floor(now / 1000)), nanoseconds: (now % 1000) * 1_000_000 }))
  }

  /** All calls, the last one first. */
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

  /** Removes the kept files of a call that has been put back; its journal stays. */
  dropKept(id: string): void {
    const folder = this.folderOf(id)
    for (const name of readdirSync(folder))
      if (/^g?\d+$/.test(name) || name === SIZE) rmSync(join(folder, name), { recursive: true, force: true })
  }

  /** Removes what is too old, and the oldest while there is too much. Returns the calls that can no longer be undone. */
  prune({ olderThanMs, bytes }: PruneLimits, now: Date = new Date()): string[] {
    const removed: string[] = []
    let total = 0
    for (const call of this.list()) {
      const { id, about } = call
      const over = !this.isUnderWay(call)
      total += this.#bytesOf(id, over)
      // By its journal the next run tells what a killed one planted from what the person did.
      const isWanted = about.run !== undefined && existsSync(join(this.#runs, `${about.run}.json`))
      if (!over || isWanted || (now.getTime() - Date.parse(about.at) <= olderThanMs && total <= bytes)) continue
      this.forget(id)
      removed.push(id)
    }
    return removed
  }

  /** Prunes if nobody did so for an hour: for the end of a session or a run. */
  pruneWhenDue(limits: PruneLimits, now: Date = new Date()): void {
    const stamp = join(this.#folder, STAMP)
    try {
      const { mtimeMs } = statSync(stamp, { throwIfNoEntry: false }) ?? { mtimeMs: 0 }
      if (now.getTime() - mtimeMs < PRUNE_EVERY_MS || !existsSync(this.#folder)) return
      writeMade(stamp, '')
      utimesSync(stamp, now, now)
      this.prune(limits, now)
    } catch {
      // What is there too much is removed another time.
    }
  }

  /** How much room a call's kept files take; once it is over that does not change any more, and is written down. */
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
    try {
      return readdirSync(this.#folder)
        .filter((name) => ID.test(name))
        .sort()
        .reverse()
    } catch {
      return []
    }
  }

  #aboutOf(id: string): CallAbout | null {
    try {
      return JSON.parse(readFileSync(join(this.folderOf(id), 'about.json'), 'utf8')) as CallAbout
    } catch {
      return null
    }
  }

  #undoneBy(id: string): string | null {
    try {
      return readFileSync(join(this.folderOf(id), 'undone'), 'utf8').trim()
    } catch {
      return null
    }
  }
}
