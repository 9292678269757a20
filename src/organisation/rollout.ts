/**
 * Staged roll-outs. Every stage is a separate bundle, all signed together: new manifests for the
 * groups reached so far, the old ones for the rest. A stage follows only on proof of health.
 */

import { join } from 'node:path'
import type { Bundle, PolicyLayer, VerifiedBundle } from '../fleet/bundle.ts'
import { claimedBundle, isFor } from '../fleet/bundle.ts'
import { parseSeconds } from '../manifest/schema/shape.ts'
import { Fault } from '../system/fault.ts'
import { withLock } from '../system/lock.ts'
import type { Machine } from '../system/machine.ts'
import { readOwnJson, writeOwnJson } from '../system/state.ts'
import { type DraftStage, putBundle, signedBundle } from './draft.ts'
import type { FleetOverview, MachineRow } from './overview.ts'
import type { Team } from './team.ts'

interface PlannedStage {
  readonly groups: readonly string[]
  readonly seconds: number
  /** By how much the share of refused calls may rise: 0.05 is five of a hundred. */
  readonly bound: number
}

/** A roll-out as it is signed: the bundles of its stages, and the way back. */
interface RolloutPlan {
  readonly stages: readonly PlannedStage[]
  readonly bundles: readonly Bundle[]
}

/** The signed texts of a plan, in its order. */
export interface SignedRollout {
  readonly cordon_rollout: 1
  readonly stages: readonly DraftStage[]
  readonly texts: readonly string[]
}

export interface RolloutState {
  readonly version: 1
  readonly stages: readonly PlannedStage[]
  readonly texts: readonly string[]
  /** The stage in force, and since when. */
  readonly at: number
  readonly since: string
  readonly outcome: 'running' | 'done' | 'stopped'
  /** Why it waits, or was stopped. */
  readonly reason: string
}

const BOUND_PERCENT = 5
/** With fewer calls a rise proves nothing: the roll-out waits. */
const ENOUGH_CALLS = 10

/** The bundles of a roll-out of `after`. The last one is the way back. */
export function planRollout(before: Bundle | null, after: Bundle, drafted: readonly DraftStage[]): RolloutPlan {
  if (before?.rollout !== undefined && before.rollout.stage < before.rollout.stages)
    throw new Fault('manifest', 'a roll-out is running: wait for its end, or publish cordon fleet rollback first')
  const stages = plannedStages(drafted)
  const last = after.version + stages.length + 1
  const old = before?.layers ?? []
  const at = (index: number): Bundle => {
    const reached = stages.slice(0, index + 1).flatMap(({ groups }) => groups)
    const waited = stages.slice(0, index).reduce((sum, { seconds }) => sum + seconds, 0)
    const starts = new Date(Date.parse(after.issued) + waited * 1000).toISOString()
    const layers: readonly PolicyLayer[] =
      index === stages.length
        ? after.layers
        : [
            ...after.layers.map((layer) => ({ ...layer, only: reached })),
            ...old.map((layer) => ({ ...layer, except: reached })),
          ]
    const rollout = { stage: index + 1, stages: stages.length + 1, last, starts }
    return { ...after, version: after.version + index, layers, rollout }
  }
  const back = { ...after, version: last, layers: old }
  return { stages, bundles: [...Array.from({ length: stages.length + 1 }, (_, index) => at(index)), back] }
}

function plannedStages(drafted: readonly DraftStage[]): readonly PlannedStage[] {
  return drafted.map(({ groups, for: time, refusals = BOUND_PERCENT }) => ({
    groups,
    seconds: parseSeconds(time)!,
    bound: refusals / 100,
  }))
}

/** Signs a roll-out, or adds a signature to one; `missing`: of how many more people. */
export function signRollout(
  team: Team,
  before: VerifiedBundle | null,
  after: Bundle,
  stages: readonly DraftStage[],
  signed: readonly string[] | null,
): { readonly rollout: SignedRollout; readonly missing: number } {
  const { bundles } = planRollout(before?.bundle ?? null, after, stages)
  const parts = bundles.map((bundle, index) => {
    const text = signed?.[index]
    // Each stage is what follows from the draft that was shown, and nothing else.
    if (signed !== null && JSON.stringify(claimedBundle(text ?? '')) !== JSON.stringify(bundle))
      throw new Fault('manifest', 'a stage of this roll-out does not follow from its draft: create it again')
    return signedBundle(team, text ?? bundle, before)
  })
  return {
    rollout: { cordon_rollout: 1, stages, texts: parts.map(({ text }) => text) },
    missing: Math.max(...parts.map(({ missing }) => missing)),
  }
}

/** The policy that a roll-out ends with: its last stage, as a draft would give it. */
export function finalBundle({ stages, texts }: SignedRollout): Bundle | null {
  const final = claimedBundle(texts[stages.length] ?? '')
  if (final === null || texts.length !== stages.length + 2) return null
  const { rollout: _, ...bundle } = final
  return { ...bundle, version: bundle.version - stages.length }
}

export function parseRollout(text: string): SignedRollout | null {
  try {
    const value = JSON.parse(text) as SignedRollout
    return value.cordon_rollout === 1 && Array.isArray(value.stages) && Array.isArray(value.texts) ? value : null
  } catch {
    return null
  }
}

export function readRollout({ directory }: Team): RolloutState | null {
  return readOwnJson(join(directory, 'rollout.json'), isRolloutState)
}

