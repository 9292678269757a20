/** Replays recorded answers of a person through the reviewer. */

import type { AuditLine } from '../../audit/event.ts'
import { queryAudit } from '../../audit/read.ts'
import { isReviewable } from '../../policy/review-bound.ts'
import { BOUNDS, isWithin, type WorstCase } from '../../policy/worst-case.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { recordOf } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import { askReviewer, type RecentCall, type ReviewAnswer } from './reviewer.ts'

export interface ReplayedAnswer {
  readonly time: string
  readonly tool: string
  readonly subject: string
  readonly bound: WorstCase['bound']
  readonly person: 'yes' | 'no'
  /** Null if the bound leaves the question to the person. */
  readonly reviewer: Pick<ReviewAnswer, 'answer' | 'reason' | 'model'> | null
}

/** Approvers that are not a person. */
const NO_PERSON = /^(?:review\b|auto$|observe$|host$|typed$|grant:)/

/** Sends the person's last recorded answers to the reviewer, one by one. */
export async function* replayReviews(
  machine: Machine,
  { policy, session: { review } }: Pick<LoadedPolicy, 'policy' | 'session'>,
  last: number,
  signal: AbortSignal,
): AsyncGenerator<ReplayedAnswer> {
  const lines = queryAudit(machine.stateDir)
  const begun = new Map(lines.filter(({ type }) => type === 'begin').map((line) => [keyOf(line), line]))
  const answered = lines.flatMap((answer) => {
    const ask = answer.type === 'approval' ? begun.get(keyOf(answer)) : undefined
    if (ask === undefined || typeof answer.approver !== 'string' || NO_PERSON.test(answer.approver)) return []
    return worstOf(ask) === null ? [] : [{ ask, answer }]
  })
  const closed = [policy.root, ...policy.additionalDirectories.map(({ value }) => value)]
  for (const { ask, answer } of answered.slice(-last)) {
    const worst = worstOf(ask)!
    const decision = recordOf(ask.decision)
    const isOpen =
      review.upTo !== 'none' &&
      isReviewable(String(decision.reason)) &&
      worst.labels.every((label) => label === 'outside') &&
      isWithin(worst.bound, review.upTo)
    const before = lines.filter((line) => line.session === ask.session && line.type === 'begin' && line.seq < ask.seq)
    const input = {
      call: String(ask.args_hash),
      tool: String(ask.tool),
      project: String(ask.project ?? ''),
      question: questionOf(ask, worst),
      worst,
      recent: before.slice(-10).map(recent),
    }
    yield {
      time: ask.time,
      tool: input.tool,
      subject: subjectOf(ask),
      bound: worst.bound,
      person: answer.approved === true ? 'yes' : 'no',
      reviewer: isOpen ? await askReviewer(input, review, { machine, closed }, signal) : null,
    }
  }
}

const keyOf = ({ session, call }: AuditLine): string => JSON.stringify([session, call])

const subjectOf = ({ subject, summary }: AuditLine): string => String(subject ?? summary ?? '')

function worstOf(ask: AuditLine): WorstCase | null {
  const { bound, labels, text = '' } = recordOf(recordOf(ask.decision).worst)
  const known = BOUNDS.find((one) => one === bound)
  if (known === undefined || !Array.isArray(labels)) return null
  return { bound: known, hosts: [], labels: labels as WorstCase['labels'], text: String(text) }
}

/** The question as recorded. */
function questionOf(ask: AuditLine, { text }: WorstCase): string {
  const { message, reason } = recordOf(ask.decision)
  const fields = ask.args === undefined ? [] : [JSON.stringify(ask.args)]
  return [
    `cordon asks: ${ask.tool}`,
    `Worst case: ${text}`,
    `│ ${subjectOf(ask)}`,
    ...fields,
    `why ${message ?? reason}`,
  ].join('\n')
}

function recent(line: AuditLine): RecentCall {
  const verdict = String(recordOf(line.decision).verdict ?? '')
  return { tool: String(line.tool), verdict, text: subjectOf(line).slice(0, 300).toWellFormed() }
}
