/** The parts of a session, and the ports that all its calls share. */

import type { LiveHistory } from '../call/admission.ts'
import type { CustomToolHost, SessionTool } from '../custom/tools.ts'
import type { AskHost } from '../egress/route/gate.ts'
import type { SessionFacts } from '../policy/call.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import type { SessionCommands } from '../run/port.ts'
import type { AskProgram } from '../run/program-starts.ts'
import type { CommandRunner } from '../run/runner.ts'
import type { UndoCover } from '../run/undo-cover.ts'
import type { Files } from '../system/files.ts'
import type { GuardedFiles } from '../system/guarded/guarded-files.ts'
import type { ChangeKeeper } from '../system/guarded/keeper.ts'
import type { SessionStore, Tool, WebPort } from '../tools/tool.ts'
import type { CodeOptions, SessionCode } from './code/open-code.ts'
import type { SessionEvent } from './event.ts'
import type { QuestionParts, SessionQuestions } from './questions.ts'
import type { SessionView } from './view.ts'

export interface SessionParts extends QuestionParts {
  readonly files: Files
  /** The files for one call, whose changes the keeper records first. */
  readonly guarded: (keeper: ChangeKeeper) => GuardedFiles
  readonly tools: readonly Tool[]
  /** The trusted custom tools. */
  readonly customTools: (host: CustomToolHost) => readonly SessionTool[]
  readonly openRunner: (asks: { readonly host: AskHost; readonly program: AskProgram } | null) => CommandRunner
  readonly spillDirectory: string
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
