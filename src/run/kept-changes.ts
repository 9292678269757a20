/**
 * Keeps what one call of a file tool changes, so that `cordon undo` restores it like a command's
 * changes.
 */

import type { ChangeKeeper } from '../system/guarded/keeper.ts'
import { CallStore } from '../undo/call-store.ts'
import { Keeper } from '../undo/keeper.ts'
import { type NetChanges, netChanges } from '../undo/net-changes.ts'

/** The changes of a call, and its name for undo. */
export interface CallChanges extends NetChanges {
  readonly call: string | null
}

export interface KeptCallAbout {
  readonly roots: readonly string[]
  readonly what: string
  readonly session?: string
}

const MAX_NAME = 200

/** The changes of one call. A call without changes creates nothing. */
export class KeptChanges implements ChangeKeeper {
  readonly #store: CallStore
  readonly #about: () => KeptCallAbout
  #open: { readonly id: string; readonly keeper: Keeper } | null = null

  constructor(stateDir: string, about: () => KeptCallAbout) {
    this.#store = new CallStore(stateDir)
    this.#about = about
  }

  willMake(path: string, folderTime?: bigint): void {
    this.#keeper().willMake(path, folderTime)
  }

  willReplace(path: string, at: string, folderTime?: bigint): void {
    this.#keeper().willReplace(path, at, folderTime)
  }

  willRemove(path: string, at: string): void {
    this.#keeper().willRemove(path, at)
  }

  willMove(path: string, other: string): void {
    this.#keeper().willMove(path, other)
  }

  willSetMode(path: string, at: string): void {
    this.#keeper().willSetMode(path, at)
  }

  wasNotMade(): void {
    this.#open?.keeper.wasNotMade()
  }

  /** Ends the record; null without changes. */
  end(): CallChanges | null {
    if (this.#open === null) return null
    const { id, keeper } = this.#open
    this.#open = null
    keeper.close()
    const { records } = this.#store.settle(id)
    return records.length === 0 ? null : { ...netChanges(records), call: id }
  }

  #keeper(): Keeper {
    if (this.#open === null) {
      const { what, ...about } = this.#about()
      const name = what.length > MAX_NAME ? `${what.slice(0, MAX_NAME)}…` : what
      const { id, folder } = this.#store.begin({ ...about, what: name })
      this.#open = { id, keeper: new Keeper(folder) }
    }
    return this.#open.keeper
  }
}
