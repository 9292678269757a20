/** Reads the change times of many folders, in a big tree on two threads at once. */

import { lstatSync } from 'node:fs'
import { Worker } from 'node:worker_threads'

/** The state of a folder on disk. */
export interface FolderState {
  readonly ctime: number
  readonly inode: number
  readonly device: number
}

/** From this many folders on a second thread pays for itself. */
const SHARED_FROM = 2_500
/** How long to wait for the second thread before doing its part here. */
const PATIENCE_MS = 500

const HEADER = 4
const FIELDS = 3

// A string, so that a bundled command line needs no second file.
const SOURCE = `
const { lstatSync } = require('node:fs')
const { workerData } = require('node:worker_threads')
const flags = new Int32Array(workerData.memory, 0, ${HEADER})
const times = new Float64Array(workerData.memory, ${HEADER * 4})
let round = 0
Atomics.store(flags, 2, 1)
for (;;) {
  Atomics.wait(flags, 0, round)
  round = Atomics.load(flags, 0)
  if (round < 0) break
  for (let index = 0, at = 0; index < workerData.paths.length; index++, at += ${FIELDS}) {
    let stat
    try { stat = lstatSync(workerData.paths[index], { throwIfNoEntry: false }) } catch {}
    times[at] = stat && stat.isDirectory() ? stat.ctimeMs : NaN
    times[at + 1] = stat ? stat.ino : NaN
    times[at + 2] = stat ? stat.dev : NaN
  }
  Atomics.store(flags, 1, round)
  Atomics.notify(flags, 1)
}
`

interface Share {
  readonly worker: Worker
  readonly flags: Int32Array
  readonly times: Float64Array
  readonly paths: readonly string[]
  readonly position: ReadonlyMap<string, number>
  round: number
}

/** Compares remembered folders with the disk. The second thread only ever saves time: without it the answer is the same. */
export class FolderClock {
  #share: Share | null = null
  #failed = false

  /** Calls back for every folder with its state on disk, or null when it is no folder any more. */
  check<F extends { readonly path: string }>(
    folders: ReadonlyMap<string, F>,
    visit: (folder: F, state: FolderState | null) => void,
  ): void {
    const share = this.#usableShare(folders)
    if (share) this.#begin(share)
    const shared: F[] = []
    for (const folder of folders.values()) {
      if (share?.position.has(folder.path)) shared.push(folder)
      else visit(folder, stateOf(folder.path))
    }
    if (!share) return
    const done = this.#finish(share)
    for (const folder of shared) {
      visit(folder, done ? sharedState(share, share.position.get(folder.path)!) : stateOf(folder.path))
    }
  }

  close(): void {
    const share = this.#share
    this.#share = null
    if (!share) return
    Atomics.store(share.flags, 0, -1)
    Atomics.notify(share.flags, 0)
    void share.worker.terminate()
  }

  #usableShare(folders: ReadonlyMap<string, { readonly path: string }>): Share | null {
    if (folders.size < SHARED_FROM || this.#failed) return null
    const wanted = folders.size >> 1
    const current = this.#share
    if (current && Math.abs(current.paths.length - wanted) < wanted / 2) {
      return Atomics.load(current.flags, 2) === 1 ? current : null
    }
    this.close()
    const paths: string[] = []
    let index = 0
    for (const path of folders.keys()) if (index++ % 2 === 1) paths.push(path)
    this.#share = this.#start(paths)
    // It starts up in the background; this round is done without it.
    return null
  }

  #start(paths: readonly string[]): Share | null {
    const memory = new SharedArrayBuffer(HEADER * 4 + paths.length * FIELDS * 8)
    try {
      const worker = new Worker(SOURCE, {
        eval: true,
        workerData: { memory, paths },
        env: {},
        execArgv: [],
        name: 'masks',
      })
      worker.unref()
      worker.once('error', () => {
        this.#failed = true
      })
      return {
        worker,
        flags: new Int32Array(memory, 0, HEADER),
        times: new Float64Array(memory, HEADER * 4),
        paths,
        position: new Map(paths.map((path, index) => [path, index])),
        round: 0,
      }
    } catch {
      this.#failed = true
      return null
    }
  }

  #begin(share: Share): void {
    share.round++
    Atomics.store(share.flags, 0, share.round)
    Atomics.notify(share.flags, 0)
  }

  #finish(share: Share): boolean {
    for (;;) {
      const done = Atomics.load(share.flags, 1)
      if (done === share.round) return true
      if (Atomics.wait(share.flags, 1, done, PATIENCE_MS) === 'timed-out') {
        this.#failed = true
        this.close()
        return false
      }
    }
  }
}

function stateOf(path: string): FolderState | null {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    return stat?.isDirectory() ? { ctime: stat.ctimeMs, inode: stat.ino, device: stat.dev } : null
  } catch {
    // Not to be reached any more: as good as gone, and judged again from its parent.
    return null
  }
}

function sharedState(share: Share, index: number): FolderState | null {
  const at = index * FIELDS
  const ctime = share.times[at]!
  if (Number.isNaN(ctime)) return null
  return { ctime, inode: share.times[at + 1]!, device: share.times[at + 2]! }
}
