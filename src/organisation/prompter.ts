/** Asks the fleet, if this machine is in one that answers; elsewhere nothing is loaded. */

import type { Approval, Question } from '../approval/approve.ts'
import type { Prompter } from '../approval/prompter.ts'
import { mayBeInFleet } from '../project/load/memory.ts'
import type { Machine } from '../system/machine.ts'
import type { FleetQuestion } from './ask-fleet.ts'

/** How long a question to the fleet is waited for where the asker does not wait for ever. */
type Wait = Pick<FleetQuestion, 'waitMs'>

/** The prompter; null if no fleet answers asks of this machine. */
export async function openFleetPrompter(machine: Machine, project: string, wait: Wait = {}): Promise<Prompter | null> {
  if (!mayBeInFleet(machine)) return null
  const { fleetPrompter } = await import('./ask-fleet.ts')
  return fleetPrompter(machine, project, wait)
}

/** Puts a call of a hook to the fleet; null where this machine has none that answers. */
export async function askFleetAbout(machine: Machine, question: Question, waitMs: number): Promise<Approval | null> {
  const prompter = await openFleetPrompter(machine, question.places.root, { waitMs })
  if (prompter === null) return null
  const { approve } = await import('../approval/approve.ts')
  return approve(question, (request) => prompter.ask(request, new AbortController().signal))
}