/** Publishes the first stage. */
export async function startRollout(
  team: Team,
  machine: Machine,
  { stages, texts }: SignedRollout,
  now: number,
): Promise<string> {
  const place = await putBundle(team, machine, texts[0]!, null)
  const since = new Date(now).toISOString()
  save(team, {
    version: 1,
    stages: plannedStages(stages),
    texts,
    at: 0,
    since,
    outcome: 'running',
    reason: 'it has just begun',
  })
  return place
}

/** Publishes the way back of a running roll-out; null if none is running. */
export async function stopRollout(team: Team, machine: Machine, reason: string): Promise<RolloutState | null> {
  const state = readRollout(team)
  if (state?.outcome !== 'running') return null
  await putBundle(team, machine, state.texts.at(-1)!, null)
  return save(team, { ...state, outcome: 'stopped', reason })
}

/** One step: waits, publishes the next stage, or publishes the way back. */
export async function stepRollout(
  team: Team,
  machine: Machine,
  { machines, policy }: Pick<FleetOverview, 'machines' | 'policy'>,
  now: number,
): Promise<RolloutState | null> {
  const state = readRollout(team)
  if (state?.outcome !== 'running') return state
  if (policy !== claimedBundle(state.texts[state.at]!)?.version)
    return save(team, { ...state, outcome: 'stopped', reason: `version ${policy} was published instead` })
  const verdict = judgeStage(state, machines, now)
  if (verdict.step === 'stop') return stopRollout(team, machine, verdict.reason)
  if (verdict.step === 'wait') return save(team, { ...state, reason: verdict.reason })
  const at = state.at + 1
  await putBundle(team, machine, state.texts[at]!, null)
  const outcome = at === state.stages.length ? 'done' : 'running'
  return save(team, { ...state, at, since: new Date(now).toISOString(), outcome, reason: verdict.reason })
}

interface StageVerdict {
  readonly step: 'wait' | 'next' | 'stop'
  readonly reason: string
}

/** What follows a stage: whatever proves too little waits. */
export function judgeStage(
  { stages, texts, at, since }: Pick<RolloutState, 'stages' | 'texts' | 'at' | 'since'>,
  machines: readonly MachineRow[],
  now: number,
): StageVerdict {
  const wait = (reason: string): StageVerdict => ({ step: 'wait', reason })
  const version = claimedBundle(texts[at]!)!.version
  const reached = stages.slice(0, at + 1).flatMap(({ groups }) => groups)
  // A machine that was not seen for a day may be off for long; it does not hold the others up.
  const asked = machines.filter(
    (one) => isFor(reached, one.groups) && (one.silent === null || one.silent < DAY_SECONDS),
  )
  const under = asked.filter((one) => one.policy === version && one.isPublished)
  const shut = under.find(({ closed }) => closed)
  if (shut !== undefined) return { step: 'stop', reason: `${shut.name} refuses every call: ${shut.problem}` }
  const active = under.filter(({ now: { calls } }) => calls > 0)
  const calls = active.reduce((sum, one) => sum + one.now.calls, 0)
  // Each machine counts alike: a single one that reports wrong numbers moves little.
  const rise = active.reduce((sum, one) => sum + share(one.now) - share(one.before), 0) / Math.max(1, active.length)
  const { bound, seconds } = stages[at]!
  if (rise > bound && calls >= ENOUGH_CALLS)
    return {
      step: 'stop',
      reason: `refusals rose by ${percent(rise)} of the calls, over the bound of ${percent(bound)}`,
    }
  if (rise > bound) return wait(`refusals rose by ${percent(rise)}, in ${calls} calls: too few to tell`)
  const left = Date.parse(since) + seconds * 1000 - now
  if (left > 0) return wait(`${Math.ceil(left / 1000)} s are left of this stage`)
  const missing = asked.filter((one) => !under.includes(one) || one.silent === null || one.silent > FRESH_SECONDS)
  if (asked.length === 0) return wait('no machine of its groups has reported')
  if (missing.length > 0)
    return wait(`${missing.length} of ${asked.length} machines have not proved that they are well`)
  const faulty = under.find(({ problem }) => problem !== null)
  if (faulty !== undefined) return wait(`${faulty.name}: ${faulty.problem}`)
  if (calls === 0) return wait('no machine has run a call under it')
  return { step: 'next', reason: `${under.length} machines are well after ${calls} calls` }
}

const DAY_SECONDS = 86_400
const FRESH_SECONDS = 600

function share({ calls, refused }: { readonly calls: number; readonly refused: number }): number {
  return calls === 0 ? 0 : refused / calls
}

function percent(part: number): string {
  return `${Math.round(part * 1000) / 10}%`
}

function save({ directory }: Team, state: RolloutState): RolloutState {
  const path = join(directory, 'rollout.json')
  withLock(`${path}.lock`, () => writeOwnJson(path, state))
  return state
}

function isRolloutState(value: unknown): value is RolloutState {
  const { version, stages, texts, at, since, outcome } = (value ?? {}) as Partial<RolloutState>
  return (
    version === 1 &&
    Array.isArray(stages) &&
    Array.isArray(texts) &&
    texts.length === stages.length + 2 &&
    Number.isInteger(at) &&
    typeof since === 'string' &&
    typeof outcome === 'string'
  )
}
