/** Puts back what a call changed: its journal backwards, each step through a keeper, so that it can be redone. */

import {
  type BigIntStats,
  chmodSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, posix } from 'node:path'
import { errorCode } from '../system/fault.ts'
import { copyAttributes, setFileTime } from '../system/file-addon.ts'
import type { CallStore } from './call-store.ts'
import { HeldPlaces, MovedPlace } from './held-place.ts'
import { type FileTime, type Journal, type JournalRecord, type Kept, keptName } from './journal.ts'
import { Keeper } from './keeper.ts'
import { changedByLater } from './later-calls.ts'
import { netChanges } from './net-changes.ts'
import { plantsInRepository } from './repository-place.ts'

/** Something that is not as the call left it. */
export interface Conflict {
  readonly path: string
  readonly what:
    | 'changed since'
    | 'gone since'
    | 'made since'
    | 'leads elsewhere'
    | 'in a repository that was made since'
    | 'not kept'
    | 'not ended'
    | 'changed by a later call as well'
    | 'still running'
    | 'more changes than were written down'
}

export interface UndoResult {
  /** The call that put it back; null when nothing was done. */
  readonly id: string | null
  readonly conflicts: readonly Conflict[]
  /** Steps that could not be made, with the error. */
  readonly failed: readonly { readonly path: string; readonly error: string }[]
  readonly steps: number
}

/** What of the tree is no longer as the call left it, or cannot be put back. */
export function conflictsOf({ records, ended, whole }: Journal, later: ReadonlySet<string> = new Set()): Conflict[] {
  const net = netChanges(records)
  const places = new HeldPlaces()
  const conflicts: Conflict[] = net.lost.map((path) => ({ path, what: 'not kept' }))
  if (!whole) conflicts.push({ path: records[0]?.path ?? '', what: 'more changes than were written down' })
  const end = ended === null ? null : ended.seconds * 1_000_000_000n + BigInt(ended.nanoseconds)
  for (const path of [...net.made, ...net.changed]) {
    const stat = lookIn(places, path)
    if (stat === 'elsewhere') conflicts.push({ path, what: 'leads elsewhere' })
    else if (!stat) conflicts.push({ path, what: 'gone since' })
    // The time of a folder changes with its entries, and those are looked at themselves.
    else if (stat.isDirectory()) continue
    else if (end === null) conflicts.push({ path, what: 'not ended' })
    else if (stat.ctimeNs > end) conflicts.push({ path, what: 'changed since' })
    else if (later.has(path)) conflicts.push({ path, what: 'changed by a later call as well' })
  }
  for (const path of net.removed) {
    const stat = lookIn(places, path)
    if (stat) conflicts.push({ path, what: stat === 'elsewhere' ? 'leads elsewhere' : 'made since' })
  }
  const restored = new Set(net.removed)
  for (const path of [...net.changed, ...net.removed])
    if (plantsInRepository(places, path, restored))
      conflicts.push({ path, what: 'in a repository that was made since' })
  places.forget()
  return conflicts
}

/** What is at a path, itself and not where it leads; null for nothing, also where its folder is gone. */
function lookIn(places: HeldPlaces, path: string): BigIntStats | 'elsewhere' | null {
  try {
    return lstatSync(places.at(path), { bigint: true, throwIfNoEntry: false }) ?? null
  } catch (error) {
    if (error instanceof MovedPlace) return 'elsewhere'
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null
    throw error
  }
}

export interface UndoOptions {
  readonly force?: boolean
  /** Told from time to time how many steps are done, of how many. */
  readonly onProgress?: (done: number, of: number) => void
}

const PROGRESS_STEPS = 1000

/** Puts one call back. Without `force` nothing is touched when anything is no longer as the call left it. */
export function undoCall(store: CallStore, id: string, options: UndoOptions = {}): UndoResult {
  return store.alone(() => undoAlone(store, id, options))
}

function undoAlone(store: CallStore, id: string, { force = false, onProgress }: UndoOptions): UndoResult {
  const journal = store.journalOf(id)
  const calls = store.list()
  const call = calls.find((one) => one.id === id)
  // It would go on from a tree that it does not know, and what it keeps from then on could not be put back.
  if (call && store.isUnderWay(call))
    return { id: null, conflicts: [{ path: call.about.what, what: 'still running' }], failed: [], steps: 0 }
  const conflicts = conflictsOf(journal, call && changedByLater(store, call))
  if (!call || (conflicts.length > 0 && !force)) return { id: null, conflicts, failed: [], steps: 0 }
  const { roots, what, undoes } = call.about
  // What is done again stands as a call of its own: it kept what the tree held now, and the first one has nothing left to give.
  const about =
    undoes === undefined
      ? { roots, what: `undo of ${id}: ${what}`, undoes: id }
      : { roots, what: calls.find((one) => one.id === undoes)?.about.what ?? what, redoes: undoes }
  const undo = store.begin(about)
  const keeper = new Keeper(undo.folder)
  const replay = new Replay(keeper, store.folderOf(id))
  for (const [done, record] of journal.records.toReversed().entries()) {
    replay.reverse(record)
    if ((done + 1) % PROGRESS_STEPS === 0) onProgress?.(done + 1, journal.records.length)
  }
  replay.close()
  // What stands in its place again needs no second name. Before the end: it changes the time by which changes since are told.
  if (replay.failed.length === 0) store.dropKept(id)
  keeper.close()
  store.markUndone(id, undo.id)
  return { id: undo.id, conflicts, failed: replay.failed, steps: replay.steps }
}

