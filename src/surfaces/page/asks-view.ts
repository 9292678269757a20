/** Questions for the page: the same text, reasons and answers as at the terminal, and what becomes of an answer given there. */

import { allowOnce, dropAsk, grantAsk, type OpenAsk, openAsks, readAsks } from '../../runtime/asks/asks.ts'
import { answerAsk, answerText } from '../../runtime/asks/waiting.ts'
import type { Machine } from '../../system/machine.ts'
import type { Consent } from './consent.ts'
import { shownLines, shownText } from './shown.ts'

/** A question as the page shows it. */
export interface ShownAsk {
  readonly id: string
  readonly from: string
  readonly project: string
  readonly tool: string
  readonly subject: string
  readonly where?: string
  /** Whether somebody waits for the answer; otherwise it holds for the next try. */
  readonly waits: boolean
  readonly since: number
  readonly why: readonly { readonly message: string; readonly code: string; readonly rule: string | null }[]
  readonly suggestions: readonly { readonly kind: string; readonly value: string; readonly admits: string }[]
  /** Whether this very call can be allowed once. */
  readonly once: boolean
}

/** A question, made visible. */
export function shownAsk(ask: OpenAsk): ShownAsk {
  const { waiting } = ask
  const request = waiting?.request
  const asks = request?.asks ?? []
  const why =
    asks.length > 0
      ? asks.map(({ reason, rules }) => ({
          message: shownText(reason.message),
          code: reason.code,
          rule: rules[0] ? shownText(`${rules[0].rule} (${rules[0].source})`) : null,
        }))
      : [{ message: shownText(ask.reason), code: '', rule: null }]
  return {
    id: ask.id,
    from: shownText(ask.host),
    project: shownText(ask.project),
    tool: shownText(ask.tool),
    subject: shownLines(ask.subject),
    ...(request?.where !== undefined && { where: shownText(request.where) }),
    waits: waiting !== undefined,
    since: ask.time,
    why: why.slice(0, 6),
    suggestions: (request?.suggestions ?? ask.suggestions).map(({ kind, value, admits }) => ({
      kind,
      value: shownText(value),
      admits: shownText(admits),
    })),
    once: waiting !== undefined || ask.once !== undefined,
  }
}

/** An answer as the page sends it. */
export interface PageAnswer {
  readonly ask: string
  readonly kind: 'once' | 'session' | 'time' | 'always' | 'deny' | 'deny-always' | 'deny-message'
  readonly choice?: number
  readonly seconds?: number
  readonly message?: string
  /** What the terminal showed. */
  readonly code?: string
}

/** `consent`: a code is wanted. `gone`: it was too late, and `why` says what stands. */
export type Answered =
  | { readonly status: 'done'; readonly said: string }
  | { readonly status: 'consent' | 'gone' | 'bad'; readonly why: string }

const KINDS = ['once', 'session', 'time', 'always', 'deny', 'deny-always', 'deny-message']
/** What is over with the question itself. Everything else outlives it, and needs the terminal's consent. */
const SINGLE: readonly string[] = ['once', 'deny', 'deny-message']
const MAX_SECONDS = 86_400
/** How long a yes of the page holds for a call that is to be tried again. */
const ONCE_MINUTES = 10

/** Reads an answer of the page; null when it is none. */
export function parseAnswer(body: Readonly<Record<string, unknown>>): PageAnswer | null {
  const { ask, kind, choice = 0, seconds = 600, message = '', code } = body
  const isNumber = (value: unknown, most: number) =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most
  if (typeof ask !== 'string' || typeof kind !== 'string' || !KINDS.includes(kind)) return null
  if (!isNumber(choice, 100) || !isNumber(seconds, MAX_SECONDS) || seconds === 0) return null
  if (typeof message !== 'string' || message.length > 2000 || (code !== undefined && typeof code !== 'string'))
    return null
  return { ask, kind, choice, seconds, message, ...(code !== undefined && { code }) } as PageAnswer
}

/** Gives an answer; the first one stands. */
export function answerOnPage(machine: Machine, answer: PageAnswer, consent: Consent, by = 'page'): Answered {
  const ask = openAsks(machine, Date.now()).find(({ id }) => id === answer.ask)
  if (!ask) return { status: 'gone', why: whatStands(machine, answer.ask) }
  const { kind, choice = 0 } = answer
  const suggestion = (ask.waiting?.request.suggestions ?? ask.suggestions)[choice]
  if (!SINGLE.includes(kind)) {
    if (!suggestion) return { status: 'bad', why: 'there is nothing to save for this question' }
    if (!ask.waiting && kind !== 'time')
      return { status: 'bad', why: 'nobody waits: it can be granted for a time only' }
    const refused = consent.take(deedOf(answer, ask), answer.code ?? null)
    if (refused !== null) return { status: 'consent', why: refused }
  }
  if (!ask.waiting) return answerKept(machine, ask, answer)
  const { seconds, message } = answer
  const why = answerAsk(machine, ask.id, {
    kind,
    by,
    ...(suggestion && { choice }),
    ...(kind === 'time' && seconds !== undefined && { seconds }),
    ...(kind === 'deny-message' && { message: message ?? '' }),
  })
  return why === null ? { status: 'done', said: answerText({ kind, by }) } : { status: 'gone', why }
}

/** Of a question that nobody waits for: the call may be tried again. */
function answerKept(machine: Machine, ask: OpenAsk, { kind, choice = 0, seconds = 600 }: PageAnswer): Answered {
  if (kind === 'deny' || kind === 'deny-message') {
    dropAsk(machine, ask.id)
    return { status: 'done', said: 'no' }
  }
  if (kind === 'once') {
    if (ask.once === undefined) return { status: 'bad', why: 'this call cannot be allowed once' }
    allowOnce(machine, ask, ONCE_MINUTES, Date.now())
    return { status: 'done', said: `yes, once, within ${ONCE_MINUTES} minutes: let the agent try again` }
  }
  grantAsk(machine, ask, ask.suggestions[choice]!, seconds / 60, Date.now())
  return { status: 'done', said: 'granted for a time: let the agent try again' }
}

function whatStands(machine: Machine, id: string): string {
  const answer = readAsks(machine).find((ask) => ask.id === id)?.waiting?.answer
  return answer ? `it was answered already: ${answerText(answer)}` : 'that question is gone'
}

/** What a person agrees to, in the terminal's words. */
function deedOf({ kind, choice = 0, seconds }: PageAnswer, ask: OpenAsk): string {
  const { kind: what, value } = (ask.waiting?.request.suggestions ?? ask.suggestions)[choice]!
  const grant = `${what} ${shownText(value)} in ${shownText(ask.project)}`
  if (kind === 'deny-always') return `deny ${grant} for ever, in the signed manifest`
  if (kind === 'always') return `grant ${grant} for ever, in the signed manifest`
  return `grant ${grant} for ${kind === 'session' ? 'the session' : `${Math.round((seconds ?? 0) / 60)} minutes`}`
}
