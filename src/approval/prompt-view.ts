/** The question as a person sees it at a terminal: rows for a screen of any size, from an ask and where the person is in it. */

import { cutMiddle, cutTo, type Piece, pieces, wrap, wrapWords } from '../scan/display-text.ts'
import type { Span } from '../shell/facts.ts'
import {
  ANSWERS,
  type AnswerKind,
  type AskRow,
  type AskView,
  type Fold,
  fieldRows,
  hidesSome,
  offerRows,
  reasonRows,
  TIMES,
  worstLine,
} from './ask-view.ts'
import { grantList } from './grant-list.ts'

/** Where the person is. */
export interface PromptState {
  /** The index of the chosen offer. */
  readonly choice: number
  /** First row that is shown of what does not fit; null until the person moves: then it is where the asking begins. */
  readonly scroll: number | null
  /** `word`: nothing is answered by a single key, because the screen is somebody else's. `save`: Enter confirms. `stop`: after Ctrl-C, the command may end too. */
  readonly step: 'answer' | 'time' | 'message' | 'word' | 'save' | 'stop'
  /** The message to the model, or the word, while it is typed; the kind of answer that Enter confirms. */
  readonly message: string
  /** What was typed last is not one of the words. */
  readonly unknown?: boolean
  /** Nothing is folded and nothing masked. */
  readonly whole: boolean
  /** Keys count: nothing was typed for a while. */
  readonly armed: boolean
}

/** As much of each field as leaves the reasons in sight. */
const SCREEN_FOLD: Fold = { lines: 12, characters: 1200 }

/** The words that answer where no key does. */
export const WORDS: Readonly<Record<string, { readonly kind: AskView['answers'][number]; readonly label: string }>> = {
  allow: { kind: 'once', label: 'once' },
  session: { kind: 'session', label: 'as long as this command runs' },
  hour: { kind: 'time', label: 'for an hour' },
}

export interface Screen {
  readonly columns: number
  readonly rows: number
}

const LABEL = 5
const MIN_BODY_ROWS = 3
/** So many rows of the worst reason stay in sight wherever the person scrolls. */
const PINNED_WHY = 2
const MAX_HOSTS = 3
const WORST_ROWS = 2

/** The rows of the prompt, each at most as wide as the screen; only these escapes are in them that are written here. */
export function promptRows(view: AskView, state: PromptState, screen: Screen): string[] {
  const { head, body, foot, space, fits } = layOut(view, state, screen)
  const shown = fits ? body : window(body, scrollOf(view, state, screen), space, columnsOf(screen))
  // On a very small screen the subject and the keys matter most.
  return [...[...head, ...shown].slice(0, Math.max(1, screen.rows - foot.length)), ...foot]
}

/** How far the person can scroll. */
export function maximumScroll(view: AskView, state: PromptState, screen: Screen): number {
  const { body, space, fits } = layOut(view, state, screen)
  return fits ? 0 : Math.max(0, body.length - (space - 1))
}

/** The first row that is shown: a script of many lines opens at the line that asks. */
export function scrollOf(view: AskView, state: PromptState, screen: Screen): number {
  const most = maximumScroll(view, state, screen)
  if (state.scroll !== null) return Math.min(state.scroll, most)
  const start = view.marks[0]?.start ?? 0
  const rows = wrap(pieces(view.subject), columnsOf(screen) - 2)
  const row = rows.findIndex((pieces) => pieces.some((piece) => piece.at >= start))
  return Math.min(Math.max(0, row - 1), most)
}

interface Layout {
  readonly head: readonly string[]
  readonly body: readonly string[]
  readonly foot: readonly string[]
  /** Rows for the body, with the one that says how much is not shown. */
  readonly space: number
  readonly fits: boolean
}

