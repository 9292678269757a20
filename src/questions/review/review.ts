/**
 * The reviewer (P11): a program that may answer a question whose worst case is within its bound.
 * Anything else, including any failure, leaves the question to the person.
 */

import { join } from 'node:path'
import { type Approval, type Question, requestOf } from '../../approval/approve.ts'
import { askText, askView } from '../../approval/ask-view.ts'
import { type AuditLine, type NoteEvent, parseLine } from '../../audit/event.ts'
import { auditPlaces, partName, readLog, sessionParts } from '../../audit/head.ts'
import type { ReviewSettings } from '../../manifest/schema/settings.ts'
import { whyNotReviewed } from '../../policy/review.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { scanText } from '../../scan/injection/injection.ts'
import { visible } from '../../scan/visible-text.ts'
import type { Machine } from '../../system/machine.ts'
import { OwnList } from '../../system/own-list.ts'
import { openOwnDirectory } from '../../system/state.ts'
import { askReviewer, type RecentCall, type ReviewAnswer, type ReviewInput } from './reviewer.ts'

const MAX_BYTES = 128 * 1024
const MAX_CALLS = 10
const MAX_TEXT = 300

/** A session's last calls, newest last, and its taint. `but`: the call in question. */
export function recentCalls(
  stateDir: string,
  session: string,
  but: string | null,
): { readonly recent: readonly RecentCall[]; readonly tainted: boolean } {
  const parts = sessionParts(stateDir, session).map((part) => {
    const bytes = readLog(join(auditPlaces(stateDir).logs, partName(session, part)))
    return Buffer.from(bytes ?? [])
  })
  const lines = (parts.at(-1) ?? Buffer.alloc(0)).subarray(-MAX_BYTES).toString('utf8').split('\n')
  const recent = lines
    .flatMap((line) => parseLine(line) ?? [])
    .filter(({ type, call }) => (type === 'begin' || type === 'denied') && (but === null || call !== but))
    .slice(-MAX_CALLS)
    .map(recentCall)
  // A false match only leaves a question to the person.
  return { recent, tainted: parts.some((bytes) => bytes.includes('"type":"taint"')) }
}

function recentCall({ tool, decision, subject, summary }: AuditLine): RecentCall {
  const verdict = (decision as { readonly verdict?: unknown } | undefined)?.verdict
  const text = typeof subject === 'string' ? subject : typeof summary === 'string' ? summary : ''
  return { tool: String(tool ?? ''), verdict: String(verdict ?? ''), text: text.slice(0, MAX_TEXT).toWellFormed() }
}

const HOUR = 3_600_000

/** Counts a question; false if the hour's limit is reached. */
export function takeTurn(machine: Machine, perHour: number, now: number): boolean {
  let isFree = false
  TURNS.change(openOwnDirectory(machine.stateDir), (all) => {
    // Setting the clock back frees nothing.
    const times = all.filter((time) => time > now - HOUR)
    isFree = times.length < perHour
    return isFree ? [...times, now] : times
  })
  return isFree
}

const TURNS = new OwnList<number>(
  { file: 'reviews.json', lock: 'reviews.lock', field: 'times', lasting: false },
  (time) => typeof time === 'number',
)

/** Where a question comes from, and where the answer is recorded. */
export interface ReviewPlace {
  readonly machine: Machine
  readonly loaded: Pick<LoadedPolicy, 'policy' | 'session'>
  /** It has read instructions aimed at the agent: its questions go to the person. */
  readonly steered: boolean
  /** The call in the record, if it has a line. */
  readonly call: string | null
  /** The session's name in the record. */
  readonly session: string
  readonly record: (event: NoteEvent) => void
}

/** Longer questions go to the person. */
const MAX_QUESTION = 24_000
const MAX_REASON = 500

/** The reviewer's yes or no; null to ask the person. Throws only on abort. */
export async function review(question: Question, place: ReviewPlace, signal: AbortSignal): Promise<Approval | null> {
  const { machine, loaded, call, session, record } = place
  const settings = loaded.session.review
  if (settings.command.length === 0 || place.steered) return null
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

/** Text with a masked secret, truncated text, or text that addresses models goes to the person. */
function whyUnfit(view: ReturnType<typeof askView>, { question, recent }: ReviewInput): string | null {
  if (view.masked > 0) return 'it contains values that look like secrets'
  if (question.length > MAX_QUESTION || view.fields.some(({ hidden }) => hidden > 0)) return 'it is too long'
  const texts = [question, ...recent.map((one) => one.text)]
  return texts.some((text) => scanText(text).injection)
    ? 'it contains text that reads like instructions to a model'
    : null
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
