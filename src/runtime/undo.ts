/** What `cordon undo` does: the calls of this person's projects, put back one by one, the last one first. */

import { spawnSync } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { machineFiles } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { CallStore, DEFAULT_PRUNE, type KeptCall } from '../undo/call-store.ts'
import { contentsBefore } from '../undo/contents.ts'
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

  /** `onProgress`: told how many steps are done, of how many. */
  undo(call: KeptCall, force: boolean, onProgress?: (done: number, of: number) => void): UndoResult {
    return undoCall(this.#store, call.id, { force, ...(onProgress && { onProgress }) })
  }

  /** What a call changed in plain files, as unified diffs, each path by itself; of a path without one nothing is known or comparable. */
  diffs(call: KeptCall): ReadonlyMap<string, string> {
    const { records } = this.#store.journalOf(call.id)
    const { made, changed, removed } = netChanges(records)
    const before = contentsBefore(records)
    const folder = this.#store.folderOf(call.id)
    const diffs = new Map<string, string>()
    for (const path of [...changed, ...removed, ...made].slice(0, MAX_DIFFS)) {
      const content = before.get(path)
      if (content === undefined) continue
      const old = typeof content === 'string' ? NOTHING : join(folder, String(content.kept))
      const text = unifiedDiff(path, old, removed.includes(path) ? NOTHING : path)
      if (text !== '') diffs.set(path, text)
    }
    return diffs
  }

  prune(): string[] {
    return this.#store.prune(DEFAULT_PRUNE)
  }
}

const NOTHING = '/dev/null'
const MAX_DIFFS = 200
const MAX_COMPARED = 1024 * 1024

/** As `diff -u` has it; nothing for what is no plain file, or large. */
function unifiedDiff(path: string, old: string, now: string): string {
  const files = [old, now].filter((file) => file !== NOTHING).map((file) => lstatSync(file, { throwIfNoEntry: false }))
  if (files.length === 0 || files.some((facts) => !facts?.isFile() || facts.size > MAX_COMPARED)) return ''
  const labels = ['--label', old === NOTHING ? NOTHING : path, '--label', now]
  const { stdout } = spawnSync('diff', ['-u', ...labels, '--', old, now], {
    encoding: 'utf8',
    maxBuffer: 16 * MAX_COMPARED,
  })
  return stdout ?? ''
}