/** What stays in sight, and what scrolls between: all of it where it fits, else with the worst reason and the grant pinned. */
function layOut(view: AskView, state: PromptState, screen: Screen): Layout {
  const columns = columnsOf(screen)
  const head = headRows(view, columns)
  const keys = keyRows(view, state, columns)
  const body = [
    ...subjectRows(view, columns),
    ...wrapRows(fieldRows(view, state.whole ? null : SCREEN_FOLD, true), columns),
    ...wrapRows(reasonRows(view), columns),
    ...wrapRows(offerRows(view.offers[state.choice]), columns),
  ]
  const free = screen.rows - head.length - keys.length - 1
  if (body.length <= free) return { head, body: [...body, ''], foot: keys, space: free, fits: true }
  const pinned = [...head, ...wrapRows(reasonRows(view).slice(0, 1), columns).slice(0, PINNED_WHY)]
  const foot = [pinnedGrant(view, state, columns), ...keys]
  const space = Math.max(MIN_BODY_ROWS, screen.rows - pinned.length - foot.length)
  return { head: pinned, body, foot, space, fits: false }
}

function columnsOf({ columns }: Screen): number {
  return Math.max(20, columns)
}

function headRows(view: AskView, columns: number): string[] {
  const { tool, where, hosts } = view
  const title = ` cordon asks: ${tool} `
  const rule = '─'.repeat(Math.max(0, columns - 2 - title.length))
  const more = hosts.length - MAX_HOSTS
  return [
    bold(cutTo(`──${title}${rule}`, columns)),
    ...wrapWords(worstLine(view), columns).slice(0, WORST_ROWS).map(bold),
    ...(where === null ? [] : [dim(cutMiddle(`in ${where}`, columns))]),
    // The end of a host name shows its owner.
    ...hosts.slice(0, MAX_HOSTS).map((host) => `${dim('host ')}${bold(cutMiddle(host, columns - LABEL))}`),
    ...(more > 0 ? [dim(`     and ${more} more ${more === 1 ? 'host' : 'hosts'}`)] : []),
  ]
}

/** The exact command, path or URL; what asks is underlined. A bar is before every row, so no row can pass for ours. */
function subjectRows({ tool, subject, marks }: AskView, columns: number): string[] {
  return tool === subject ? [] : barredRows(subject, marks, columns)
}

function barredRows(text: string, marks: readonly Span[], columns: number): string[] {
  return wrap(pieces(text), columns - 2).map(
    (row) => `${dim('│')} ${row.map((piece) => paintPiece(piece, marks)).join('')}`,
  )
}

function paintPiece(piece: Piece, spans: readonly Span[]): string {
  const text = piece.escape ? inverse(piece.text) : piece.text
  return spans.some((span) => piece.at >= span.start && piece.at < span.end) ? underline(text) : text
}

function wrapRows(rows: readonly AskRow[], columns: number): string[] {
  return rows.flatMap(({ kind, label, text }) => {
    if (kind === 'subject') return barredRows(text, [], columns)
    if (kind === 'field') return wrapWords(text, columns).map(dim)
    return wrapWords(text, columns - LABEL).map((row, index) => {
      const before = index === 0 ? label.padEnd(LABEL) : ' '.repeat(LABEL)
      const shown = kind === 'save' ? bold(row) : kind === 'rule' || kind === 'admits' ? dim(row) : row
      return `${dim(before)}${shown}`
    })
  })
}

/** The grants of a saving answer on one row; the number of hidden ones comes first. */
function pinnedGrant({ offers }: AskView, { choice }: PromptState, columns: number): string {
  const offer = offers[choice]
  if (offer === undefined) return dim(cutTo('save Nothing: this is asked every time.', columns))
  const count = 1 + (offer.also?.length ?? 0)
  const several = count > 1 ? `${count} grants, the first ` : ''
  return `${dim(`save ${several}`)}${bold(cutTo(`${offer.kind} ${offer.value}`, Math.max(4, columns - LABEL - several.length)))}`
}

/** What Enter would save: a line of the manifest for an answer that stays. */
function savedLine(view: AskView, state: PromptState, kind: AnswerKind | undefined, columns: number): string[] {
  const offer = view.offers[state.choice]
  const verdict = kind === 'always' ? 'allow' : kind === 'deny-always' ? 'deny' : null
  const list = offer && verdict && grantList(offer, verdict, view.tool)
  if (!offer || !list) return [pinnedGrant(view, state, columns)]
  if (/^[/~]/.test(offer.value) && offer.kind !== 'command')
    return [pinnedGrant(view, state, columns), dim(cutTo('     for you and this project, not in cordon.toml', columns))]
  const value = offer.kind === 'port' ? offer.value : JSON.stringify(list.item ?? offer.value)
  const line = `cordon.toml  [${list.section.join('.')}] ${list.name} = [ … ${value} ]`
  return wrapWords(line, columns).map(bold)
}

