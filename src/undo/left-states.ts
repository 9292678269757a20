/**
 * Files with a new ctime that nobody changed: those that undo restored, and those that the broker
 * kept for a failed change (`note_unchanged` in native/broker/keep.c). They let an earlier call be
 * undone too.
 */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeMade } from '../system/made-file.ts'
import { type CallStore, isInEffect, type KeptCall } from './call-store.ts'
import type { FileState } from './journal.ts'

const NAME = 'left'

/** A file's current state and the state it is equal to. */
export interface LeftState {
  readonly now: FileState
  readonly was: FileState
}

/** Stores what an undo left, in its call's folder. */
export function writeLeft(folder: string, states: readonly LeftState[]): void {
  const lines = states.map(({ now, was }) => `${now.inode} ${now.changed} ${was.inode} ${was.changed}\n`)
  writeMade(join(folder, NAME), lines.join(''))
}

/** All stored states, by current state. */
export class LeftStates {
  readonly #store: CallStore
  #states: ReadonlyMap<string, FileState> | null = null

  constructor(store: CallStore) {
    this.#store = store
  }

  /** Whether a file is unchanged since a time, apart from these. */
  isAsAt(file: FileState, time: bigint): boolean {
    let state: FileState | undefined = file
    // INVARIANT: the earlier state is older, so the loop ends.
    for (let last: bigint | null = null; state !== undefined; state = this.#read().get(keyOf(state))) {
      if (state.changed <= time) return true
      if (last !== null && state.changed >= last) return false
      last = state.changed
    }
    return false
  }

  #read(): ReadonlyMap<string, FileState> {
    if (this.#states !== null) return this.#states
    const states = new Map<string, FileState>()
    for (const { id } of this.#store.list()) {
      const path = join(this.#store.folderOf(id), NAME)
      if (!existsSync(path)) continue
      for (const line of readFileSync(path, 'utf8').split('\n')) {
        const [inode, changed, wasInode, wasChanged] = line.split(' ')
        if (wasChanged === undefined) continue
        states.set(`${inode} ${changed}`, { inode: BigInt(wasInode!), changed: BigInt(wasChanged) })
      }
    }
    this.#states = states
    return states
  }
}

function keyOf({ inode, changed }: FileState): string {
  return `${inode} ${changed}`
}

/** Paths that later calls changed and nobody restored. */
export function changedByLater(store: CallStore, call: KeptCall): ReadonlySet<string> {
  const { ended } = store.journalOf(call.id)
  const end = ended === null ? Number.POSITIVE_INFINITY : Number(ended.seconds) * 1000 + ended.nanoseconds / 1e6
  const paths = new Set<string>()
  for (const later of store.list()) {
    if (later.id <= call.id || !isInEffect(later) || Date.parse(later.about.at) > end) continue
    for (const { op, path, other } of store.journalOf(later.id).records)
      if (op !== 'refused' && op !== 'noted') paths.add(path).add(other)
  }
  return paths
}
