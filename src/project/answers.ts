/** Adds saved answers and the discovery brief (F3) to a project's policy. */

import { join } from 'node:path'
import type { SessionFacts } from '../policy/call.ts'
import { NO_LABELS } from '../policy/labels.ts'
import type { PathRule } from '../policy/policy.ts'
import { type Files, machineFiles } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import type { LoadedPolicy } from './load/load.ts'
import { nearbyFact, openRepositoryAt } from './load/nearby.ts'
import { ownWorktrees, repositoryFacts, repositoryProblems } from './load/repository-settings.ts'
import { ownPlaces } from './place/own-places.ts'
import { labelPlace, readLabels } from './session-labels.ts'

/** The asker whose saved answers apply. */
export interface Asker {
  readonly machine: Machine
  readonly files: Files
  /** The session whose answers apply; null: only those for a time or the project. */
  readonly session: string | null
  /** The agent's section; null: the policy's agent. */
  readonly agent: string | null
  /** Inside Cordon's sandbox saved answers cannot be read. */
  readonly inside?: boolean
}

export interface AnsweredPolicy {
  readonly loaded: LoadedPolicy
  readonly session: SessionFacts
}

export const NO_ANSWERS: SessionFacts['grants'] = { reads: [], writes: [], commands: [], hosts: [] }

/** A session without live changes and saved grants. */
export function newSession(loaded: LoadedPolicy, machine: Machine): SessionFacts {
  return {
    agent: null,
    mode: null,
    levels: new Map(),
    grants: NO_ANSWERS,
    roots: ownWorktrees(loaded, machine.home, machineFiles),
    ...nearbyFact(loaded, machine.home, (path) => openRepositoryAt(path, machineFiles)),
    envelope: [],
    breakerOpenFor: null,
    own: ownPlaces(loaded, machine, machineFiles),
    repositoryProblem: repositoryProblems(() => loaded.policy),
    repository: repositoryFacts(() => loaded.policy.root),
  }
}

/** Adds saved answers; their reader is loaded only if there are any. */
export async function withAnswers(
  loaded: LoadedPolicy,
  { machine, files, session, agent, inside }: Asker,
): Promise<AnsweredPolicy> {
  const blank = newSession(loaded, machine)
  const labels = inside ? NO_LABELS : readLabels(labelPlace(loaded, machine, session ?? '', blank.roots))
  const fresh = { ...blank, labels }
  const brief = loaded.session.discoveryBrief
  const saves = !inside && files.exists(join(machine.stateDir, 'grants.json'))
  if (!saves && brief === null) return { loaded, session: { ...fresh, agent } }
  const { openSavedGrants } = await import('./answer-counts.ts')
  const { readBrief, SessionState, savedDenials } = await import('./session-state.ts')
  const { extendPolicy } = await import('./load/extend.ts')
  const place = { root: loaded.root, home: machine.home }
  const saved = saves ? openSavedGrants(machine).forSession(loaded, session ?? '') : []
  const state = new SessionState(agent, fresh)
  if (brief !== null) state.widenEnvelope(readBrief(brief, files), 'discovery brief', place, true)
  return {
    loaded: extendPolicy(loaded, { denials: savedDenials(saved, place), envelope: state.envelope() }),
    session: {
      ...state.facts(saved, null, place, NOTHING_SPILLED),
      ...(fresh.nearby && { nearby: fresh.nearby }),
      labels,
    },
  }
}

/** Only sessions spill output. This pattern matches no path. */
const NOTHING_SPILLED: PathRule = {
  pattern: { text: '', absolute: '/dev/null/none', segments: ['dev', 'null', 'none'], files: null },
  prompt: false,
  rule: 'spilled output',
  source: 'built-in',
}
