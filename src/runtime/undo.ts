/** What `cordon undo` does: the calls of this person's projects, put back one by one, the last one first. */

import { machineFiles } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { CallStore, DEFAULT_PRUNE, type KeptCall } from '../undo/call-store.ts'
import { type NetChanges, netChanges } from '../undo/net-changes.ts'
import { type Conflict, conflictsOf, type UndoResult, undoCall } from '../undo/undo.ts'
import { findRoot } from './policy/project-root.ts'

export type { KeptCall } from '../undo/call-store.ts'
export type { NetChanges } from '../undo/net-changes.ts'
export type { Conflict, UndoResult } from '../undo/undo.ts'

/** A call with what it changed and whether that is still so. */
export interface ShownCall extends KeptCall {
  readonly changes: NetChanges
  readonly conflicts: readonly Conflict[]
}

/** The calls of the project in which the person stands. */
export class ProjectUndo {
  readonly #store: CallStore
  readonly #root: string

  constructor(machine: Machine) {
    this.#store = new CallStore(machine.stateDir)
    this.#root = findRoot(machine.cwd, machineFiles)
  }

  /** The last one first. */
  calls(): KeptCall[] {
    return this.#store.list().filter(({ about }) => about.roots.includes(this.#root))
  }

  show(call: KeptCall): ShownCall {
    const journal = this.#store.journalOf(call.id)
    return { ...call, changes: netChanges(journal.records), conflicts: conflictsOf(journal) }
  }

  undo(call: KeptCall, force: boolean): UndoResult {
    return undoCall(this.#store, call.id, { force })
  }

  prune(): string[] {
    return this.#store.prune(DEFAULT_PRUNE)
  }
}
