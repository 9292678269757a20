/** Judges what goes through a gateway: tools of strangers, of which only the level is known. */

import { isDeepStrictEqual } from 'node:util'
import type { Decision } from '../../policy/decision.ts'
import { evaluate } from '../../policy/evaluate.ts'
import { Fault } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { type CallHistory, ringFor } from '../decide/admission.ts'
import { bareCall } from '../decide/resolve-call.ts'
import { type HookJudge, openHookJudge } from '../hook/judge.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import { readOrganisation } from '../policy/written-manifests.ts'
import { LiveHistory } from '../session/live-history.ts'

export interface GatewayJudge {
  /** The policy as it was when the gateway was opened: its servers run by that. */
  readonly loaded: LoadedPolicy
  readonly history: CallHistory
  /** Takes a policy of the organisation into force that came or expired since; throws a Fault where none may be used. */
  refresh(): Promise<void>
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
  let organisation = await readOrganisation(machine)
  let judge = await openJudge(root, machine)
  const { loaded } = judge
  let { tainted } = judge.session
  const live = new LiveHistory({
    breaker: () => judge.loaded.session.breaker,
    ring: (agent) => ringFor(judge.loaded, agent),
    taint: () => {
      tainted ||= judge.loaded.session.taintAsks.value
    },
    now: Date.now,
  })
  return {
    loaded,
    history: live.of(GATEWAY_AGENT),
    async refresh() {
      const now = await readOrganisation(machine)
      if (isDeepStrictEqual(now, organisation)) return
      judge = await openJudge(root, machine)
      organisation = now
    },
    decide: (called, breakerOpenFor) =>
      evaluate(judge.loaded.policy, { ...judge.session, tainted, breakerOpenFor }, bareCall(called)),
    whyNotAsked: (decision) => judge.whyNotAsked(decision),
  }
}

async function openJudge(root: string, machine: Machine): Promise<HookJudge> {
  const place = { machine, files: machineFiles, root: machineFiles.canonical(root), exact: false, cwd: root }
  const opened = await openHookJudge({ ...place, host: GATEWAY_AGENT, session: null, shell: false })
  if ('judge' in opened) return opened.judge
  throw new Fault('closed', opened.closed, { remedy: 'Read the manifest, then run: cordon sign' })
}
