/** Asks the reviewer (P11) about a host's call before any person. */

import { type AskPlace, hookQuestion } from '../../agents/hook/hook-asks.ts'
import type { HookJudge, HookJudgement } from '../../agents/hook/judge.ts'
import { sessionName } from '../../call/record/open.ts'
import type { Approval } from '../../call/run-tool-call.ts'
import { type ReviewPlace, review } from '../../questions/review/review.ts'
import type { Machine } from '../../system/machine.ts'

export interface AskOf {
  readonly judge: HookJudge
  readonly host: string
  readonly machine: Machine
  readonly place: AskPlace
}

/** The reviewer's answer; null if the person must be asked. */
export async function byReviewer(
  { judge, host, machine, place }: AskOf,
  judgement: HookJudgement,
  { call, record }: Pick<ReviewPlace, 'call' | 'record'>,
  signal: AbortSignal,
): Promise<Approval | null> {
  const { loaded } = judge
  const session = sessionName({ by: 'host', host, session: place.session }, loaded)
  const steered = judge.session.labels?.has('instructions') ?? false
  const from = { machine, loaded, steered, call, session, record }
  return review(hookQuestion(machine, place, judgement), from, signal)
}
