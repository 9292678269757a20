/**
 * Counts repeated one-time answers in order to suggest a grant. A grant is never saved by itself.
 */

import { SavedGrants } from '../approval/saved-grants.ts'
import type { Suggestion } from '../approval/suggestion.ts'
import { isReviewable } from '../policy/review-bound.ts'
import { isRecord } from '../system/json.ts'
import type { Machine } from '../system/machine.ts'
import { OwnList } from '../system/own-list.ts'
import { openOwnDirectory } from '../system/state.ts'

export interface AnswerCount {
  readonly project: string
  readonly kind: Suggestion['kind']
  readonly value: string
  readonly yes: number
  readonly last: number
}

/** This many yeses without a no are a habit. */
const HABIT = 5
const KEPT_MS = 30 * 24 * 3600 * 1000
const MOST = 500

/** Counts a one-time answer. A no resets the count. */
export function countAnswer(
  machine: Machine,
  project: string,
  { kind, value }: Suggestion,
  yes: boolean,
  now: number,
): void {
  COUNTS.change(openOwnDirectory(machine.stateDir), (all) => {
    const counts = recent(all, now)
    const isSame = (one: AnswerCount): boolean => one.project === project && one.kind === kind && one.value === value
    const before = counts.find(isSame)?.yes ?? 0
    const others = counts.filter((one) => !isSame(one))
    return (yes ? [...others, { project, kind, value, yes: before + 1, last: now }] : others).slice(-MOST)
  })
}

/** Habits that could become grants, most frequent first. */
export function repeatedAnswers(machine: Machine, now: number): readonly AnswerCount[] {
  return recent(COUNTS.read(openOwnDirectory(machine.stateDir)), now)
    .filter(({ yes }) => yes >= HABIT)
    .toSorted((one, other) => other.yes - one.yes)
}

/** The kind that `cordon add` uses for each kind of answer. */
const ADDED: Readonly<Partial<Record<Suggestion['kind'], string>>> = {
  command: 'command',
  host: 'host',
  read: 'read',
  write: 'write',
  directory: 'write',
}

export interface ProposedGrant extends AnswerCount {
  /** The words of the command that adds it. */
  readonly add: readonly string[]
}

/** Habits that no saved answer covers yet. */
export function proposedGrants(machine: Machine, now: number): readonly ProposedGrant[] {
  const saved = openSavedGrants(machine).list()
  return repeatedAnswers(machine, now).flatMap((habit): ProposedGrant[] => {
    const { project, kind, value } = habit
    const added = ADDED[kind]
    const isSaved = saved.some((one) => one.project === project && one.kind === kind && one.value === value)
    if (added === undefined || isSaved) return []
    return [{ ...habit, add: ['cordon', 'add', added, value, '--root', project] }]
  })
}

interface AskedCall {
  readonly asks: readonly { readonly firm?: boolean; readonly reason: { readonly code: string } }[]
  readonly suggestions: readonly Suggestion[]
}

/**
 * The narrowest suggestion, which a yes is counted for; undefined if a yes is not enough for it.
 */
export function habitOf({ asks, suggestions }: AskedCall): Suggestion | undefined {
  const [offer] = suggestions
  const isOrdinary = asks.every(({ firm, reason }) => firm !== true && isReviewable(reason.code))
  return isOrdinary && offer?.also === undefined ? offer : undefined
}

function recent(counts: readonly AnswerCount[], now: number): readonly AnswerCount[] {
  return counts.filter(({ last }) => last > now - KEPT_MS)
}

function isCount(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { project, kind, value: granted, yes, last } = value
  return [project, kind, granted].every((text) => typeof text === 'string') && [yes, last].every(Number.isFinite)
}

const COUNTS = new OwnList<AnswerCount>(
  { file: 'answered.json', lock: 'answered.lock', field: 'counts', lasting: false },
  isCount,
)

export type { SavedGrant, SavedGrants } from '../approval/saved-grants.ts'

export function openSavedGrants(machine: Machine): SavedGrants {
  return new SavedGrants(machine.stateDir, Date.now)
}
