/** Keeps a question that nobody could answer, with the command that answers it. */

import { keepRequest } from '../../questions/asks.ts'
import type { ApprovalRequest } from '../../session/cordon.ts'
import type { Machine } from '../../system/machine.ts'

/** Returns what the agent can do about it. */
export function keepQuestion(machine: Machine, project: string, host: string, request: ApprovalRequest): string {
  const id = keepRequest(machine, { host, project }, request)
  return id === null
    ? 'only the manifest can allow it: the user can grant it in cordon.toml and sign that'
    : `tell the user to run \`cordon approvals allow ${id}\` in another terminal, and go on with other work: the next try of the same call takes the answer`
}
