/** Events and views of a session. */

import type { SavedAnswer } from '../approval/approve.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { Verdict } from '../policy/order.ts'
import type { Mode } from '../policy/policy.ts'
import { messageOf } from '../system/fault.ts'

export class SessionListeners {
  readonly #listeners = new Set<(event: SessionEvent) => void>()
  readonly #failed: (message: string) => void

  constructor(failed: (message: string) => void) {
    this.#failed = failed
  }

  /** Adds a listener; returns a function that removes it. */
  add(listener: (event: SessionEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  emit(event: SessionEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        this.#failed(`a listener failed: ${messageOf(error)}`)
      }
    }
  }
}

export type SessionEvent =
  | { readonly type: 'result'; readonly tool: string; readonly result: ToolResult }
  | { readonly type: 'mode'; readonly mode: Mode }
  | { readonly type: 'agent'; readonly agent: string }
  | { readonly type: 'level'; readonly tool: string; readonly level: Verdict }
  /** `kept` says why an "always" is not in the manifest; null if it is. */
  | { readonly type: 'grant'; readonly remembered: SavedAnswer; readonly kept: string | null }
  | { readonly type: 'envelope'; readonly globs: readonly string[] }
  | { readonly type: 'sandbox'; readonly directory: string }
  | { readonly type: 'flagged'; readonly tool: string; readonly score: number }

/** Where a session works (`/sandbox`). */
export interface SandboxView {
  readonly directory: string
  /** False until the first write creates the session's own directory. */
  readonly enforced: boolean
  readonly roots: readonly string[]
  /** What commands see of the machine (`command_fs`). */
  readonly commandFs: string
  /** Bundles and hosts for every granted command. */
  readonly tools: readonly string[]
  readonly hosts: readonly string[]
  /** Granted and denied path patterns. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly denied: readonly string[]
  readonly hidesSecrets: boolean
}

/** A level and its source (`/perms`). */
export interface PermissionRow {
  readonly tool: string
  readonly level: Verdict
  readonly rule: string
  readonly source: string
}
