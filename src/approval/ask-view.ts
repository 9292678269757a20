/**
 * An ask as a value that every surface shows (P6, P12): the whole call, its reasons with the worst
 * first, the grants to save, and the answers. Nothing else composes a question to a person.
 */

import type { PartDecision } from '../policy/decision.ts'
import type { ReasonCode } from '../policy/reason.ts'
import { visible } from '../scan/visible-text.ts'
import type { Span } from '../shell/facts.ts'
import { type Answer, type ApprovalRequest, LONGEST_SECONDS } from './prompter.ts'
import { QuestionMask } from './question-mask.ts'
import type { Suggestion } from './suggestion.ts'

/** The shown parts of a question; secrets are masked, and everything else still needs escaping. */
export interface AskView {
  readonly tool: string
  /** The maximum cost of a wrong yes, in one sentence, shown first. */
  readonly worst: string
  /** The exact command, path or URL. */
  readonly subject: string
  /** Every input field of the call beside the subject. */
  readonly fields: readonly AskField[]
  /** The agent's own reason, in one line. */
  readonly said?: string
  /** How many values are masked. */
  readonly masked: number
  /** The hash of the call: an answer is for this one alone. */
  readonly call: string
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

/** One input field, as text. */
interface AskField {
  readonly name: string
  readonly text: string
  /** How many characters of it are left out, in the middle. */
  readonly hidden: number
}

interface AskReason {
  readonly code: ReasonCode
  readonly messages: readonly AskMessage[]
  readonly rule: string | null
  readonly source: string | null
}

/** One sentence, and the number of parts that it covers. */
interface AskMessage {
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

/** Every answer (P6), in the offered order. */
export const ANSWERS: readonly AnswerRow[] = [
  { kind: 'once', key: 'y', label: 'once', saves: false },
  { kind: 'session', key: 's', label: 'this session', saves: true },
  { kind: 'time', key: 't', label: 'for a time', saves: true },
  { kind: 'always', key: 'a', label: 'always', saves: true },
  { kind: 'deny', key: 'n', label: 'no', saves: false },
  { kind: 'deny-always', key: 'd', label: 'deny always', saves: true },
  { kind: 'deny-message', key: 'm', label: 'no, with a message', saves: false },
]

export const TIMES: readonly { readonly key: string; readonly label: string; readonly seconds: number }[] = [
  { key: '1', label: '10 minutes', seconds: 600 },
  { key: '2', label: '1 hour', seconds: 3600 },
  { key: '3', label: '1 day', seconds: 86_400 },
]

export const LONGEST_MESSAGE = 2000

/** The worst first; unlisted codes come after these. */
const WORST_FIRST: readonly ReasonCode[] = [
  'maybe-denied',
  'rule-asks',
  'flow',
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

/** The view of a request; `show` masks nothing, for a person who chose to see it. */
export function askView(request: ApprovalRequest, show: 'masked' | 'whole' = 'masked'): AskView {
  const { tool, where, facts, decision, call } = request
  const mask = new QuestionMask()
  const text = (given: string, parsed: typeof facts = null) => (show === 'whole' ? given : mask.text(given, parsed))
  const subject = text(request.subject, facts)
  const fields = fieldsOf(request).map(({ name, text: given }): AskField => {
    const { kept, hidden } = cutMiddle(text(given, facts))
    return { name, text: kept, hidden }
  })
  const sentence = (given: string) => (show === 'whole' ? given : mask.sentence(given))
  const said = <Part extends ReasonedPart>(part: Part): Part => ({
    ...part,
    reason: { ...part.reason, message: sentence(part.reason.message) },
  })
  const offer = (grant: Suggestion): Suggestion => ({
    ...grant,
    value: sentence(grant.value),
    admits: sentence(grant.admits),
    ...(grant.also !== undefined && { also: grant.also.map(offer) }),
  })
  const { asks, suggestions } = request
  const reason = request.said?.replace(/\s+/g, ' ').trim().slice(0, MAX_SAID).toWellFormed()
  return {
    tool,
    worst: sentence(request.worst.text),
    subject,
    fields,
    ...(reason && { said: text(reason) }),
    masked: mask.count,
    call,
    where: where ?? null,
    marks: asks.flatMap((part) => (part.span && part.kind !== 'tool' ? [part.span] : [])),
    hosts: [...new Set(asks.filter((part) => part.kind === 'host').map((part) => sentence(part.text)))],
    reasons: reasonsOf((asks.length > 0 ? asks : [decision]).map(said)),
    offers: suggestions.map(offer),
    answers: ANSWERS.filter(({ saves }) => !saves || suggestions.length > 0).map(({ kind }) => kind),
  }
}

/** The fields of a call that its subject and its hosts do not show already. */
function fieldsOf({ subject, input, asks }: ApprovalRequest): { readonly name: string; readonly text: string }[] {
  const all = Object.entries(input).filter(([, value]) => value !== undefined)
  const shown = all.findIndex(([, value]) => value === subject)
  const hosts = asks.filter(({ kind }) => kind === 'host').map(({ text }) => text)
  return all
    .filter(([, value], index) => index !== shown && !(typeof value === 'string' && hosts.includes(value)))
    .map(([name, value]) => ({ name, text: typeof value === 'string' ? value : JSON.stringify(value, null, 1) }))
}

/** Longer reasons would push the rest of a question away. */
const MAX_SAID = 500

/** The fields that a person sees, the agent's reason first. */
export function shownFields({ said, fields }: AskView): readonly AskField[] {
  return said === undefined ? fields : [{ name: 'the agent says', text: said, hidden: 0 }, ...fields]
}

/** More of one field is not kept with a question. */
const MAX_FIELD = 65_536

function cutMiddle(text: string): { readonly kept: string; readonly hidden: number } {
  if (text.length <= MAX_FIELD) return { kept: text, hidden: 0 }
  const half = MAX_FIELD / 2
  const kept = `${text.slice(0, half).toWellFormed()}\n…\n${text.slice(-half).toWellFormed()}`
  return { kept, hidden: text.length - MAX_FIELD }
}

/** The view in a value from outside; null unless every part of it has its form. */
export function parseAskView(value: unknown): AskView | null {
  const view = value as Partial<AskView> | null
  if (typeof view !== 'object' || view === null) return null
  const isWhole =
    areTexts(view.tool, view.worst, view.subject, view.call, view.said ?? '') &&
    (view.where === null || areTexts(view.where)) &&
    areNumbers(view.masked) &&
    isListOf(view.fields, ({ name, text, hidden }) => areTexts(name, text) && areNumbers(hidden)) &&
    isListOf(view.marks, ({ start, end }) => areNumbers(start, end)) &&
    isListOf(view.hosts, (host) => areTexts(host)) &&
    isListOf(view.reasons, isReason) &&
    isListOf(view.offers, isOffer) &&
    isListOf(view.answers, (kind) => ANSWERS.some((row) => row.kind === kind))
  return isWhole ? (view as AskView) : null
}

function isReason({ code, messages, rule, source }: AskReason): boolean {
  const named = [rule, source].every((text) => text === null || areTexts(text))
  return areTexts(code) && named && isListOf(messages, ({ text, count }) => areTexts(text) && areNumbers(count))
}

function isOffer({ kind, value, admits, also = [] }: Suggestion): boolean {
  return areTexts(kind, value, admits) && isListOf(also, isOffer)
}

function isListOf<Item>(value: readonly Item[] | undefined, isItem: (item: Item) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => item !== null && item !== undefined && isItem(item))
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string')
}

function areNumbers(...values: readonly unknown[]): boolean {
  return values.every((value) => Number.isSafeInteger(value) && Number(value) >= 0)
}

/** The same ask where only some answers can be carried out; without one that saves, nothing is offered to be saved. */
export function withAnswers(view: AskView, kinds: readonly AnswerKind[]): AskView {
  const answers = view.answers.filter((kind) => kinds.includes(kind))
  const saves = ANSWERS.some(({ kind, saves }) => saves && answers.includes(kind))
  return { ...view, answers, offers: saves ? view.offers : [] }
}

type ReasonedPart = Pick<PartDecision, 'reason' | 'rules'>

function reasonsOf(parts: readonly ReasonedPart[]): readonly AskReason[] {
  const groups = new Map<string, { first: ReasonedPart; counts: Map<string, number> }>()
  for (const part of parts.toSorted((one, other) => Number(isPrivateKey(other)) - Number(isPrivateKey(one)))) {
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

/** Of secrets, the worst. */
function isPrivateKey({ reason }: ReasonedPart): boolean {
  return reason.code === 'secret' && reason.message.includes('looks like a private key')
}

function badness(code: ReasonCode): number {
  const at = WORST_FIRST.indexOf(code)
  return at < 0 ? WORST_FIRST.length : at
}

/** One row of the text before wrapping: its kind, its label, and any untrusted text. */
export interface AskRow {
  readonly kind: 'where' | 'host' | 'subject' | 'field' | 'masked' | 'why' | 'rule' | 'save' | 'admits'
  readonly label: string
  readonly text: string
}

/** How much of a field is shown before it is folded: lines, and characters of all of them. */
export interface Fold {
  readonly lines: number
  readonly characters: number
}

/** For surfaces that show text alone: as much as a person reads before an answer. */
const TEXT_FOLD: Fold = { lines: 60, characters: 8000 }

/** Whether some of it would be folded, or is masked: then it can be shown as a whole. */
export function hidesSome(view: AskView, fold: Fold = TEXT_FOLD): boolean {
  return view.masked > 0 || view.fields.some(({ text }) => isLong(text, fold))
}

/** The input fields, each with its size; one that is long has its middle folded, with a count. Without `fold` nothing is. */
export function fieldRows(view: AskView, fold: Fold | null, canShow: boolean): AskRow[] {
  const { masked } = view
  const rows = shownFields(view).flatMap(({ name, text, hidden }): AskRow[] => {
    const lines = text.split('\n').length
    const size =
      lines > 1 || text.length > 80 ? ` (${count(lines, 'line')}, ${count(text.length + hidden, 'character')})` : ''
    const left = hidden === 0 ? '' : `; ${count(hidden, 'character')} in the middle cannot be shown`
    return [
      { kind: 'field', label: '', text: `${name}${size}${left}:` },
      ...(fold === null ? text.split('\n') : folded(text, fold)).map(
        (line): AskRow => ({ kind: 'subject', label: '│', text: line }),
      ),
    ]
  })
  if (masked === 0) return rows
  const how = canShow ? '' : ' They are shown where the question was asked.'
  const text = `${count(masked, 'value')} that ${masked === 1 ? 'looks' : 'look'} like a secret ${masked === 1 ? 'is' : 'are'} masked (•).${how}`
  return [...rows, { kind: 'masked', label: 'note', text }]
}

function count(number: number, what: string): string {
  return `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`
}

/** The lines of a text, its middle replaced by how much of it is not there. */
function folded(text: string, { lines, characters }: Fold): readonly string[] {
  if (!isLong(text, { lines, characters })) return text.split('\n')
  const half = Math.floor(characters / 2)
  const first = text
    .slice(0, half)
    .split('\n')
    .slice(0, Math.ceil((lines * 2) / 3))
  const rest = text.slice(first.join('\n').length)
  const last = rest
    .slice(-half)
    .split('\n')
    .slice(-Math.floor(lines / 3))
  const left = rest.slice(0, rest.length - last.join('\n').length)
  const what = `${count(left.split('\n').length - 1, 'line end')}, ${count(left.length, 'character')}`
  return [...first, `… ${what} not shown here …`, ...last].map((line) => line.toWellFormed())
}

function isLong(text: string, { lines, characters }: Fold): boolean {
  return text.length > characters || text.split('\n').length > lines
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

/** The grants of one offer, each with what it admits. */
export function offerRows(offer: Suggestion | undefined, label = 'save'): AskRow[] {
  if (offer === undefined) return [{ kind: 'admits', label, text: 'Nothing: this is asked every time.' }]
  const grants = [offer, ...(offer.also ?? [])]
  return grants.flatMap(({ kind, value, admits }, index): AskRow[] => [
    { kind: 'save', label: index === 0 ? label : '', text: `${kind} ${value}` },
    { kind: 'admits', label: '', text: `covers ${admits}` },
  ])
}

/** The whole ask as escaped text, for surfaces without a layout. `whole`: nothing folded. */
export function askText(
  view: AskView,
  { whole = false, canShow = false }: { readonly whole?: boolean; readonly canShow?: boolean } = {},
): string {
  const several = view.offers.length > 1
  const subject = view.subject === view.tool ? [] : view.subject.split('\n')
  const rows: AskRow[] = [
    ...(view.where === null ? [] : [{ kind: 'where', label: 'in', text: view.where } as const]),
    ...view.hosts.map((host): AskRow => ({ kind: 'host', label: 'host', text: host })),
    ...subject.map((line): AskRow => ({ kind: 'subject', label: '│', text: line })),
    ...fieldRows(view, whole ? null : TEXT_FOLD, canShow),
    ...reasonRows(view),
    ...(view.offers.length === 0
      ? offerRows(undefined)
      : view.offers.flatMap((offer, index) => offerRows(offer, several ? `save ${index + 1}` : 'save'))),
  ]
  const width = several ? 6 : 4
  const lines = rows.map(({ kind, label, text }) =>
    kind === 'subject'
      ? `│ ${visible(text)}`
      : kind === 'field'
        ? visible(text)
        : `${label.padEnd(width)} ${visible(text)}`,
  )
  return [`cordon asks: ${visible(view.tool)}`, worstLine(view), ...lines].join('\n')
}

/** The first line of every prompt. */
export function worstLine({ worst }: AskView): string {
  return `Worst case: ${visible(worst)}`
}

/** The worst case and why it asks, in one paragraph: every reason, the worst first, for a dialog that has space for no more. */
export function askSummary(view: AskView, most: number): string {
  const reasons = view.reasons.flatMap(({ messages }) => messages)
  const said = reasons.map(({ text, count: times }) => (times > 1 ? `${text} (${times} times)` : text))
  const first = worstLine(view)
  if (said.length === 1) return `${first} ${said[0]}`
  let text = `${first} ${said.length} things ask:`
  for (const [index, reason] of said.entries()) {
    const next = `${text} ${index + 1}. ${reason}`
    const left = said.length - index
    if (next.length > most) return `${text} … and ${left} more, which do not fit here: see cordon approvals.`
    text = next
  }
  return text
}

/** An answer as it comes from a form, a key or a page: from outside, and believed only where it is one of those offered. */
export interface AnswerForm {
  readonly answer: unknown
  /** The index of the offer to save; default the narrowest. */
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
