/** Keeps a question that nobody could answer, with the command that answers it. */

import { keepAsk } from '../../questions/asks.ts'
import { type ApprovalRequest, askView, withAnswers } from '../../session/cordon.ts'
import type { Machine } from '../../system/machine.ts'

/** Returns what the agent can do about it. */
export function keepQuestion(machine: Machine, project: string, host: string, request: ApprovalRequest): string {
  const { tool, suggestions } = request
  // The session has its own id, and accepts no answer to a refused call.
  const view = withAnswers(askView(request), ['time', 'always', 'deny', 'deny-always'])
  const id = keepAsk(machine, { host, project, tool, view, suggestions }, Date.now())
  return id === null
    ? 'only the manifest can allow it: the user can grant it in cordon.toml and sign that'
    : `tell the user to run \`cordon approvals allow ${id}\` in another terminal, then try again`
}
