/** What a session is made of: the ports and the parts that `runtime/cordon.ts` puts together for it. */

import type { AskHost } from '../../egress/gate.ts'
import type { SessionFacts } from '../../policy/call.ts'
import type { Files } from '../../system/files.ts'
import type { GuardedFiles } from '../../system/guarded/guarded-files.ts'
import type { ChangeKeeper } from '../../system/guarded/keeper.ts'
import type { Tool, WebPort } from '../../tools/tool.ts'
import type { CodeOptions, SessionCode } from '../code/port.ts'
import type { CommandRunner } from '../command/runner.ts'
import type { CustomToolHost, SessionTool } from '../custom/tools.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import type { QuestionParts } from './questions.ts'

export interface SessionParts extends QuestionParts {
  readonly files: Files
  /** The files as one call sees them: its changes are told to the keeper before they are made. */
  readonly guarded: (keeper: ChangeKeeper) => GuardedFiles
  readonly tools: readonly Tool[]
  /** The trusted custom tools, to be run by this session. */
  readonly customTools: (host: CustomToolHost) => readonly SessionTool[]
  readonly openRunner: (ask: AskHost | null) => CommandRunner
  readonly spillDirectory: string
  readonly code: (session: Omit<CodeOptions, 'machine' | 'backend'>) => SessionCode
  readonly web: (policy: () => LoadedPolicy, facts: () => SessionFacts) => WebPort
  /** Takes a policy of the organisation into force that came or expired since; throws a Fault where none may be used. */
  readonly refresh: () => Promise<void>
  /** Told when the session is closed. */
  readonly closed: () => void
}
