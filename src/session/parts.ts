/** What a session is made of: the parts that `session/cordon.ts` gives it, and the ports that all of its calls share. */

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
  /** The files as one call sees them: its changes are told to the keeper before they are made. */
  readonly guarded: (keeper: ChangeKeeper) => GuardedFiles
  readonly tools: readonly Tool[]
  /** The trusted custom tools, to be run by this session. */
  readonly customTools: (host: CustomToolHost) => readonly SessionTool[]
  readonly openRunner: (asks: { readonly host: AskHost; readonly program: AskProgram } | null) => CommandRunner
  readonly spillDirectory: string
  readonly openCode: (session: Omit<CodeOptions, 'machine' | 'backend'>) => SessionCode
  readonly openWeb: (policy: () => LoadedPolicy, facts: () => SessionFacts) => WebPort
  /** Takes a policy of the organisation into force that came or expired since; throws a Fault where none may be used. */
  readonly refresh: () => Promise<void>
  /** Told when the session is closed. */
  readonly closed: () => void
}

/** What the calls of one session share. */
export interface SessionPorts extends SessionParts {
  readonly id: string
  readonly view: SessionView
  /** Every tool that is offered, by its name. */
  readonly offered: ReadonlyMap<string, SessionTool>
  readonly history: LiveHistory
  readonly cover: UndoCover
  readonly asking: SessionQuestions
  readonly commands: SessionCommands
  readonly web: WebPort
  readonly code: SessionCode
  readonly store: SessionStore
  readonly tell: (event: SessionEvent) => void
  /** What fails beside the call changes nothing. */
  readonly noteFailure: (message: string) => void
}
