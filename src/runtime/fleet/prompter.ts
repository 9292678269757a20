/** The fleet as the one who is asked, where this machine is in a fleet that answers; elsewhere nothing is loaded. */

import type { Approval } from '../../approval/approve.ts'
import type { Prompter } from '../../approval/prompter.ts'
import { canonicalJson } from '../../system/canonical-json.ts'
import type { Machine } from '../../system/machine.ts'
import type { HookJudgement } from '../hook/judge.ts'
import { mayBeInFleet } from '../policy/written-manifests.ts'
import type { FleetQuestion } from './ask-fleet.ts'

/** How long a question to the fleet is waited for where the asker does not wait for ever. */
type Wait = Pick<FleetQuestion, 'input' | 'waitMs'>

/** The prompter; null where nobody of a fleet answers asks of this machine. */
export async function openFleetPrompter(machine: Machine, project: string, wait: Wait = {}): Promise<Prompter | null> {
  if (!mayBeInFleet(machine)) return null
  const { fleetPrompter } = await import('./ask-fleet.ts')
  return fleetPrompter(machine, project, wait)
}

export interface HookQuestion {
  readonly judgement: HookJudgement
  /** Where the call would run. */
  readonly cwd: string
  readonly waitMs: number
}

/** Puts a call of a hook to the fleet; null where this machine has none that answers. */
export async function askFleetAbout(
  machine: Machine,
  project: string,
  { judgement, cwd, waitMs }: HookQuestion,
): Promise<Approval | null> {
  const { call, subject, decision, facts } = judgement
  const input = canonicalJson(call.kind === 'tool' ? call.input : {})
  const tool = call.kind === 'search' ? 'grep' : call.tool
  const prompter = await openFleetPrompter(machine, project, { input, waitMs })
  if (prompter === null) return null
  const { approve } = await import('../../approval/approve.ts')
  const places = { root: project, home: machine.home, resolve: (given: string) => given }
  const question = { tool, subject, decision, facts, places, ...(cwd !== project && { where: cwd }) }
  return approve(question, (request) => prompter.ask(request, new AbortController().signal))
}
