/** Carries out a person's answer to a stored question (P6). */

import { approvalOf, type SavedAnswer } from '../approval/approve.ts'
import type { Answer } from '../approval/prompter.ts'
import type { Suggestion } from '../approval/suggestion.ts'
import { type AmendResult, amendByAnswer } from '../project/amend.ts'
import { countAnswer, habitOf, openSavedGrants } from '../project/answer-counts.ts'
import { openPolicy } from '../project/open.ts'
import { remember } from '../project/remember.ts'
import { Fault } from '../system/fault.ts'
import { machineFiles } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { answerNext, dropAsk, type OpenAsk } from './asks.ts'

/** Carries out an answer and describes it. A one-time answer waits `minutes` for the retry. */
export async function answerAsk(
  machine: Machine,
  ask: OpenAsk,
  answer: Answer,
  now: number,
  minutes = 60,
): Promise<string> {
  if (!answer.kind.startsWith('deny')) await requireUnlocked(machine, ask)
  switch (answer.kind) {
    case 'once':
      count(machine, ask, true, now)
      answerNext(machine, ask, now + minutes * 60_000, null)
      return `allowed once, within ${minutes} minutes`
    case 'deny-message':
      answerNext(machine, ask, now + minutes * 60_000, answer.message)
      return 'no; the agent gets your words when it tries again'
    case 'deny':
      count(machine, ask, false, now)
      if (ask.once === undefined) dropAsk(machine, ask.id)
      else answerNext(machine, ask, now + minutes * 60_000, '')
      return 'no; nothing was granted'
    case 'session':
      await keep(machine, ask, answer, now)
      return `granted for the session: ${named(answer.grant)}`
    case 'time':
      await keep(machine, ask, answer, now)
      return `granted for ${Math.ceil(answer.seconds / 60)} minutes: ${named(answer.grant)}`
    case 'always':
      return `always allowed, ${await keep(machine, ask, answer, now)}: ${named(answer.grant)}`
    case 'deny-always':
      return `never allowed, ${await keep(machine, ask, answer, now)}: ${named(answer.grant)}`
  }
}

/** Counts a one-time answer. */
function count(machine: Machine, { project, view, suggestions }: OpenAsk, yes: boolean, now: number): void {
  const asks = view.reasons.map(({ code }) => ({ reason: { code } }))
  const offer = habitOf({ asks, suggestions })
  if (offer !== undefined) countAnswer(machine, project, offer, yes, now)
}

/** Throws a Fault if the project accepts no grants beside its signed manifest (P7). */
async function requireUnlocked(machine: Machine, ask: OpenAsk): Promise<void> {
  const place = { machine, files: machineFiles, root: ask.project, choice: { kind: 'project' as const } }
  const opened = await openPolicy({ ...place, unsigned: 'refused' })
  if (!('loaded' in opened) || opened.loaded.policy.runtimeGrants.value) return
  dropAsk(machine, ask.id)
  throw new Fault(
    'grants-locked',
    `${ask.project} takes no answers: security.runtime_grants is false in its manifest`,
    {
      remedy: 'Put the grant into the manifest with cordon add, or by hand, and sign that.',
    },
  )
}

function named(grant: Suggestion): string {
  return [grant, ...(grant.also ?? [])].map(({ kind, value }) => `${kind} ${value}`).join(', ')
}

/** Remembers the answer, and says where "always" is. */
async function keep(machine: Machine, ask: OpenAsk, answer: Answer, now: number): Promise<string> {
  const { project, session = 'terminal' } = ask
  const amend = async (one: SavedAnswer): Promise<AmendResult> => {
    // Reopened each time, since every grant changes the manifest.
    const request = { machine, files: machineFiles, root: project, choice: { kind: 'project' as const } }
    const opened = await openPolicy({ ...request, unsigned: 'refused' })
    if (!('loaded' in opened)) return { why: 'the manifest is not signed' }
    return amendByAnswer(opened.loaded, one, machine, machineFiles)
  }
  const place = { saved: openSavedGrants(machine), project, session, now: () => now, amend }
  let why: string | null = null
  for await (const { amended } of remember(approvalOf(ask.tool, answer).remember!, place))
    if (amended && 'why' in amended) why = amended.why
  dropAsk(machine, ask.id)
  if (why === null) return 'in cordon.toml, which is signed'
  return `for this project until it is revoked (cordon grants), not in cordon.toml (${why})`
}
