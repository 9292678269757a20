/** An ask as a value that every surface shows: what it is about, why, the worst first, what could be saved, and the answers there are. */

import type { PartDecision } from '../policy/decision.ts'
import type { ReasonCode } from '../policy/reason.ts'
import { visible } from '../scan/visible-text.ts'
import type { Span } from '../shell/facts.ts'
import { maskedRequest } from './masked-request.ts'
import type { Answer, ApprovalRequest } from './prompter.ts'
import type { Suggestion } from './suggestion.ts'

/** What is shown of a question; secrets in it are covered, everything else is as it was asked and still to be made visible. */
export interface AskView {
  readonly tool: string
  /** The exact command, path or URL. */
  readonly subject: string
  /** The directory it starts in, when that is not the project root. */
  readonly where: string | null
  /** What of the subject asks. */
  readonly marks: readonly Span[]
  readonly hosts: readonly string[]
  /** Why it asks: the worst first, alike ones together. */
  readonly reasons: readonly AskReason[]
  /** What could be saved, from the narrowest on. */
  readonly offers: readonly Suggestion[]
  readonly answers: readonly AnswerKind[]
}

export interface AskReason {
  readonly code: ReasonCode
  readonly messages: readonly AskMessage[]
  readonly rule: string | null
  readonly source: string | null
}

/** One sentence, and for how many parts of the call it holds. */
export interface AskMessage {
  readonly text: string
  readonly count: number
}

export type AnswerKind = Answer['kind']

export interface AnswerRow {
  readonly kind: AnswerKind
  /** The key at a terminal. */
  readonly key: string
  readonly label: string
  /** True where it saves one of the offers. */
  readonly saves: boolean
}

/** Every answer there is (P6), in the order in which it is offered. */
export const ANSWERS: readonly AnswerRow[] = [
  { kind: 'once', key: 'y', label: 'once', saves: false },
  { kind: 'session', key: 's', label: 'this session', saves: true },
  { kind: 'time', key: 't', label: 'for a time', saves: true },
  { kind: 'always', key: 'a', label: 'always', saves: true },
  { kind: 'deny', key: 'n', label: 'no', saves: false },
  { kind: 'deny-always', key: 'd', label: 'never', saves: true },
  { kind: 'deny-message', key: 'm', label: 'no, with a message', saves: false },
]

export const TIMES: readonly { readonly key: string; readonly label: string; readonly seconds: number }[] = [
  { key: '1', label: '10 minutes', seconds: 600 },
  { key: '2', label: '1 hour', seconds: 3600 },
  { key: '3', label: '1 day', seconds: 86_400 },
]

/** A yes for longer than this is no yes for a time. */
export const LONGEST_SECONDS: number = 30 * 86_400
export const LONGEST_MESSAGE = 2000

/** From the worst on. What is not listed comes after these. */
const WORST_FIRST: readonly ReasonCode[] = [
  'maybe-denied',
  'rule-asks',
  'tainted',
  'secret',
  'destructive',
  'remote-write',
  'unapproved-script',
  'outside-sandbox',
  'not-understood',
  'outside-roots',
  'outside-cwd',
  'host-not-granted',
  'needs-confirmation',
  'grant-prompts',
]

/** The view of a request. */
export function askView(request: ApprovalRequest): AskView {
  const { tool, subject, where, asks, decision, suggestions } = maskedRequest(request)
  return {
    tool,
    subject,
    where: where ?? null,
    marks: asks.flatMap((part) => (part.span && part.kind !== 'tool' ? [part.span] : [])),
    hosts: [...new Set(asks.filter((part) => part.kind === 'host').map((part) => part.text))],
    reasons: reasonsOf(asks.length > 0 ? asks : [decision]),
    offers: suggestions,
    answers: ANSWERS.filter(({ saves }) => !saves || suggestions.length > 0).map(({ kind }) => kind),
  }
}

/** The same ask where only some answers can be carried out; without one that saves, nothing is offered to be saved. */
export function withAnswers(view: AskView, kinds: readonly AnswerKind[]): AskView {
  const answers = view.answers.filter((kind) => kinds.includes(kind))
  const saves = ANSWERS.some(({ kind, saves }) => saves && answers.includes(kind))
  return { ...view, answers, offers: saves ? view.offers : [] }
}

type Reasoned = Pick<PartDecision, 'reason' | 'rules'>

