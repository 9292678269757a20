/** Compares remembered folders with the disk, as fast as that can be done for a big tree. */

import { closeSync, constants, lstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { FolderSweep } from './secrets-sweep.ts'

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

interface Handle {
  readonly descriptor: number
  readonly slot: number
}

/**
 * Asks for the state of folders, by handle where there is one. A handle stays with its folder wherever that is moved, so
 * its answer is about the folder and not about the path: whoever reads a changed parent looks at its children by path.
 */
export class FolderClock {
  readonly #handles = new Map<string, Handle>()
  readonly #from: number
  #budget: number | null = null
  #sweep: FolderSweep | null = null
  #next: NodeJS.Immediate | null = null

  constructor(from: number = HANDLES_FROM) {
    this.#from = from
  }

  /** Asks all handles at once; `isUnchanged` answers from that. */
  ask(): void {
    if (this.#handles.size > 0) this.#sweep?.sweep()
  }

  /** True when a remembered folder is as it was. `byPath` insists on what the path leads to. */
  isUnchanged(folder: { readonly path: string } & FolderState, byPath: boolean): boolean {
    const handle = byPath ? undefined : this.#handles.get(folder.path)
    if (handle === undefined || this.#sweep === null) return isSameState(folder, folderState(folder.path))
    return this.#sweep.isUnchanged(handle.slot, folder)
  }

  /** Opens handles for the folders of a big tree while nothing else is to be done. */
  openInIdleTime(folders: ReadonlyMap<string, { readonly path: string } & FolderState>): void {
    if (this.#next !== null || folders.size < this.#from || this.#handles.size >= folders.size) return
    const pending = folders.values()
    const step = (): void => {
      this.#next = null
      if (this.open(pending, BATCH)) this.#next = setImmediate(step).unref()
    }
    this.#next = setImmediate(step).unref()
  }

  /** Opens at most `limit` handles; false when there is nothing more to open. */
  open(folders: Iterator<{ readonly path: string } & FolderState>, limit: number): boolean {
    this.#budget ??= handleBudget()
    this.#sweep ??= new FolderSweep(this.#budget)
    for (let opened = 0; opened < limit; ) {
      const { value: folder, done } = folders.next()
      if (done || this.#handles.size >= this.#budget) return false
      if (this.#handles.has(folder.path)) continue
      opened++
      try {
        const flags = constants.O_DIRECTORY | constants.O_NOFOLLOW | O_PATH
        const descriptor = openSync(folder.path, flags)
        const slot = this.#sweep.add(descriptor)
        if (slot === null) closeSync(descriptor)
        else this.#handles.set(folder.path, { descriptor, slot })
      } catch {
        // Gone or out of reach: the next refresh asks by path.
      }
    }
    return true
  }

  /** Closes the handle of a folder that is not remembered any more. */
  forget(path: string): void {
    const handle = this.#handles.get(path)
    if (handle === undefined) return
    this.#handles.delete(path)
    this.#sweep?.remove(handle.slot)
    closeSync(handle.descriptor)
  }

  close(): void {
    if (this.#next !== null) clearImmediate(this.#next)
    this.#next = null
    for (const path of [...this.#handles.keys()]) this.forget(path)
    this.#sweep?.close()
    this.#sweep = null
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
