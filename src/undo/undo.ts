/** Undoes a call: replays its journal backwards through a keeper, so that it can be redone. */

import {
  type BigIntStats,
  chmodSync,
  constants,
  copyFileSync,
  lchownSync,
  linkSync,
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
import {
  type Conflict,
  conflictsOf,
  keptText,
  type PutKind,
  type PutRules,
  putsOf,
  refusedMove,
  statIn,
} from './conflicts.ts'
import { changesRepository, HeldPlaces, MovedPlace } from './held-place.ts'
import { type Before, type FileState, type FileTime, type JournalRecord, type Kept, keptName } from './journal.ts'
import { Keeper } from './keeper.ts'
import { changedByLater, type LeftState, LeftStates, writeLeft } from './left-states.ts'

export interface UndoResult {
  /** The undo's own call; null if nothing was done. */
  readonly id: string | null
  readonly conflicts: readonly Conflict[]
  /** Failed steps with their errors. */
  readonly failed: readonly { readonly path: string; readonly error: string }[]
  readonly steps: number
}

export interface UndoOptions {
  readonly force?: boolean
  /** Reports progress. */
  readonly onProgress?: (done: number, of: number) => void
}

const PROGRESS_STEPS = 1000

/** Undoes one call. Without `force` nothing is touched if anything has changed since. */
export function undoCall(store: CallStore, rules: PutRules, id: string, options: UndoOptions = {}): UndoResult {
  return store.alone(() => undoAlone(store, rules, id, options))
}

function undoAlone(store: CallStore, rules: PutRules, id: string, options: UndoOptions): UndoResult {
  const { force = false, onProgress } = options
  const journal = store.journalOf(id)
  const calls = store.list()
  const call = calls.find((one) => one.id === id)
  // Continuing from a changed tree would make its later changes impossible to restore.
  if (call && store.isUnderWay(call))
    return { id: null, conflicts: [{ path: call.about.what, what: 'still running' }], failed: [], steps: 0 }
  const conflicts = conflictsOf(journal, {
    left: new LeftStates(store),
    rules,
    folder: store.folderOf(id),
    later: call ? changedByLater(store, call) : new Set(),
  })
  if (!call || (conflicts.length > 0 && !force)) return { id: null, conflicts, failed: [], steps: 0 }
  const { roots, what, undoes } = call.about
  // A redo is a call by itself: it kept the current tree, and the first one has nothing left.
  const about =
    undoes === undefined
      ? { roots, what: `undo of ${id}: ${what}`, undoes: id }
      : { roots, what: calls.find((one) => one.id === undoes)?.about.what ?? what, redoes: undoes }
  const undo = store.begin(about)
  const keeper = new Keeper(undo.folder)
  const isChanged = new Set(conflicts.map(({ path }) => path))
  const replay = new Replay(keeper, store.folderOf(id), rules, isChanged)
  for (const [done, record] of journal.records.toReversed().entries()) {
    replay.reverse(record)
    if ((done + 1) % PROGRESS_STEPS === 0) onProgress?.(done + 1, journal.records.length)
  }
  replay.close()
  // Restored files need no kept copy. Before the end, because removal changes ctimes.
  if (replay.failed.length === 0) store.dropKept(id)
  writeLeft(undo.folder, replay.leftStates())
  keeper.close()
  store.markUndone(id, undo.id)
  return { id: undo.id, conflicts, failed: replay.failed, steps: replay.steps }
}

/** A step that would create what commands may not create. */
class ProtectedPut extends Error {
  readonly code = 'protected'
  readonly path: string

  constructor(path: string) {
    super(`${path} is protected`)
    this.path = path
  }
}

/** A file without attributes. */
const NO_ATTRIBUTES = Buffer.from('/proc/self/comm')
const FORMAT = 0o170000
const FOLDER = 0o040000
const LINK = 0o120000

/** Replays one journal backwards. */
class Replay {
  readonly failed: { path: string; error: string }[] = []
  steps = 0
  readonly #keeper: Keeper
  readonly #folder: string
  readonly #places = new HeldPlaces()
  /** Names that the call created and removed again. */
  readonly #absent = new Set<string>()
  /** Restored folders. */
  readonly #restored = new Set<string>()
  /** Changed paths with their states before the call. */
  #before = new Map<string, FileState>()
  /** When each inode was changed last before the call, whatever names it has. */
  readonly #changedAt = new Map<bigint, bigint>()
  readonly #rules: PutRules
  readonly #changed: ReadonlySet<string>

  /** `changed`: paths that are no longer as the call left them. */
  constructor(keeper: Keeper, folder: string, rules: PutRules, changed: ReadonlySet<string>) {
    this.#keeper = keeper
    this.#folder = folder
    this.#rules = rules
    this.#changed = changed
  }

  close(): void {
    this.#places.forget()
  }

  /** Current files with their states before the call. */
  leftStates(): LeftState[] {
    const states = [...this.#before].flatMap(([path, was]) => {
      const stat = statIn(this.#places, path)
      if (stat === null || stat === 'elsewhere' || stat.isDirectory() || was.changed === 0n) return []
      const changed = this.#changedAt.get(was.inode) ?? was.changed
      return [{ now: { inode: stat.ino, changed: stat.ctimeNs }, was: { inode: was.inode, changed } }]
    })
    this.#places.forget()
    return states
  }

  /** INVARIANT: the tree is only touched through `#places`, never behind a link. */
  reverse(record: JournalRecord): void {
    try {
      this.#reverse(record)
      this.steps++
    } catch (error) {
      const path = error instanceof ProtectedPut ? error.path : record.path
      this.failed.push({ path, error: errorCode(error) ?? String(error) })
    }
    this.#setFolderTime(record.path, record.folderTime)
    if (record.other !== '') this.#setFolderTime(record.other, record.otherFolderTime)
  }

  #reverse(record: JournalRecord): void {
    const { op, path, other, before } = record
    const puts = op === 'made' || op === 'mode' ? [] : other === '' ? [path] : [path, other]
    for (const one of puts)
      if (changesRepository(this.#places, one, this.#restored))
        throw Object.assign(new Error('it would be part of a git repository'), { code: 'REPOSITORY' })
    for (const put of putsOf(record)) this.#judgePut(put, record)
    const was: FileState = { inode: before.inode, changed: record.changed }
    if (op === 'made') this.#removeMade(record)
    else if (op === 'removed') this.#restore(path, record)
    else if (op === 'exchanged') this.#exchange(record)
    else if (op === 'written') this.#restoreContent(record)
    else if (op === 'mode') this.#setMode(path, record)
    if (op !== 'made' && op !== 'renamed' && op !== 'exchanged') this.#note(path, was)
    if (op !== 'renamed') return
    this.#restoreMove(record)
    if (before.mode === 0) return
    this.#restore(other, record)
    this.#note(other, { inode: before.inode, changed: record.otherChanged })
  }

  #judgePut({ path, kind }: { path: string; kind: PutKind }, record: JournalRecord): void {
    if (this.#absent.has(path)) return
    const isForeign = this.#changed.has(path) && this.#rules.isJudged(path)
    if (isForeign || this.#rules.refusedPut(path, kind, () => keptText(record, this.#folder)) !== null)
      throw new ProtectedPut(path)
  }

  #note(path: string, was: FileState): void {
    this.#before.set(path, was)
    if (was.changed !== 0n) this.#changedAt.set(was.inode, was.changed)
  }

  /** Its hard link lost a name, which changed the ctime. The state is noted by another name, if need be the kept one. */
  #noteUnlinked({ other, otherChanged }: JournalRecord, inode: bigint): void {
    if (otherChanged === 0n) return
    const name = [other, this.#keeper.keptFor ?? ''].find((one) => one !== '' && this.#stat(one)?.ino === inode)
    if (name !== undefined) this.#note(name, { inode, changed: otherChanged })
  }

  /** States move with their paths. */
  #moveStates(moves: readonly (readonly [from: string, to: string, changed: bigint])[]): void {
    const states = new Map<string, FileState>()
    for (const [path, state] of this.#before) {
      const move = moves.find(([from]) => path === from || path.startsWith(`${from}/`))
      states.set(move ? move[1] + path.slice(move[0].length) : path, state)
    }
    for (const [, to, changed] of moves) {
      const stat = this.#stat(to)
      if (stat) states.set(to, { inode: stat.ino, changed })
      if (stat && changed !== 0n) this.#changedAt.set(stat.ino, changed)
    }
    this.#before = states
  }

  #removeMade(record: JournalRecord): void {
    const { path } = record
    this.#before.delete(path)
    if (this.#absent.delete(path)) return
    const stat = this.#stat(path)
    if (!stat) return
    if (!stat.isDirectory()) {
      this.#keeper.willRemove(path, this.#places.at(path))
      unlinkSync(this.#places.at(path))
      this.#noteUnlinked(record, stat.ino)
      return
    }
    // Not recursively: other contents are not the call's.
    if (readdirSync(this.#places.at(path)).length > 0)
      throw Object.assign(new Error('not empty'), { code: 'ENOTEMPTY' })
    this.#keeper.willRemove(path, this.#places.at(path))
    rmdirSync(this.#places.at(path))
    this.#places.forget()
  }

  /**
   * What is at a path without following links, or null. Throws if the path now points elsewhere.
   */
  #stat(path: string): BigIntStats | null {
    const found = statIn(this.#places, path)
    if (found === 'elsewhere') throw new MovedPlace(path)
    return found
  }

  /** Both ends are opened without following links, one folder at a time. */
  #rename(from: string, to: string): void {
    const origin = new HeldPlaces()
    try {
      renameSync(origin.at(from), this.#places.at(to))
    } finally {
      origin.forget()
      this.#places.forget()
    }
  }

  #restore(path: string, { kept, number, before }: JournalRecord): void {
    if (kept === 'made') {
      this.#absent.add(path)
      return
    }
    const there = this.#stat(path)
    if (there && there.ino === before.inode) return
    if (there) throw Object.assign(new Error('something else is there now'), { code: 'EEXIST' })
    if ((before.mode & FORMAT) === FOLDER) {
      this.#keeper.willMake(path)
      mkdirSync(this.#places.at(path))
      this.#restored.add(path)
      this.#setAttributes(path, kept, number)
      this.#dress(path, before)
      return
    }
    if (kept === 'lost' || kept === 'none') throw Object.assign(new Error('not kept'), { code: 'NOT-KEPT' })
    this.#keeper.willMake(path, undefined, kept === 'link' ? join(this.#folder, keptName(number)) : undefined)
    if (kept === 'empty') writeFileSync(this.#places.at(path), '', { flag: 'wx' })
    else if (kept === 'copy' || !this.#link(path, number))
      copyFileSync(
        join(this.#folder, keptName(number)),
        this.#places.at(path),
        constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL,
      )
    else return
    this.#setAttributes(path, kept, number)
    this.#dress(path, before)
  }

  /** A copy has the attributes of its source. */
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

  #restoreMove({ path, other, changed }: JournalRecord): void {
    const isAbsent = this.#absent.has(other)
    this.#moveAbsent(other, path)
    if (isAbsent) return
    if (!this.#stat(other) && this.#stat(path)) return
    if (this.#stat(path)) throw Object.assign(new Error('something else is there now'), { code: 'EEXIST' })
    const refused = refusedMove(this.#rules, other, path)
    if (refused !== null) throw new ProtectedPut(refused)
    this.#keeper.willMove(other, path)
    this.#rename(other, path)
    this.#moveStates([[other, path, changed]])
  }

  /** Node has no exchange: rename through a third name. */
  #exchange({ path, other, changed, otherChanged }: JournalRecord): void {
    const [noPath, noOther] = [this.#absent.has(path), this.#absent.has(other)]
    this.#moveAbsent(path, `${path}\0`)
    this.#moveAbsent(other, path)
    this.#moveAbsent(`${path}\0`, other)
    if (noPath && noOther) return
    for (const [from, to] of [
      [path, other],
      [other, path],
    ] as const) {
      const refused = refusedMove(this.#rules, from, to)
      if (refused !== null) throw new ProtectedPut(refused)
    }
    if (noPath || noOther) {
      const [from, to] = noPath ? [other, path] : [path, other]
      this.#keeper.willMove(from, to)
      this.#rename(from, to)
      this.#moveStates([[from, to, noPath ? changed : otherChanged]])
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
    this.#moveStates([
      [path, other, otherChanged],
      [other, path, changed],
    ])
  }

  #freeName(folder: string): string {
    for (let number = 0; ; number++) {
      const path = `${folder}/.cordon-undo-${number}`
      if (!this.#stat(path)) return path
    }
  }

  #moveAbsent(from: string, to: string): void {
    for (const one of [...this.#absent].filter((name) => name === from || name.startsWith(`${from}/`))) {
      this.#absent.delete(one)
      this.#absent.add(to + one.slice(from.length))
    }
  }

  /** A name that others took: what is changed here would change for them, outside or under a protected name. */
  #refuseShared(path: string, { nlink, ino, mode }: BigIntStats, before: Before): void {
    if ((Number(mode) & FORMAT) !== (before.mode & FORMAT))
      throw Object.assign(new Error('something else is there now'), { code: 'EEXIST' })
    if ((before.mode & FORMAT) !== FOLDER && nlink > 1n && (ino !== before.inode || this.#changed.has(path)))
      throw Object.assign(new Error('the file has other names now'), { code: 'EMLINK' })
  }

  #restoreContent(record: JournalRecord): void {
    const { path, kept, number, before } = record
    if (this.#absent.has(path)) return
    const stat = this.#stat(path)
    if (stat?.isFile() !== true) throw Object.assign(new Error('no file any more'), { code: 'ENOENT' })
    if (kept === 'lost') throw Object.assign(new Error('not kept'), { code: 'NOT-KEPT' })
    this.#refuseShared(path, stat, before)
    this.#keeper.willWrite(path, this.#places.at(path))
    this.#places.withFile(path, (place) => {
      // By descriptor: a pipe in its place would block this process.
      if (!statSync(place).isFile()) throw Object.assign(new Error('no file any more'), { code: 'ENOENT' })
      chmodSync(place, 0o600)
      // In place, so that hard links stay.
      if (kept === 'empty') writeFileSync(place, '')
      else copyFileSync(join(this.#folder, keptName(number)), place, constants.COPYFILE_FICLONE)
    })
    this.#setAttributes(path, kept, number)
    this.#dress(path, before)
  }

  #setMode(path: string, { before, kept, number }: JournalRecord): void {
    const stat = this.#absent.has(path) ? null : this.#stat(path)
    if (!stat) return
    if (kept === 'lost') throw Object.assign(new Error('not kept'), { code: 'NOT-KEPT' })
    this.#refuseShared(path, stat, before)
    if (kept === 'attributes') {
      this.#keeper.willSetAttributes(path, this.#places.at(path))
      this.#setAttributes(path, kept, number)
    } else this.#keeper.willSetMode(path, this.#places.at(path))
    this.#dress(path, before)
  }

  #dress(path: string, { mode, group, time }: Before): void {
    const stat = this.#stat(path)
    const isLink = stat?.isSymbolicLink() ?? false
    if (isLink !== ((mode & FORMAT) === LINK))
      throw Object.assign(new Error('something else is there now'), { code: 'EEXIST' })
    // Before the mode: changing the group clears set-id bits.
    if (stat && typeof group === 'number' && Number(stat.gid) !== group)
      lchownSync(this.#places.at(path), Number(stat.uid), group)
    if (!isLink) this.#places.withFile(path, (place) => chmodSync(place, mode & 0o7777))
    setFileTime(this.#places.at(path), time.seconds, time.nanoseconds)
  }

  #setFolderTime(path: string, time: FileTime): void {
    if (time.seconds === 0n) return
    try {
      // Through the directory entry: a descriptor's name is a link, which would get the time
      // instead.
      setFileTime(this.#places.at(`${posix.dirname(path)}/.`), time.seconds, time.nanoseconds)
    } catch {
      // A removed folder has no time.
    }
  }
}
