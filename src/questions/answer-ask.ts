/** Carries out a person's answer to a stored question (P6). */

import type { SavedAnswer } from '../approval/approve.ts'
import type { Answer } from '../approval/prompter.ts'
import type { Suggestion } from '../approval/suggestion.ts'
import { amendByAnswer } from '../project/amend.ts'
import { countAnswer, habitOf, openSavedGrants } from '../project/answer-counts.ts'
import { openPolicy } from '../project/open.ts'
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
      dropAsk(machine, ask.id)
      return 'no; nothing was granted'
    case 'session':
      save(machine, ask, answer.grant, { verdict: 'allow', scope: 'session', expires: null })
      return `granted for the session: ${named(answer.grant)}`
    case 'time':
      save(machine, ask, answer.grant, { verdict: 'allow', scope: 'time', expires: now + answer.seconds * 1000 })
      return `granted for ${Math.ceil(answer.seconds / 60)} minutes: ${named(answer.grant)}`
    case 'always':
      return `always allowed, ${await amend(machine, ask, answer.grant, 'allow')}: ${named(answer.grant)}`
    case 'deny-always':
      return `never allowed, ${await amend(machine, ask, answer.grant, 'deny')}: ${named(answer.grant)}`
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

/** Adds the grant to the manifest and signs it, or stores it for the project; returns which. */
async function amend(machine: Machine, ask: OpenAsk, grant: Suggestion, verdict: 'allow' | 'deny'): Promise<string> {
  const request = { machine, files: machineFiles, root: ask.project, choice: { kind: 'project' as const } }
  let kept: string | null = null
  for (const one of [grant, ...(grant.also ?? [])]) {
    // Reopened each time, since every grant changes the manifest.
    const opened = await openPolicy({ ...request, unsigned: 'refused' })
    const remembered: SavedAnswer = { tool: ask.tool, grant: one, verdict, scope: 'always', seconds: null }
    const amended =
      'loaded' in opened
        ? await amendByAnswer(opened.loaded, remembered, machine, machineFiles)
        : { why: 'the manifest is not signed' }
    if (!('why' in amended)) continue
    save(machine, ask, { ...one, also: [] }, { verdict, scope: 'project', expires: null })
    kept = amended.why
  }
  dropAsk(machine, ask.id)
  if (kept === null) return 'in cordon.toml, which is signed'
  return `for this project until it is revoked (cordon grants), not in cordon.toml (${kept})`
}

function save(
  machine: Machine,
  { id, project, session = 'terminal' }: OpenAsk,
  grant: Suggestion,
  how: {
    readonly verdict: 'allow' | 'deny'
    readonly scope: 'session' | 'time' | 'project'
    readonly expires: number | null
  },
): void {
  const saved = openSavedGrants(machine)
  for (const { kind, value } of [grant, ...(grant.also ?? [])]) saved.add({ project, session, kind, value, ...how })
  dropAsk(machine, id)
}
