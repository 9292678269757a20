/** What a session tells those who listen, and what it shows those who look. */

import type { SavedAnswer } from '../approval/approve.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { Verdict } from '../policy/order.ts'
import type { Mode } from '../policy/policy.ts'

export type SessionEvent =
  | { readonly type: 'result'; readonly tool: string; readonly result: ToolResult }
  | { readonly type: 'mode'; readonly mode: Mode }
  | { readonly type: 'agent'; readonly agent: string }
  | { readonly type: 'level'; readonly tool: string; readonly level: Verdict }
  /** `kept` says why an "always" holds for this session only; null when it is in the manifest. */
  | { readonly type: 'grant'; readonly remembered: SavedAnswer; readonly kept: string | null }
  | { readonly type: 'envelope'; readonly globs: readonly string[] }
  | { readonly type: 'sandbox'; readonly directory: string }
  | { readonly type: 'taint'; readonly tool: string; readonly score: number }

/** Where a session works (`/sandbox`). */
export interface SandboxView {
  readonly directory: string
  /** False while its own directory is a placeholder, before the first write. */
  readonly enforced: boolean
  readonly roots: readonly string[]
  /** What commands see of the machine (`command_fs`). */
  readonly commandFs: string
  /** Bundles that commands may get, and hosts that every granted command reaches. */
  readonly tools: readonly string[]
  readonly hosts: readonly string[]
  /** Path patterns that are granted, and those that are denied; the project itself needs none. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly denied: readonly string[]
  readonly hidesSecrets: boolean
}

/** A level and where it comes from (`/perms`). */
export interface PermissionRow {
  readonly tool: string
  readonly level: Verdict
  readonly rule: string
  readonly source: string
}
