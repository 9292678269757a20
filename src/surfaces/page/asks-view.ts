/** Questions on the page: the terminal's text, reasons and answers, and their handling. */

import { answerAsk } from '../../questions/answer-ask.ts'
import { type GivenAnswer, type OpenAsk, openAsks } from '../../questions/asks.ts'
import { acceptedAnswer, answerText, answerWaiting } from '../../questions/waiting.ts'
import { visible, visibleLines } from '../../scan/visible-text.ts'
import { ANSWERS, type AnswerRow, answerOf, shownFields } from '../../session/cordon.ts'
import { Fault } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import type { Consent } from './consent.ts'

/** A question as the page shows it. */
export interface ShownAsk {
  readonly id: string
  readonly from: string
  readonly project: string
  readonly tool: string
  /** The worst case of a wrong yes. */
  readonly worst: string
  /** The subject in pieces; those that ask are marked. */
  readonly subject: readonly { readonly text: string; readonly marked: boolean }[]
  /** Other input fields; long ones are folded. */
  readonly fields: readonly ShownField[]
  /** Count of masked values, and whether they can be shown. */
  readonly masked: number
  readonly canShow: boolean
  readonly where: string | null
  readonly hosts: readonly string[]
  /** Whether the call is waiting; otherwise the answer applies to its next try. */
  readonly waits: boolean
  readonly since: number
  /** The worst first. */
  readonly reasons: readonly { readonly messages: readonly string[]; readonly rule: string }[]
  /** Each suggestion with its grant and what it allows. */
  readonly offers: readonly (readonly { readonly grant: string; readonly admits: string }[])[]
  readonly answers: readonly AnswerRow[]
}

export interface ShownField {
  readonly name: string
  readonly text: string
  readonly lines: number
  readonly characters: number
  /** Invisible characters in the middle. */
  readonly hidden: number
}

/** Escapes a question. Its secrets are already masked. */
export function shownAsk({ id, host, project, time, view, waiting }: OpenAsk): ShownAsk {
  return {
    id,
    from: visible(host),
    project: visible(project),
    tool: visible(view.tool),
    worst: visible(view.worst),
    subject: pieces(view.subject, view.marks),
    fields: shownFields(view).map(({ name, text, hidden }) => ({
      name: visible(name),
      text: visibleLines(text),
      lines: text.split('\n').length,
      characters: text.length + hidden,
      hidden,
    })),
    masked: view.masked,
    canShow: waiting?.show === 'possible',
    where: view.where === null ? null : visible(view.where),
    hosts: view.hosts.map(visible),
    waits: waiting !== undefined,
    since: time,
    reasons: view.reasons.map(({ code, messages, rule, source }) => ({
      messages: messages.map(({ text, count }) => `${visible(text)}${count > 1 ? ` (${count} times)` : ''}`),
      rule: visible(rule === null ? `[${code}]` : `[${code}] ${rule} (${source})`),
    })),
    offers: view.offers.map((offer) =>
      [offer, ...(offer.also ?? [])].map(({ kind, value, admits }) => ({
        grant: visible(`${kind} ${value}`),
        admits: visible(admits),
      })),
    ),
    answers: ANSWERS.filter(({ kind }) => view.answers.includes(kind)),
  }
}

/** Splits a text at its marks. */
function pieces(text: string, marks: OpenAsk['view']['marks']): ShownAsk['subject'] {
  const inside = marks.filter(({ start, end }) => start >= 0 && end <= text.length && start < end)
  const cuts = [...new Set([0, text.length, ...inside.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b)
  return cuts.slice(1).map((end, index) => {
    const start = cuts[index]!
    const marked = inside.some((mark) => mark.start <= start && end <= mark.end)
    return { text: visibleLines(text.slice(start, end)), marked }
  })
}

/** An answer from the page, valid only if it was offered. */
export interface PageAnswer {
  readonly ask: string
  readonly kind: AnswerRow['kind']
  readonly choice?: number
  readonly seconds?: number
  readonly message?: string
  /** The code from the terminal. */
  readonly code?: string
}

/** `consent`: a code is needed. `gone`: too late, with the answer that counts. */
export type AnswerOutcome =
  | { readonly status: 'done'; readonly said: string }
  | { readonly status: 'consent' | 'gone' | 'bad'; readonly why: string }

/** How long a page's yes waits for the retry. */
const ONCE_MINUTES = 10

/** Parses an answer; null if invalid. */
export function parseAnswer({
  ask,
  kind,
  choice,
  seconds,
  message,
  code,
}: Readonly<Record<string, unknown>>): PageAnswer | null {
  const isNumber = (value: unknown) => value === undefined || (Number.isSafeInteger(value) && Number(value) >= 0)
  const isText = (value: unknown) => value === undefined || typeof value === 'string'
  if (typeof ask !== 'string' || !ANSWERS.some((row) => row.kind === kind)) return null
  if (!isNumber(choice) || !isNumber(seconds) || !isText(message) || !isText(code)) return null
  const given = Object.entries({ choice, seconds, message, code }).filter(([, value]) => value !== undefined)
  return { ask, kind, ...Object.fromEntries(given) } as PageAnswer
}

/** Gives an answer; the first one counts. */
export async function answerOnPage(
  machine: Machine,
  given: PageAnswer,
  consent: Consent,
  by = 'page',
): Promise<AnswerOutcome> {
  const ask = openAsks(machine, Date.now()).find(({ id }) => id === given.ask)
  if (!ask) {
    const accepted = acceptedAnswer(machine, given.ask)
    return {
      status: 'gone',
      why: accepted ? `it was answered already: ${answerText(accepted)}` : 'that question is closed',
    }
  }
  const { kind, choice = 0, seconds, message } = given
  const grants = ask.waiting ? ask.view.offers : ask.suggestions
  const answer = answerOf(ask.view, grants, { answer: kind, choice, seconds, message })
  if (!answer) return { status: 'bad', why: 'that answer was not offered' }
  // One-time answers need no code; anything lasting does.
  if (ANSWERS.find((row) => row.kind === kind)!.saves) {
    const refused = consent.take(actionText(given, ask), given.code ?? null)
    if (refused !== null) return { status: 'consent', why: refused }
  }
  if (!ask.waiting) {
    try {
      return { status: 'done', said: await answerAsk(machine, ask, answer, Date.now(), ONCE_MINUTES) }
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      return { status: 'gone', why: error.message }
    }
  }
  const accepted: GivenAnswer = {
    kind,
    by,
    choice,
    ...(seconds !== undefined && { seconds }),
    ...(message !== undefined && { message }),
  }
  const why = answerWaiting(machine, ask.id, accepted)
  return why === null ? { status: 'done', said: answerText(accepted) } : { status: 'gone', why }
}

/** The action in the terminal's words. */
function actionText({ kind, choice = 0, seconds = 0 }: PageAnswer, { id, project, view }: OpenAsk): string {
  const offer = view.offers[choice]
  const grants = offer ? [offer, ...(offer.also ?? [])].map((one) => visible(`${one.kind} ${one.value}`)) : []
  const what = `${grants.join(', ')} in ${visible(project)} (question ${id})`
  if (kind === 'deny-always') return `deny permanently, in the signed manifest: ${what}`
  if (kind === 'always') return `grant permanently, in the signed manifest: ${what}`
  return `grant for ${kind === 'session' ? 'the session' : `${Math.ceil(seconds / 60)} minutes`}: ${what}`
}
