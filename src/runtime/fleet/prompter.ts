/** The fleet as the one who is asked, where this machine is in a fleet that answers; elsewhere nothing is loaded. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Approval } from '../../approval/approve.ts'
import type { Prompter } from '../../approval/prompter.ts'
import type { Machine } from '../../system/machine.ts'
import type { HookJudgement } from '../hook/judge.ts'

/** The prompter; null where nobody of a fleet answers asks of this machine. */
export async function openFleetPrompter(machine: Machine, project: string): Promise<Prompter | null> {
  const { systemDir, configDir } = machine
  if (![systemDir, configDir].some((directory) => existsSync(join(directory, 'fleet.json')))) return null
  const { fleetPrompter } = await import('./ask-fleet.ts')
  return fleetPrompter(machine, project)
}

/** Puts a call of a hook to the fleet; null where this machine has none that answers. */
export async function askFleetAbout(
  machine: Machine,
  project: string,
  { call, subject, decision, facts }: HookJudgement,
): Promise<Approval | null> {
  const prompter = await openFleetPrompter(machine, project)
  if (prompter === null) return null
  const { approve } = await import('../../approval/approve.ts')
  const places = { root: project, home: machine.home, resolve: (given: string) => given }
  const tool = call.kind === 'search' ? 'grep' : call.tool
  const question = { tool, subject, decision, facts, places }
  return approve(question, (request) => prompter.ask(request, new AbortController().signal))
}