function window(rows: readonly string[], first: number, space: number, columns: number): string[] {
  const shown = rows.slice(first, first + space - 1)
  const hidden = rows.length - shown.length
  return [...shown, inverse(cutTo(` ${hidden} more rows of ${rows.length}: ↑ ↓ `, columns))]
}

function keyRows(view: AskView, state: PromptState, columns: number): string[] {
  if (state.step === 'time') {
    return keys([...TIMES.map(({ key, label }): [string, string] => [key, label]), ['Esc', 'back']], columns)
  }
  if (state.step === 'message')
    return [dim(cutTo('no, and tell the model (Enter sends, Esc goes back):', columns)), ...typedRows(state, columns)]
  if (state.step === 'save') {
    const { kind, label = '' } = ANSWERS.find((answer) => answer.kind === state.message) ?? {}
    return [
      ...savedLine(view, state, kind, columns),
      ...keys(
        [
          ['Enter', label],
          ['Esc', 'back'],
        ],
        columns,
      ),
    ]
  }
  if (state.step === 'word') return wordRows(view, state, columns)
  if (state.step === 'stop')
    return wrapWords('The answer is no. Ctrl-C again ends the command too, Enter lets it go on.', columns)
  const answers = ANSWERS.filter(({ kind }) => view.answers.includes(kind))
  const arrows: [string, string][] =
    view.offers.length > 1
      ? [
          ['←', 'narrower'],
          ['→', `broader ${state.choice + 1}/${view.offers.length}`],
        ]
      : []
  const show: [string, string][] =
    state.whole || hidesSome(view, SCREEN_FOLD) ? [['v', state.whole ? 'fold and mask' : 'show all of it']] : []
  return keys([...answers.map(({ key, label }): [string, string] => [key, label]), ...arrows, ...show], columns)
}

function typedRows({ message }: PromptState, columns: number): string[] {
  const rows = wrap(pieces(message), columns - 2)
  return rows.slice(-2).map((row) => `> ${row.map((piece) => piece.text).join('')}`)
}

/** How to answer in somebody else's screen, where a key that was meant for them is not an answer. */
function wordRows(view: AskView, state: PromptState, columns: number): string[] {
  if (!state.armed) return [inverse(cutTo(' Keys go to the command until you stop typing for a second. ', columns))]
  const offered = Object.entries(WORDS).filter(([, { kind }]) => view.answers.includes(kind))
  const words = [
    ...offered.map(([word, { label }]): [string, string] => [word, label]),
    ...(hidesSome(view, SCREEN_FOLD) ? [['show', 'all of it'] as [string, string]] : []),
    ['Enter', 'no'] as [string, string],
  ]
  const unknown = state.unknown ? 'That word could be meant for the command. ' : ''
  return [
    ...wrapWords(`${unknown}Type a word and press Enter. For longer: cordon approvals, or cordon ui.`, columns).map(
      dim,
    ),
    ...keys(words, columns),
    ...typedRows(state, columns),
  ]
}

/** Keys side by side, as many as fit on a row. */
function keys(all: readonly (readonly [string, string])[], columns: number): string[] {
  const rows: string[] = []
  let row = ''
  let used = 0
  for (const [key, label] of all) {
    const width = key.length + 1 + label.length
    if (used > 0 && used + 3 + width > columns) {
      rows.push(row)
      row = ''
      used = 0
    }
    row += `${used === 0 ? '' : '   '}${bold(key)} ${label}`
    used += (used === 0 ? 0 : 3) + width
  }
  return [...rows, row]
}

const sgr = (on: number, off: number) => (text: string) => (text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`)
const bold = sgr(1, 22)
const dim = sgr(2, 22)
const underline = sgr(4, 24)
const inverse = sgr(7, 27)