/** Something that has none. */
const NO_ATTRIBUTES = Buffer.from('/proc/self/comm')
const FORMAT = 0o170000
const FOLDER = 0o040000
const LINK = 0o120000

/** One journal, backwards. */
class Replay {
  readonly failed: { path: string; error: string }[] = []
  steps = 0
  readonly #keeper: Keeper
  readonly #folder: string
  readonly #places = new HeldPlaces()
  /** Names of things that the call had made and removed again: they stand for nothing. */
  readonly #absent = new Set<string>()
  /** Folders that came back. */
  readonly #restored = new Set<string>()

  constructor(keeper: Keeper, folder: string) {
    this.#keeper = keeper
    this.#folder = folder
  }

  close(): void {
    this.#places.forget()
  }

  /** INVARIANT: the tree is touched through `#places` alone, and so never behind a link. */
  reverse(record: JournalRecord): void {
    try {
      this.#reverse(record)
      this.steps++
    } catch (error) {
      this.failed.push({ path: record.path, error: errorCode(error) ?? String(error) })
    }
    this.#setFolderTime(record.path, record.folderTime)
    if (record.other !== '') this.#setFolderTime(record.other, record.otherFolderTime)
  }

  #reverse(record: JournalRecord): void {
    const { op, path, other, before } = record
    const puts = op === 'made' || op === 'mode' ? [] : other === '' ? [path] : [path, other]
    for (const one of puts)
      if (plantsInRepository(this.#places, one, this.#restored))
        throw Object.assign(new Error('it would be part of a git repository'), { code: 'REPOSITORY' })
    if (op === 'made') this.#removeMade(path)
    else if (op === 'removed') this.#putBack(path, record)
    else if (op === 'exchanged') this.#exchange(record)
    else if (op === 'written') this.#restore(record)
    else if (op === 'mode') this.#setMode(path, record)
    if (op !== 'renamed') return
    this.#moveBack(record)
    if (before.mode !== 0) this.#putBack(other, record)
  }

  #removeMade(path: string): void {
    if (this.#absent.delete(path)) return
    const stat = this.#look(path)
    if (!stat) return
    if (!stat.isDirectory()) {
      this.#keeper.willRemove(path, this.#places.at(path))
      unlinkSync(this.#places.at(path))
      return
    }
    // Not with all below it: what the call did not make is not its own.
    if (readdirSync(this.#places.at(path)).length > 0)
      throw Object.assign(new Error('not empty'), { code: 'ENOTEMPTY' })
    this.#keeper.willRemove(path, this.#places.at(path))
    rmdirSync(this.#places.at(path))
    this.#places.forget()
  }

  /** What is at a path, itself and not where it leads; null for nothing. Throws where the way there is another one now. */
  #look(path: string): BigIntStats | null {
    const found = lookIn(this.#places, path)
    if (found === 'elsewhere') throw new MovedPlace(path)
    return found
  }

  /** Both ends without a link on the way: only one folder is held at a time, so the other is opened for the moment. */
  #rename(from: string, to: string): void {
    const origin = new HeldPlaces()
    try {
      renameSync(origin.at(from), this.#places.at(to))
    } finally {
      origin.forget()
      this.#places.forget()
    }
  }

  #putBack(path: string, { kept, number, before }: JournalRecord): void {
    if (kept === 'made') {
      this.#absent.add(path)
      return
    }
    const there = this.#look(path)
    if (there && there.ino === before.inode) return
    if (there) throw Object.assign(new Error('something else is there'), { code: 'EEXIST' })
    if ((before.mode & FORMAT) === FOLDER) {
      this.#keeper.willMake(path)
      mkdirSync(this.#places.at(path))
      this.#restored.add(path)
      this.#setAttributes(path, kept, number)
      this.#dress(path, before.mode, before.time)
      return
    }
    if (kept === 'lost' || kept === 'none') throw Object.assign(new Error('not kept'), { code: 'NOT-KEPT' })
    this.#keeper.willMake(path)
    if (kept === 'empty') writeFileSync(this.#places.at(path), '', { flag: 'wx' })
    else if (kept === 'copy' || !this.#link(path, number))
      copyFileSync(
        join(this.#folder, keptName(number)),
        this.#places.at(path),
        constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL,
      )
    else return
    this.#setAttributes(path, kept, number)
    this.#dress(path, before.mode, before.time)
  }

  /** A copy has the attributes of what it was made from. */
  #setAttributes(path: string, kept: Kept, number: number): void {
    if ((kept !== 'copy' && kept !== 'attributes') || process.platform !== 'linux') return
    if (number === 0) this.#places.withFile(path, (place) => copyAttributes(NO_ATTRIBUTES, place))
    else
      this.#places.withFile(path, (place) => copyAttributes(Buffer.from(join(this.#folder, keptName(number))), place))
  }

  #link(path: string, number: number): boolean {
    try {
      linkSync(join(this.#folder, keptName(number)), this.#places.at(path))
      return true
    } catch (error) {
      if (errorCode(error) === 'EXDEV') return false
      throw error
    }
  }

  #moveBack({ path, other }: JournalRecord): void {
    const isAbsent = this.#absent.has(other)
    this.#moveAbsent(other, path)
    if (isAbsent) return
    if (!this.#look(other) && this.#look(path)) return
    if (this.#look(path)) throw Object.assign(new Error('something else is there'), { code: 'EEXIST' })
    this.#keeper.willMove(other, path)
    this.#rename(other, path)
  }

  /** Node has no exchange: a third name stands in. */
  #exchange({ path, other }: JournalRecord): void {
    const [noPath, noOther] = [this.#absent.has(path), this.#absent.has(other)]
    this.#moveAbsent(path, `${path}\0`)
    this.#moveAbsent(other, path)
    this.#moveAbsent(`${path}\0`, other)
    if (noPath && noOther) return
    if (noPath || noOther) {
      const [from, to] = noPath ? [other, path] : [path, other]
      this.#keeper.willMove(from, to)
      this.#rename(from, to)
      return
    }
    const aside = this.#freeName(posix.dirname(path))
    for (const [from, to] of [
      [path, aside],
      [other, path],
      [aside, other],
    ] as const) {
      this.#keeper.willMove(from, to)
      this.#rename(from, to)
    }
  }

  #freeName(folder: string): string {
    for (let number = 0; ; number++) {
      const path = `${folder}/.cordon-undo-${number}`
      if (!this.#look(path)) return path
    }
  }

  #moveAbsent(from: string, to: string): void {
    for (const one of [...this.#absent].filter((name) => name === from || name.startsWith(`${from}/`))) {
      this.#absent.delete(one)
      this.#absent.add(to + one.slice(from.length))
    }
  }

  #restore(record: JournalRecord): void {
    const { path, kept, number, before } = record
    if (this.#absent.has(path)) return
    if (this.#look(path)?.isFile() !== true) throw Object.assign(new Error('no file any more'), { code: 'ENOENT' })
    if (kept === 'lost') throw Object.assign(new Error('not kept'), { code: 'NOT-KEPT' })
    this.#keeper.willWrite(path, this.#places.at(path))
    this.#places.withFile(path, (place) => {
      // By its handle: a pipe that took its place meanwhile would hold this process for ever.
      if (!statSync(place).isFile()) throw Object.assign(new Error('no file any more'), { code: 'ENOENT' })
      chmodSync(place, 0o600)
      // In place: a second name of the file keeps being one.
      if (kept === 'empty') writeFileSync(place, '')
      else copyFileSync(join(this.#folder, keptName(number)), place, constants.COPYFILE_FICLONE)
    })
    this.#setAttributes(path, kept, number)
    this.#dress(path, before.mode, before.time)
  }

  #setMode(path: string, { before, kept, number }: JournalRecord): void {
    if (this.#absent.has(path) || !this.#look(path)) return
    if (kept === 'lost') throw Object.assign(new Error('not kept'), { code: 'NOT-KEPT' })
    if (kept === 'attributes') {
      this.#keeper.willSetAttributes(path, this.#places.at(path))
      this.#setAttributes(path, kept, number)
    } else this.#keeper.willSetMode(path, this.#places.at(path))
    this.#dress(path, before.mode, before.time)
  }

  #dress(path: string, mode: number, time: FileTime): void {
    const isLink = this.#look(path)?.isSymbolicLink() ?? false
    if (isLink !== ((mode & FORMAT) === LINK))
      throw Object.assign(new Error('something else is there'), { code: 'EEXIST' })
    if (!isLink) this.#places.withFile(path, (place) => chmodSync(place, mode & 0o7777))
    setFileTime(this.#places.at(path), time.seconds, time.nanoseconds)
  }

  #setFolderTime(path: string, time: FileTime): void {
    if (time.seconds === 0n) return
    try {
      // Its own entry: the name of a descriptor is a link, and that would be dated.
      setFileTime(this.#places.at(`${posix.dirname(path)}/.`), time.seconds, time.nanoseconds)
    } catch {
      // A folder that is gone has no time.
    }
  }
}
