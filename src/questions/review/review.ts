/**
 * The reviewer (P11): a program that answers a question in the person's place, where the worst case is within the bound. Everything
 * else that it says, and everything that goes wrong, leaves the question to the person.
 */

import type { Approval, Question } from '../../approval/approve.ts'
import { requestOf } from '../../approval/approve.ts'
import { askText, askView } from '../../approval/ask-view.ts'
import type { NoteEvent } from '../../audit/event.ts'
import type { ReviewSettings } from '../../manifest/schema/settings.ts'
import { whyNotReviewed } from '../../policy/review.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { scanText } from '../../scan/injection/injection.ts'
import { visible } from '../../scan/visible-text.ts'
import type { Machine } from '../../system/machine.ts'
import { takeTurn } from './budget.ts'
import { recentCalls } from './recent-calls.ts'
import { askReviewer, type ReviewAnswer, type ReviewInput } from './reviewer.ts'

/** Where a question comes from, and where what the reviewer says is written down. */
export interface ReviewPlace {
  readonly machine: Machine
  readonly loaded: Pick<LoadedPolicy, 'policy' | 'session'>
  /** The session has read text with orders: nothing that it wants is a reviewer's to judge. */
  readonly tainted: boolean
  /** The call in the record; null where it has no line of its own. */
  readonly call: string | null
  /** The name of the session in the record. */
  readonly session: string
  readonly record: (event: NoteEvent) => void
}

/** What a person reads before an answer; a longer question is not a reviewer's. */
const MAX_QUESTION = 24_000
const MAX_REASON = 500

/** The reviewer's yes or no; null where the person is to be asked. Throws only when the signal ends it. */
export async function review(question: Question, place: ReviewPlace, signal: AbortSignal): Promise<Approval | null> {
  const { machine, loaded, call, session, record } = place
  const settings = loaded.session.review
  if (settings.command.length === 0 || place.tainted) return null
  const request = requestOf(question)
  const { worst } = request
  if (whyNotReviewed(request, settings.upTo, loaded.policy) !== null) return null
  const view = askView({ ...request, suggestions: [] })
  const text = askText(view, { whole: true })
  const { recent, tainted } = recentCalls(machine.stateDir, session, call)
  if (tainted) return null
  const input: ReviewInput = {
    call: request.call,
    tool: request.tool,
    project: question.places.root,
    question: text,
    worst,
    recent,
  }
  const started = Date.now()
  const unfit = whyUnfit(view, input)
  const answer = unfit === null ? await answerWithin(input, settings, place, signal) : leave(unfit)
  signal.throwIfAborted()
  const reason = visible(answer.reason).slice(0, MAX_REASON)
  record({
    type: 'review',
    ...(call !== null && { call }),
    ask: request.call,
    tool: request.tool,
    reviewer: answer.reviewer,
    ...(answer.model !== null && { model: answer.model }),
    answer: answer.answer,
    bound: worst.bound,
    up_to: settings.upTo,
    duration_ms: Date.now() - started,
    ...(loaded.session.audit.arguments.value && { reason, subject: request.subject }),
  })
  const by = `review (${answer.model ?? answer.reviewer})`
  switch (answer.answer) {
    case 'yes':
      return { approved: true, remember: null, by, reviewed: worst.bound }
    case 'no':
      return {
        approved: false,
        refusal: { kind: 'corrected', message: `the reviewer of the user said no: ${reason}` },
        remember: null,
        by,
        reviewed: worst.bound,
      }
    case 'ask':
      return null
  }
}

/** Text in which a secret is masked, that is cut, or that talks to models, is for a person to read. */
function whyUnfit(view: ReturnType<typeof askView>, { question, recent }: ReviewInput): string | null {
  if (view.masked > 0) return 'it holds values that look like secrets'
  if (question.length > MAX_QUESTION || view.fields.some(({ hidden }) => hidden > 0)) return 'it is too long'
  const texts = [question, ...recent.map((one) => one.text)]
  return texts.some((text) => scanText(text).injection) ? 'it holds text that reads like orders to a model' : null
}

async function answerWithin(
  input: ReviewInput,
  settings: ReviewSettings,
  { machine, loaded }: ReviewPlace,
  signal: AbortSignal,
): Promise<ReviewAnswer> {
  if (!takeTurn(machine, settings.perHour, Date.now())) return leave(`review.per_hour (${settings.perHour}) is used up`)
  const { root, additionalDirectories } = loaded.policy
  const closed = [root, input.project, ...additionalDirectories.map(({ value }) => value)]
  return askReviewer(input, settings, { machine, closed }, signal)
}

function leave(reason: string): ReviewAnswer {
  return { answer: 'ask', reason, model: null, reviewer: 'cordon' }
}
