/** Changes of agents, their diffs, and undo. */

import { type KeptCall, ProjectUndo, projectOfCall } from '../../run/undo.ts'
import type { Machine } from '../../system/machine.ts'
import { type DiffLine, lineDiff } from '../terminal/line-diff.ts'

export interface TimelineCall {
  readonly id: string
  readonly what: string
  readonly at: string
  readonly session: string | null
  readonly undoes: string | null
  readonly undoneBy: string | null
  readonly made: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  readonly conflicts: readonly string[]
  /** Number of paths; the lists are cut. */
  readonly paths: number
}

export interface Undone {
  /** Null if everything was restored. */
  readonly problem: string | null
  readonly conflicts: readonly string[]
  readonly undone: readonly string[]
}

const MAX_CALLS = 200
const MAX_PATHS = 30
const MAX_LINES = 400

/** The changes of the project that a call was in: the record shows every project. */
export function undoViewOf(machine: Machine, root: string, id: string): UndoView {
  return new UndoView(machine, projectOfCall(machine, id) ?? root)
}

export class UndoView {
  readonly #undo: ProjectUndo
  readonly #root: string

  constructor(machine: Machine, root: string) {
    this.#undo = new ProjectUndo({ ...machine, cwd: root })
    this.#root = root
  }

  /** Files of the project by their names in it. */
  readonly #nameOf = (path: string): string =>
    path.startsWith(`${this.#root}/`) ? path.slice(this.#root.length + 1) : path

  list(): { readonly calls: readonly TimelineCall[] } {
    return {
      calls: this.#undo
        .calls()
        .slice(0, MAX_CALLS)
        .map((call) => this.#shown(call)),
    }
  }

  /** A call's changes; null if not kept. */
  compare(
    id: string,
  ): { readonly files: readonly { path: string; hidden: string | null; mixed: boolean; lines: DiffLine[] }[] } | null {
    const call = this.#undo.calls().find((one) => one.id === id)
    if (!call) return null
    const files = this.#undo.compare(call).map(({ path, before, after, hidden, mixed }) => ({
      path: this.#nameOf(path),
      hidden,
      mixed,
      lines: hidden === null ? lineDiff(linesOf(before), linesOf(after)).slice(0, MAX_LINES) : [],
    }))
    return { files }
  }

  /** Undoes a call, or all since it in reverse; stops at the first conflict. */
  undo(id: string, since: boolean, force: boolean): Undone {
    const open = this.#undo.restorable()
    const at = open.findIndex((call) => call.id === id)
    if (at < 0) return { problem: 'this call can no longer be undone', conflicts: [], undone: [] }
    const undone: string[] = []
    for (const call of since ? open.slice(0, at + 1) : [open[at]!]) {
      const result = this.#undo.undo(call, force)
      const conflicts = result.conflicts.map(({ path, what }) => `${this.#nameOf(path)}: ${what}`).slice(0, MAX_PATHS)
      if (result.id === null)
        return { problem: `nothing of “${call.about.what}” was restored: it changed since`, conflicts, undone }
      undone.push(call.id)
      if (result.failed.length > 0) {
        const failed = result.failed.map(({ path, error }) => `${this.#nameOf(path)}: not restored (${error})`)
        return { problem: 'not everything could be restored', conflicts: failed.slice(0, MAX_PATHS), undone }
      }
    }
    return { problem: null, conflicts: [], undone }
  }

  #shown(call: KeptCall): TimelineCall {
    const { about, changes, conflicts } = this.#undo.show(call)
    const { made: created, changed, removed } = changes
    return {
      id: call.id,
      what: about.what,
      at: about.at,
      session: about.session ?? null,
      undoes: about.undoes ?? null,
      undoneBy: call.undoneBy,
      made: created.slice(0, MAX_PATHS).map(this.#nameOf),
      changed: changed.slice(0, MAX_PATHS).map(this.#nameOf),
      removed: removed.slice(0, MAX_PATHS).map(this.#nameOf),
      conflicts:
        call.undoneBy === null
          ? conflicts.slice(0, MAX_PATHS).map(({ path, what }) => `${this.#nameOf(path)}: ${what}`)
          : [],
      paths: created.length + changed.length + removed.length,
    }
  }
}

function linesOf(text: string | null): string[] {
  if (text === null || text === '') return []
  return text.replace(/\n$/, '').split('\n')
}
