/** Asks for the state of many open folders at once, on two threads that share the work. */

import { fstatSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'

/** Folders are handed out in blocks of this many. */
const BLOCK_BITS = 8
const BLOCK: number = 1 << BLOCK_BITS
/** How long to wait for a block that the other thread has begun, before asking oneself. */
const PATIENCE_MS = 4
const FIELDS = 3

const ROUND = 0
const CURSOR = 1
const BLOCKS = 2
const CONTROLS = 3

// A string, so that a bundled command line needs no second file.
const SOURCE = `
const { fstatSync } = require('node:fs')
const { control, descriptors, states, done } = require('node:worker_threads').workerData
let round = 0
for (;;) {
  Atomics.wait(control, ${ROUND}, round)
  round = Atomics.load(control, ${ROUND})
  if (round < 0) break
  for (;;) {
    const block = Atomics.add(control, ${CURSOR}, 1)
    if (block >= Atomics.load(control, ${BLOCKS})) break
    const now = Atomics.load(control, ${ROUND})
    for (let slot = block * ${BLOCK}; slot < (block + 1) * ${BLOCK}; slot++) {
      const descriptor = Atomics.load(descriptors, slot)
      let stat
      try { if (descriptor >= 0) stat = fstatSync(descriptor) } catch {}
      states[slot * ${FIELDS}] = stat && stat.isDirectory() ? stat.ctimeMs : NaN
      states[slot * ${FIELDS} + 1] = stat ? stat.ino : NaN
      states[slot * ${FIELDS} + 2] = stat ? stat.dev : NaN
    }
    Atomics.store(done, block, now)
    Atomics.notify(done, block)
  }
}
`

/** What is compared of a folder. */
export interface SweptState {
  readonly ctime: number
  readonly inode: number
  readonly device: number
}

/**
 * A table of open folders. Each thread writes answers into a table of its own, and a block of the other thread counts
 * only when it was begun and finished in the same round: a thread that was held up cannot pass off an old answer.
 */
export class FolderSweep {
  readonly #descriptors: Int32Array<SharedArrayBuffer>
  readonly #control = shared(CONTROLS)
  readonly #done: Int32Array<SharedArrayBuffer>
  readonly #theirs: Float64Array
  readonly #ours: Float64Array
  readonly #expected: Float64Array
  readonly #byThem: Uint8Array
  readonly #free: number[] = []
  #worker: Worker | null = null
  #high = 0
  #round = 0

  constructor(capacity: number) {
    const blocks = Math.ceil(capacity / BLOCK)
    this.#descriptors = shared(blocks * BLOCK).fill(-1)
    this.#done = shared(blocks)
    this.#theirs = new Float64Array(new SharedArrayBuffer(blocks * BLOCK * FIELDS * 8))
    this.#ours = new Float64Array(blocks * BLOCK * FIELDS)
    this.#expected = new Float64Array(blocks * BLOCK * FIELDS)
    this.#byThem = new Uint8Array(blocks)
  }

  /** Enters an open folder with the state it should be in; returns its slot, or null when the table is full. */
  add(descriptor: number, state: SweptState): number | null {
    const slot = this.#free.pop() ?? this.#high
    if (slot >= this.#descriptors.length) return null
    this.#high = Math.max(this.#high, slot + 1)
    Atomics.store(this.#descriptors, slot, descriptor)
    this.expect(slot, state)
    return slot
  }

  /** Notes the state in which a folder should be from now on. */
  expect(slot: number, state: SweptState): void {
    this.#expected[slot * FIELDS] = state.ctime
    this.#expected[slot * FIELDS + 1] = state.inode
    this.#expected[slot * FIELDS + 2] = state.device
  }

  remove(slot: number): void {
    Atomics.store(this.#descriptors, slot, -1)
    this.#free.push(slot)
  }

  /** Asks for every folder of the table and returns the slots of those that are not as expected. */
  changed(): number[] {
    this.#ask()
    const changed: number[] = []
    for (let slot = 0; slot < this.#high; slot++) {
      const answers = this.#byThem[slot >> BLOCK_BITS] === 1 ? this.#theirs : this.#ours
      const at = slot * FIELDS
      const same =
        answers[at] === this.#expected[at] &&
        answers[at + 1] === this.#expected[at + 1] &&
        answers[at + 2] === this.#expected[at + 2]
      if (!same && this.#descriptors[slot]! >= 0) changed.push(slot)
    }
    return changed
  }

  close(): void {
    Atomics.store(this.#control, ROUND, -1)
    Atomics.store(this.#control, BLOCKS, 0)
    Atomics.notify(this.#control, ROUND)
    void this.#worker?.terminate()
    this.#worker = null
  }

  #ask(): void {
    const blocks = Math.ceil(this.#high / BLOCK)
    this.#round++
    this.#startWorker()
    Atomics.store(this.#control, BLOCKS, blocks)
    Atomics.store(this.#control, ROUND, this.#round)
    Atomics.store(this.#control, CURSOR, 0)
    Atomics.notify(this.#control, ROUND)
    this.#byThem.fill(1)
    for (;;) {
      const block = Atomics.add(this.#control, CURSOR, 1)
      if (block >= blocks) break
      this.#askBlock(block)
    }
    for (let block = 0; block < blocks; block++) {
      if (this.#byThem[block] === 0) continue
      const done = Atomics.load(this.#done, block)
      if (done !== this.#round) Atomics.wait(this.#done, block, done, PATIENCE_MS)
      if (Atomics.load(this.#done, block) !== this.#round) this.#askBlock(block)
    }
  }

  #askBlock(block: number): void {
    this.#byThem[block] = 0
    const end = Math.min((block + 1) * BLOCK, this.#high)
    for (let slot = block * BLOCK; slot < end; slot++) {
      const descriptor = this.#descriptors[slot]!
      const at = slot * FIELDS
      this.#ours[at] = Number.NaN
      if (descriptor < 0) continue
      try {
        const stat = fstatSync(descriptor)
        if (!stat.isDirectory()) continue
        this.#ours[at] = stat.ctimeMs
        this.#ours[at + 1] = stat.ino
        this.#ours[at + 2] = stat.dev
      } catch {
        // A handle that does not answer is no folder any more.
      }
    }
  }

  // One is enough: what counts is the second core, and without it the work is done all the same.
  #startWorker(): void {
    if (this.#worker !== null || process.getBuiltinModule('node:os').availableParallelism() < 2) return
    const workerData = {
      control: this.#control,
      descriptors: this.#descriptors,
      states: this.#theirs,
      done: this.#done,
    }
    try {
      // Loaded here, because only a long session in a big tree needs it and start-up counts.
      const { Worker } = process.getBuiltinModule('node:worker_threads')
      this.#worker = new Worker(SOURCE, { eval: true, workerData, env: {}, execArgv: [], name: 'masks' })
      this.#worker.unref()
      // A thread that failed leaves its blocks undone, and those are asked for here.
      this.#worker.on('error', () => {})
    } catch {
      this.#worker = null
    }
  }
}

function shared(length: number): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(length * 4))
}
