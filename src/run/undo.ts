/**
 * Implements `cordon undo`: the calls of this person's projects, restored one by one, the last one
 * first.
 */

import { isUtf8 } from 'node:buffer'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { findRoot } from '../project/place/root.ts'
import { machineFiles } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { readPlainFile } from '../system/plain-file.ts'
import { CallStore, DEFAULT_PRUNE, isInEffect, type KeptCall } from '../undo/call-store.ts'
import { type Conflict, conflictsOf } from '../undo/conflicts.ts'
import { keptName } from '../undo/journal.ts'
import { changedByLater, LeftStates } from '../undo/left-states.ts'
import { contentsBefore, hasChanges, type NetChanges, netChanges } from '../undo/net-changes.ts'
import { type UndoResult, undoCall } from '../undo/undo.ts'
import { undoRules } from './undo-rules.ts'

export type { KeptCall } from '../undo/call-store.ts'
export type { Conflict } from '../undo/conflicts.ts'
export type { NetChanges } from '../undo/net-changes.ts'
export type { UndoResult } from '../undo/undo.ts'

/** A call with its changes and whether they still apply. */
export interface ShownCall extends KeptCall {
  readonly changes: NetChanges
  readonly conflicts: readonly Conflict[]
}

/** A file before and after a call; null: absent, or not shown (not kept, too large, not text). */
export interface FileChange {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
  /** Why there is nothing to compare; otherwise null. */
  readonly hidden: string | null
  /** Someone else changed it since, so that `after` contains that too. */
  readonly mixed: boolean
}

const MAX_COMPARED_BYTES = 256 * 1024
const MAX_COMPARED_FILES = 50

/** The project that a kept call was in. */
export function projectOfCall({ stateDir }: Machine, id: string): string | undefined {
  return new CallStore(stateDir).list().find((call) => call.id === id)?.about.roots[0]
}

/** The calls of the current project. */
export class ProjectUndo {
  readonly #store: CallStore
  readonly #root: string
  readonly #machine: Machine

  constructor(machine: Machine) {
    this.#machine = machine
    this.#store = new CallStore(machine.stateDir)
    this.#root = findRoot(machine.cwd, machineFiles)
  }

  /** Those with changes, the last one first. */
  calls(): KeptCall[] {
    return this.#store.list().filter(({ id, about }) => {
      if (!about.roots.includes(this.#root)) return false
      // The changes of a host so far, even if it has not ended the call.
      if (about.isOpen && !this.#store.endOpen(id)) return false
      return hasChanges(this.#store.journalOf(id).records)
    })
  }

  /** Those that can be restored, the last one first. */
  restorable(): KeptCall[] {
    return this.calls().filter(isInEffect)
  }

  /** The restorable call of this name, or the one that redid it. */
  restorableAs(id: string): KeptCall | undefined {
    const calls = this.calls()
    const again = (name: string): KeptCall | undefined => {
      const call = calls.find((one) => one.id === name)
      const next = calls.find(({ about }) => about.redoes === name)
      return next ? again(next.id) : call
    }
    const found = again(id)
    return found && isInEffect(found) ? found : undefined
  }

  show(call: KeptCall): ShownCall {
    const journal = this.#store.journalOf(call.id)
    return {
      ...call,
      changes: netChanges(journal.records),
      conflicts: conflictsOf(journal, {
        left: new LeftStates(this.#store),
        rules: undoRules(this.#machine, this.#store, call),
        folder: this.#store.folderOf(call.id),
        later: changedByLater(this.#store, call),
      }),
    }
  }

  /** The changes of a call as it left them: later calls kept what they replaced, and the rest is in the tree. */
  compare(call: KeptCall): readonly FileChange[] {
    const { records } = this.#store.journalOf(call.id)
    const { made: created, changed, removed } = netChanges(records)
    const folder = this.#store.folderOf(call.id)
    const contents = contentsBefore(records)
    const before = (path: string): string | null | undefined => {
      const content = contents.get(path)
      if (content === 'absent' || content === 'empty') return content === 'empty' ? '' : null
      return content && textOf(join(folder, keptName(content.kept)))
    }
    const later = this.#replacedLater(call)
    const touched = new Set(this.show(call).conflicts.map(({ path }) => path))
    return [...created, ...changed, ...removed].slice(0, MAX_COMPARED_FILES).map((path) => {
      const old = created.includes(path) ? null : before(path)
      const now = removed.includes(path) ? null : later.has(path) ? later.get(path) : textOf(path)
      if (old === undefined || now === undefined)
        return {
          path,
          before: null,
          after: null,
          hidden: 'it was not kept, is too large, or is not text',
          mixed: false,
        }
      const mixed = !later.has(path) && !removed.includes(path) && touched.has(path)
      return { path, before: old, after: now, hidden: null, mixed }
    })
  }

  /** What the next call after this one replaced, by path: a text, null if the path was absent, undefined if unknown. */
  #replacedLater(call: KeptCall): ReadonlyMap<string, string | null | undefined> {
    const found = new Map<string, string | null | undefined>()
    const calls = this.#store.list().filter(({ id }) => id > call.id)
    // What was undone is as if it had never been: its kept files are gone, and so is its effect.
    const reverted = new Set(calls.flatMap(({ id, undoneBy }) => (undoneBy === null ? [] : [id, undoneBy])))
    for (const { id } of calls.reverse()) {
      if (reverted.has(id)) continue
      const { records } = this.#store.journalOf(id)
      const contents = contentsBefore(records)
      for (const { op, path, other } of records)
        for (const name of op === 'refused' || op === 'noted' ? [] : [path, other]) {
          if (name === '' || found.has(name)) continue
          const content = contents.get(name)
          if (content === 'absent' || content === 'empty') found.set(name, content === 'empty' ? '' : null)
          else found.set(name, content && textOf(join(this.#store.folderOf(id), keptName(content.kept))))
        }
    }
    return found
  }

  /** The same as unified diffs, by path; files that cannot be compared have none. */
  diffs(call: KeptCall): ReadonlyMap<string, string> {
    const { records } = this.#store.journalOf(call.id)
    const contents = contentsBefore(records)
    const diffs = new Map<string, string>()
    for (const { path, before, after, hidden } of this.compare(call)) {
      if (hidden !== null || before === after) continue
      const content = contents.get(path)
      const isKept = typeof content === 'object' && before !== null
      const old = isKept ? join(this.#store.folderOf(call.id), keptName(content.kept)) : NOTHING
      diffs.set(path, unifiedDiff(old, after ?? ''))
    }
    return diffs
  }

  /** `onProgress` receives the finished steps and their total. */
  undo(call: KeptCall, force: boolean, onProgress?: (done: number, of: number) => void): UndoResult {
    return undoCall(this.#store, undoRules(this.#machine, this.#store, call), call.id, {
      force,
      ...(onProgress && { onProgress }),
    })
  }

  prune(): string[] {
    return this.#store.prune(DEFAULT_PRUNE)
  }
}

/**
 * The text of a regular file; undefined if absent, too large, or not text. Links are not followed.
 */
function textOf(path: string): string | undefined {
  const bytes = readPlainFile(path, MAX_COMPARED_BYTES)
  return bytes && isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

const NOTHING = '/dev/null'

/** As `diff -u` prints it, without names, which may contain line ends; '' without that program. */
function unifiedDiff(old: string, now: string): string {
  const options = { encoding: 'utf8', maxBuffer: 16 * MAX_COMPARED_BYTES, input: now } as const
  return spawnSync('diff', ['-u', '--label', 'before', '--label', 'after', '--', old, '-'], options).stdout ?? ''
}
