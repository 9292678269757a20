/** Events and views of a session. */

import type { SavedAnswer } from '../approval/approve.ts'
import type { LiveHistory } from '../call/admission.ts'
import type { ToolResult } from '../call/tool-result.ts'
import type { CustomToolHost, SessionTool } from '../custom/tools.ts'
import type { AskHost } from '../egress/route/gate.ts'
import type { SessionFacts } from '../policy/call.ts'
import type { Verdict } from '../policy/order.ts'
import type { Mode } from '../policy/policy.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import type { SessionCommands } from '../run/port.ts'
import type { AskProgram } from '../run/program-starts.ts'
import type { CommandRunner } from '../run/runner.ts'
import type { UndoCover } from '../run/undo-cover.ts'
import { messageOf } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import type { GuardedFiles } from '../system/guarded/guarded-files.ts'
import type { ChangeKeeper } from '../system/guarded/keeper.ts'
import type { SessionStore, Tool, WebPort } from '../tools/tool.ts'
import type { CodeOptions, SessionCode } from './code/open-code.ts'
import type { QuestionParts, SessionQuestions } from './questions.ts'
import type { SessionView } from './view.ts'

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
  /** Bundles and hosts for every allowed command. */
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

export interface SessionParts extends QuestionParts {
  readonly files: Files
  /** The files for one call, whose changes the keeper records first. */
  readonly guarded: (keeper: ChangeKeeper) => GuardedFiles
  readonly tools: readonly Tool[]
  /** The trusted custom tools. */
  readonly customTools: (host: CustomToolHost) => readonly SessionTool[]
  readonly openRunner: (asks: { readonly host: AskHost; readonly program: AskProgram } | null) => CommandRunner
  readonly spillDirectory: string
  /** The surface whose questions may be answered later; null if only while they wait. */
  readonly surface: string | null
  readonly openCode: (session: Omit<CodeOptions, 'machine' | 'backend'>) => SessionCode
  readonly openWeb: (policy: () => LoadedPolicy, facts: () => SessionFacts) => WebPort
  /** Applies an organisation policy that arrived or expired; throws a Fault if none is valid. */
  readonly refresh: () => Promise<void>
  /** Called when the session is closed. */
  readonly closed: () => void
}

/** Shared by the calls of one session. */
export interface SessionPorts extends SessionParts {
  readonly id: string
  readonly view: SessionView
  /** Every offered tool by name. */
  readonly offered: ReadonlyMap<string, SessionTool>
  readonly history: LiveHistory
  readonly cover: UndoCover
  readonly asking: SessionQuestions
  readonly commands: SessionCommands
  readonly web: WebPort
  readonly code: SessionCode
  readonly store: SessionStore
  readonly emit: (event: SessionEvent) => void
  /** Reports failures that do not affect the call. */
  readonly noteFailure: (message: string) => void
}
