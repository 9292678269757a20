/** Compares remembered folders with the disk; of a big tree the kernel notes the changes. */

import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats, statfsSync } from 'node:fs'
import { attempt } from '../../system/fault.ts'
import { FolderWatches } from '../../system/file-addon.ts'
import { onNextTurn } from '../../system/timing.ts'

/** The state of a folder on disk. */
interface FolderState {
  readonly ctime: number
  readonly inode: number
  readonly device: number
}

/** `O_PATH` of Linux: a handle for the place alone, which needs no right to read it. */
const O_PATH = 0x200000
/** From this many folders on watches pay: they take time to set up and to end. */
const WATCHED_FROM = 2_000
/** Watches are set up in idle moments, so many at a time. */
const BATCH = 250
/** This share of the user's watches: editors have some, and commands get up to half. */
const SHARE = 0.25
/** Local file systems, which report every change: ext, xfs, btrfs, tmpfs, f2fs, zfs, bcachefs. */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0xf2f52010, 0x2fc12fc1, 0xca451a4e,
])

interface TrackedFolder extends FolderState {
  readonly path: string
}

/**
 * Reports which of many folders changed. A watch follows its folder when that moves, so its answer
 * is about the folder and not the path: after a change of the parent, its children must be checked
 * by path.
 */
export class FolderClock {
  readonly #tracked = new Map<string, TrackedFolder>()
  /** Folders without a watch, which are checked by path. */
  readonly #loose = new Set<string>()
  readonly #watched = new Map<string, number>()
  /** The path of each watch. */
  readonly #paths = new Map<number, string>()
  readonly #localDevices = new Map<number, boolean>()
  readonly #from: number
  readonly #most: () => number
  #budget: number | null = null
  #watches: FolderWatches | null = null
  #next: NodeJS.Timeout | null = null

  /** `from`: how many folders a tree has that is watched; `most`: how many watches there may be. */
  constructor(from: number = WATCHED_FROM, most: () => number = watchBudget) {
    this.#from = from
    this.#most = most
  }

  /** Remembers the state in which a folder was read. */
  track(folder: TrackedFolder): void {
    const known = this.#tracked.get(folder.path)
    if (known && (known.inode !== folder.inode || known.device !== folder.device)) this.#release(folder.path)
    this.#tracked.set(folder.path, folder)
    if (!this.#watched.has(folder.path)) this.#loose.add(folder.path)
  }

  /** Forgets a folder that is not in the tree any more. */
  forget(path: string): void {
    this.#release(path)
    this.#tracked.delete(path)
    this.#loose.delete(path)
  }

  /** Every folder that changed or is gone. Roots are checked by path: nothing above is tracked. */
  changed(roots: readonly string[]): readonly string[] {
    const changed = new Set<string>()
    const byPath = (path: string): void => {
      const tracked = this.#tracked.get(path)
      if (tracked && !isSameState(tracked, folderState(path))) changed.add(path)
    }
    if (this.#watches !== null) {
      const { watches, ended, lost } = this.#watches.changes()
      if (lost) for (const path of this.#watched.keys()) byPath(path)
      for (const watch of watches) {
        const path = this.#paths.get(watch)
        if (path === undefined) continue
        changed.add(path)
        if (ended.has(watch)) this.#release(path)
      }
    }
    for (const path of this.#loose) byPath(path)
    for (const root of roots) byPath(root)
    return [...changed]
  }

  /** Watches the folders of a big tree from now on; set up while nothing else is to be done. */
  watchInIdleTime(): void {
    if (this.#next !== null || this.#tracked.size < this.#from || this.#loose.size === 0) return
    if (this.#budget !== null && this.#watched.size >= this.#budget) return
    const pending = [...this.#loose].values()
    const step = (): void => {
      this.#next = null
      if (this.watch(pending, BATCH)) this.#next = onNextTurn(step)
    }
    this.#next = onNextTurn(step)
  }

  /** Watches at most `limit` more folders, by default all; false if nothing is left. */
  watch(paths: Iterator<string> = [...this.#loose].values(), limit: number = Number.POSITIVE_INFINITY): boolean {
    this.#budget ??= this.#most()
    if (this.#budget > 0) this.#watches ??= FolderWatches.open()
    if (this.#watches === null) this.#budget = 0
    for (let added = 0; added < limit; added++) {
      const { value: path, done } = paths.next()
      if (done || this.#watched.size >= this.#budget) return false
      const tracked = this.#tracked.get(path)
      if (tracked && this.#loose.has(path)) this.#watch(tracked)
    }
    return true
  }

  close(): void {
    if (this.#next !== null) clearTimeout(this.#next)
    this.#next = null
    for (const path of this.#watched.keys()) this.#loose.add(path)
    this.#watched.clear()
    this.#paths.clear()
    this.#watches?.close()
    this.#watches = null
    this.#budget = null
  }

  /** The watch counts only if the folder still has the remembered state. */
  #watch(tracked: TrackedFolder): void {
    let descriptor: number
    try {
      descriptor = openSync(tracked.path, constants.O_DIRECTORY | constants.O_NOFOLLOW | O_PATH)
    } catch {
      // Gone or out of reach: it goes by path, as before.
      return
    }
    try {
      // The watched folder is the compared one, whatever the path points to by then.
      if (!this.#isLocal(tracked.device, descriptor)) return
      const watch = this.#watches?.add(descriptor) ?? null
      // The same folder under another path has this one already: mounted twice, or being moved.
      if (watch === null || this.#paths.has(watch)) return
      if (!isSameState(tracked, stateFrom(fstatSync(descriptor)))) {
        this.#watches?.remove(watch)
        return
      }
      this.#paths.set(watch, tracked.path)
      this.#watched.set(tracked.path, watch)
      this.#loose.delete(tracked.path)
    } finally {
      closeSync(descriptor)
    }
  }

  #isLocal(device: number, descriptor: number): boolean {
    const known = this.#localDevices.get(device)
    if (known !== undefined) return known
    if (fstatSync(descriptor).dev !== device) return false
    const local = LOCAL_TYPES.has(statfsSync(`/proc/self/fd/${descriptor}`).type)
    this.#localDevices.set(device, local)
    return local
  }

  #release(path: string): void {
    const watch = this.#watched.get(path)
    if (watch === undefined) return
    this.#watched.delete(path)
    this.#paths.delete(watch)
    this.#watches?.remove(watch)
    if (this.#tracked.has(path)) this.#loose.add(path)
  }
}

/** True when both are the same folder in the same state. */
export function isSameState(a: FolderState, b: FolderState | null): boolean {
  return b !== null && a.ctime === b.ctime && a.inode === b.inode && a.device === b.device
}

/** The state of a path's folder, without following links; null if it is not a folder. */
export function folderState(path: string): FolderState | null {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    return stat === undefined ? null : stateFrom(stat)
  } catch {
    // Not to be reached any more: as good as gone, and judged again from its parent.
    return null
  }
}

function stateFrom(stat: Stats): FolderState | null {
  return stat.isDirectory() ? { ctime: stat.ctimeMs, inode: stat.ino, device: stat.dev } : null
}

function watchBudget(): number {
  if (process.platform !== 'linux') return 0
  return attempt(() => Math.floor(Number(readFileSync('/proc/sys/fs/inotify/max_user_watches', 'utf8')) * SHARE), 0)
}
