/** Compares remembered folders with the disk, as fast as that can be done for a big tree. */

import { closeSync, constants, lstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { onNextTurn } from '../../system/next-turn.ts'
import { FolderSweep } from './sweep.ts'

/** The state of a folder on disk. */
export interface FolderState {
  readonly ctime: number
  readonly inode: number
  readonly device: number
}

/** `O_PATH` of Linux: a handle for the place alone, which needs no right to read it. */
const O_PATH = 0x200000
/** From this many folders on handles pay: asking by handle takes half as long as by path. */
const HANDLES_FROM = 2_000
/** Handles are opened in idle moments, so many at a time. */
const BATCH = 250
/** This share of the process's open files may be handles, and never more than so many: each makes a spawn a little slower. */
const SHARE = 0.6
const MOST_HANDLES = 50_000

interface Tracked extends FolderState {
  readonly path: string
}

interface Handle {
  readonly descriptor: number
  readonly slot: number
}

/**
 * Tells which of many folders changed. A handle stays with its folder wherever that is moved, so its answer is about the
 * folder and not about the path: whoever reads a changed parent must look at its children by path.
 */
export class FolderClock {
  readonly #tracked = new Map<string, Tracked>()
  /** Folders without a handle, which are asked for by path. */
  readonly #loose = new Set<string>()
  readonly #handles = new Map<string, Handle>()
  /** The path of each slot. */
  readonly #paths: string[] = []
  readonly #from: number
  #budget: number | null = null
  #sweep: FolderSweep | null = null
  #next: NodeJS.Immediate | null = null

  constructor(from: number = HANDLES_FROM) {
    this.#from = from
  }

  /** Remembers the state in which a folder was read. */
  track(folder: Tracked): void {
    const known = this.#tracked.get(folder.path)
    if (known && (known.inode !== folder.inode || known.device !== folder.device)) this.#release(folder.path)
    this.#tracked.set(folder.path, folder)
    const handle = this.#handles.get(folder.path)
    if (handle) this.#sweep?.expect(handle.slot, folder)
    else this.#loose.add(folder.path)
  }

  /** Forgets a folder that is not in the tree any more. */
  forget(path: string): void {
    this.#release(path)
    this.#tracked.delete(path)
    this.#loose.delete(path)
  }

  /** Every folder that is not as it was, or is gone. What stands above the roots is not tracked, so they go by path. */
  changed(roots: readonly string[]): readonly string[] {
    const changed = this.#sweep === null ? [] : this.#sweep.changed().map((slot) => this.#paths[slot]!)
    const byPath = (path: string): void => {
      const tracked = this.#tracked.get(path)
      if (tracked && !isSameState(tracked, folderState(path))) changed.push(path)
    }
    for (const path of this.#loose) byPath(path)
    for (const root of roots) if (!this.#loose.has(root)) byPath(root)
    return changed
  }

  /** Opens handles for the folders of a big tree while nothing else is to be done. */
  openInIdleTime(): void {
    if (this.#next !== null || this.#tracked.size < this.#from || this.#loose.size === 0) return
    if (this.#budget !== null && this.#handles.size >= this.#budget) return
    const pending = [...this.#loose].values()
    const step = (): void => {
      this.#next = null
      if (this.open(pending, BATCH)) this.#next = onNextTurn(step)
    }
    this.#next = onNextTurn(step)
  }

  /** Opens at most `limit` handles, of all folders unless told; false when there is nothing more to open. */
  open(paths: Iterator<string> = [...this.#loose].values(), limit: number = Number.POSITIVE_INFINITY): boolean {
    this.#budget ??= handleBudget()
    this.#sweep ??= new FolderSweep(this.#budget)
    for (let opened = 0; opened < limit; opened++) {
      const { value: path, done } = paths.next()
      if (done || this.#handles.size >= this.#budget) return false
      const tracked = this.#tracked.get(path)
      if (!tracked || this.#handles.has(path)) continue
      try {
        const flags = constants.O_DIRECTORY | constants.O_NOFOLLOW | O_PATH
        const descriptor = openSync(path, flags)
        const slot = this.#sweep.add(descriptor, tracked)
        if (slot === null) {
          closeSync(descriptor)
          return false
        }
        this.#paths[slot] = path
        this.#handles.set(path, { descriptor, slot })
        this.#loose.delete(path)
      } catch {
        // Gone or out of reach: it goes by path, as before.
      }
    }
    return true
  }

  close(): void {
    if (this.#next !== null) clearImmediate(this.#next)
    this.#next = null
    for (const path of [...this.#handles.keys()]) this.#release(path)
    this.#sweep?.close()
    this.#sweep = null
  }

  #release(path: string): void {
    const handle = this.#handles.get(path)
    if (handle === undefined) return
    this.#handles.delete(path)
    this.#sweep?.remove(handle.slot)
    closeSync(handle.descriptor)
    if (this.#tracked.has(path)) this.#loose.add(path)
  }
}

/** True when both are the same folder in the same state. */
export function isSameState(a: FolderState, b: FolderState | null): boolean {
  return b !== null && a.ctime === b.ctime && a.inode === b.inode && a.device === b.device
}

/** The state of what a path leads to, links not followed; null when that is no folder. */
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

function handleBudget(): number {
  if (process.platform !== 'linux') return 0
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return Math.min(Math.floor(Number(limit ?? 0) * SHARE), MOST_HANDLES)
  } catch {
    return 0
  }
}
