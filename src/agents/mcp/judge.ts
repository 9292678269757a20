/** Judges requests to a gateway's servers, of whose tools only the level is known. */

import { isDeepStrictEqual } from 'node:util'
import type { SavedAnswer } from '../../approval/approve.ts'
import { type CallHistory, LiveHistory, ringFor } from '../../call/admission.ts'
import { GATEWAY_AGENT } from '../../call/decide/named-tool.ts'
import { bareCall } from '../../call/decide/resolve-call.ts'
import type { Decision } from '../../policy/decision.ts'
import { evaluate } from '../../policy/evaluate/evaluate.ts'
import { gatewayCall, type McpCall } from '../../policy/mcp-rules.ts'
import { settle } from '../../policy/settle.ts'
import { amendProject } from '../../project/amend.ts'
import { openSavedGrants } from '../../project/answer-counts.ts'
import { type AnsweredPolicy, withAnswers } from '../../project/answers.ts'
import { noteLabels } from '../../project/label-notes.ts'
import { readOrganisation } from '../../project/load/memory.ts'
import { openPolicy, whyClosed } from '../../project/open.ts'
import { remember } from '../../project/remember.ts'
import { labelPlace, readLabels } from '../../project/session-labels.ts'
import { savedRules, savedTools } from '../../project/session-state.ts'
import { Fault } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { uniqueName } from '../../system/made-file.ts'

export interface GatewayJudge {
  /** The policy when the gateway was opened; its servers run by it. */
  readonly answered: AnsweredPolicy
  /** The project, and the person's home. */
  readonly place: { readonly root: string; readonly home: string }
  readonly history: CallHistory
  /** Applies an organisation policy that arrived or expired since; throws a Fault if none may be used. */
  refresh(): Promise<void>
  decide(called: string, breakerOpenFor: number | null, call?: Pick<McpCall, 'input' | 'hints'>): Decision
  /** Saves what an answer grants or denies; returns why an "always" is not in the manifest, or null. */
  remember(remembered: SavedAnswer): Promise<string | null>
  close(): void
  whyNotAsked(decision: Decision): string | null
}

/** Key in `_meta` of the gateway's own question; its value is the call. No server's question carries it. */
export const ASKED_CALL = 'cordon/call'

/** Opens the project's policy for a gateway. Throws a Fault if none is in force. */
export async function openGatewayJudge(root: string, machine: Machine): Promise<GatewayJudge> {
  let organisation = await readOrganisation(machine)
  const saved = openSavedGrants(machine)
  const session = `gateway-${uniqueName()}`
  let answered = await openAnswered(root, machine)
  const opened = answered
  const labels = labelPlace(opened.loaded, machine, session, opened.session.roots)
  const live = new LiveHistory({
    breaker: () => answered.loaded.session.breaker,
    ring: (agent) => ringFor(answered.loaded, agent),
    label: (read) => noteLabels(labels, read),
    now: Date.now,
  })
  return {
    answered: opened,
    place: { root: opened.loaded.root, home: machine.home },
    history: live.of(GATEWAY_AGENT),
    async refresh() {
      const now = await readOrganisation(machine)
      if (isDeepStrictEqual(now, organisation)) return
      answered = await openAnswered(root, machine)
      organisation = now
    },
    decide: (called, breakerOpenFor, call) => {
      const { loaded } = answered
      const given = call && { ...call, canonical: machineFiles.canonical }
      const mcp = given && gatewayCall(called, loaded.session.mcpRules, given)
      const place = { root: loaded.root, home: machine.home }
      const known = saved.forSession(loaded, session)
      const { flows } = savedRules(
        known.filter(({ kind }) => kind === 'flow'),
        place,
      )
      const grants = { ...answered.session.grants, tools: savedTools(known, place), ...(flows && { flows }) }
      const facts = { ...answered.session, grants, labels: readLabels(labels), breakerOpenFor }
      return evaluate(loaded.policy, facts, bareCall(called, mcp))
    },
    async remember(answer) {
      const amend = (one: SavedAnswer) => amendProject(answered.loaded, one, machine, machineFiles)
      const place = { saved, project: answered.loaded.root, session, now: Date.now, amend }
      let why: string | null = null
      for await (const { amended } of remember(answer, place)) {
        if (amended && 'loaded' in amended) answered = await openAnswered(root, machine)
        else why ??= amended?.why ?? null
      }
      return why
    },
    close: () => saved.endSession(session),
    whyNotAsked(decision) {
      const settled = settle(decision, answered.loaded.policy, true)
      return settled.outcome === 'refuse' ? settled.message : null
    },
  }
}

async function openAnswered(root: string, machine: Machine): Promise<AnsweredPolicy> {
  const files = machineFiles
  const at = { machine: { ...machine, cwd: files.canonical(root) }, files, root: null }
  const opened = await openPolicy({ ...at, choice: { kind: 'project' }, unsigned: 'refused' })
  if (!('loaded' in opened)) throw new Fault('closed', await whyClosed(opened, root))
  const { agent: chosen, agents } = opened.loaded.policy
  const agent = chosen.value !== 'plan' && agents.has(GATEWAY_AGENT) ? GATEWAY_AGENT : null
  return withAnswers(opened.loaded, { machine, files, session: null, agent })
}
