/** Judges what goes through a gateway: tools of strangers, of which only the level is known. */

import type { Decision } from '../../policy/decision.ts'
import { evaluate } from '../../policy/evaluate.ts'
import { Fault } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { type CallHistory, ringFor } from '../decide/admission.ts'
import { bareCall } from '../decide/resolve-call.ts'
import { openHookJudge } from '../hook/judge.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import { LiveHistory } from '../session/live-history.ts'

export interface GatewayJudge {
  readonly loaded: LoadedPolicy
  readonly history: CallHistory
  decide(called: string, breakerOpenFor: number | null): Decision
  /** Why nobody may be asked although the decision is an ask; null when somebody may. */
  whyNotAsked(decision: Decision): string | null
}

/** The agent of a gateway: a section `[agents.mcp]` is about it. */
export const GATEWAY_AGENT = 'mcp'

/** In `_meta` of the gateway's own question whether a call may be: the call. No question of a server carries it. */
export const ASKED_CALL = 'cordon/call'

/** Opens the policy of the project for a gateway. Throws a Fault when there is none in force. */
export async function openGatewayJudge(root: string, machine: Machine): Promise<GatewayJudge> {
  const place = { machine, files: machineFiles, root: machineFiles.canonical(root), exact: false, cwd: root }
  const opened = await openHookJudge({ ...place, host: GATEWAY_AGENT, session: null, shell: false })
  if ('closed' in opened)
    throw new Fault('closed', opened.closed, { remedy: 'Read the manifest, then run: cordon sign' })
  const { loaded, session, whyNotAsked } = opened.judge
  let tainted = session.tainted
  const live = new LiveHistory({
    breaker: () => loaded.session.breaker,
    ring: (agent) => ringFor(loaded, agent),
    taint: () => {
      tainted ||= loaded.session.taintAsks.value
    },
    now: Date.now,
  })
  return {
    loaded,
    history: live.of(GATEWAY_AGENT),
    decide: (called, breakerOpenFor) =>
      evaluate(loaded.policy, { ...session, tainted, breakerOpenFor }, bareCall(called)),
    whyNotAsked,
  }
}