function reasonsOf(parts: readonly Reasoned[]): readonly AskReason[] {
  const groups = new Map<string, { first: Reasoned; counts: Map<string, number> }>()
  for (const part of parts) {
    const [rule] = part.rules
    const key = JSON.stringify([part.reason.code, rule?.rule, rule?.source])
    const group = groups.get(key) ?? { first: part, counts: new Map<string, number>() }
    group.counts.set(part.reason.message, (group.counts.get(part.reason.message) ?? 0) + 1)
    groups.set(key, group)
  }
  const found = [...groups.values()].map(({ first: { reason, rules }, counts }) => ({
    code: reason.code,
    messages: [...counts].map(([text, count]) => ({ text, count })),
    rule: rules[0]?.rule ?? null,
    source: rules[0]?.source ?? null,
  }))
  return found.toSorted((one, other) => badness(one.code) - badness(other.code))
}

function badness(code: ReasonCode): number {
  const at = WORST_FIRST.indexOf(code)
  return at < 0 ? WORST_FIRST.length : at
}

/** One row of the text, before it is wrapped or painted: what it is, the word before it, and the text of strangers in it. */
export interface AskRow {
  readonly kind: 'where' | 'host' | 'subject' | 'why' | 'rule' | 'save' | 'admits'
  readonly label: string
  readonly text: string
}

/** Why, in words. */
export function reasonRows({ reasons }: AskView): AskRow[] {
  return reasons.flatMap(({ code, messages, rule, source }) => [
    ...messages.map(
      ({ text, count }): AskRow => ({ kind: 'why', label: 'why', text: count > 1 ? `${text} (${count} times)` : text }),
    ),
    { kind: 'rule' as const, label: '', text: `[${code}]${rule === null ? '' : ` ${rule} (${source})`}` },
  ])
}

/** What one offer would save, each grant with what it admits. */
export function offerRows(offer: Suggestion | undefined, label = 'save'): AskRow[] {
  if (offer === undefined) return [{ kind: 'admits', label, text: 'Nothing: this is asked every time.' }]
  const grants = [offer, ...(offer.also ?? [])]
  return grants.flatMap(({ kind, value, admits }, index): AskRow[] => [
    { kind: 'save', label: index === 0 ? label : '', text: `${kind} ${value}` },
    { kind: 'admits', label: '', text: `admits ${admits}` },
  ])
}

/** The whole ask as text, for surfaces that only show text: the rows of the prompt, made visible, none of them cut. */
export function askText(view: AskView): string {
  const subject = view.subject.split('\n').map((line): AskRow => ({ kind: 'subject', label: '│', text: line }))
  const several = view.offers.length > 1
  const rows: AskRow[] = [
    ...(view.where === null ? [] : [{ kind: 'where', label: 'in', text: view.where } as const]),
    ...view.hosts.map((host): AskRow => ({ kind: 'host', label: 'host', text: host })),
    ...subject,
    ...reasonRows(view),
    ...(view.offers.length === 0
      ? offerRows(undefined)
      : view.offers.flatMap((offer, index) => offerRows(offer, several ? `save ${index + 1}` : 'save'))),
  ]
  const width = several ? 6 : 4
  const lines = rows.map(({ kind, label, text }) =>
    kind === 'subject' ? `│ ${visible(text)}` : `${label.padEnd(width)} ${visible(text)}`,
  )
  return [`cordon asks: ${visible(view.tool)}`, ...lines].join('\n')
}

/** An answer as it comes from a form, a key or a page: from outside, and believed only where it is one of those offered. */
export interface AnswerForm {
  readonly answer: unknown
  /** Which offer is saved, from 0; the narrowest unless told. */
  readonly choice?: unknown
  readonly seconds?: unknown
  readonly message?: unknown
}

/** The answer that a form gives; null when it gives none that was offered. `grants` are the offers as they are, unmasked. */
export function answerOf(view: AskView, grants: readonly Suggestion[], form: AnswerForm): Answer | null {
  const kind = view.answers.find((offered) => offered === form.answer)
  const { choice = 0, seconds, message } = form
  const grant =
    typeof choice === 'number' && Number.isInteger(choice) && choice < view.offers.length ? grants[choice] : undefined
  switch (kind) {
    case undefined:
      return null
    case 'once':
    case 'deny':
      return { kind }
    case 'session':
    case 'always':
    case 'deny-always':
      return grant === undefined ? null : { kind, grant }
    case 'time': {
      const fits = typeof seconds === 'number' && seconds >= 1 && seconds <= LONGEST_SECONDS
      return grant === undefined || !fits ? null : { kind, grant, seconds }
    }
    case 'deny-message': {
      const text = typeof message === 'string' ? message.slice(0, LONGEST_MESSAGE).trim() : ''
      return text === '' ? { kind: 'deny' } : { kind, message: text }
    }
  }
}
