/** The question as a person sees it: rows for a terminal of any size, from a request and where the person is in it. */

import type { PartDecision } from '../policy/decision.ts'
import { cutTo, type Piece, pieces, wrap, wrapWords } from '../scan/display-text.ts'
import type { Span } from '../shell/facts.ts'
import type { ApprovalRequest } from './prompter.ts'

/** Where the person is. */
export interface PromptState {
  /** Which suggestion is chosen. */
  readonly choice: number
  /** First row of the subject that is shown; null until the person moves: then it is where the asking begins. */
  readonly scroll: number | null
  readonly step: 'answer' | 'time' | 'message'
  /** The message to the model while it is typed. */
  readonly message: string
}

export interface Screen {
  readonly columns: number
  readonly rows: number
}

export const TIMES: readonly { readonly key: string; readonly label: string; readonly seconds: number }[] = [
  { key: '1', label: '10 minutes', seconds: 600 },
  { key: '2', label: '1 hour', seconds: 3600 },
  { key: '3', label: '1 day', seconds: 86_400 },
]

const MAX_WHY = 4
const MIN_SUBJECT_ROWS = 3

/** The rows of the prompt, each at most as wide as the screen; only these escapes are in them that are written here. */
export function promptRows(request: ApprovalRequest, state: PromptState, screen: Screen): string[] {
  const columns = Math.max(20, screen.columns)
  const head = headRows(request, columns)
  const keys = keyRows(request, state, columns)
  const tail = [...whyRows(request, columns), ...grantRows(request, state, columns), '']
  const room = Math.max(MIN_SUBJECT_ROWS, screen.rows - head.length - tail.length - keys.length - 1)
  const subject = shownRows(subjectRows(request, columns), scrollOf(request, state, screen), room, columns)
  // On a very small screen the subject and the keys matter most.
  return [...[...head, ...subject, ...tail].slice(0, Math.max(1, screen.rows - keys.length)), ...keys]
}

/** How far the subject can be scrolled. */
export function maximumScroll(request: ApprovalRequest, screen: Screen): number {
  return Math.max(0, subjectRows(request, Math.max(20, screen.columns)).length - 1)
}

/** The first row that is shown: a script of many lines opens at the line that asks. */
export function scrollOf(request: ApprovalRequest, { scroll }: PromptState, screen: Screen): number {
  if (scroll !== null) return scroll
  const start = request.asks.find((part) => part.span)?.span?.start ?? 0
  const rows = wrap(pieces(request.subject), Math.max(20, screen.columns) - 2)
  const row = rows.findIndex((pieces) => pieces.some((piece) => piece.at >= start))
  return Math.max(0, row - 1)
}

function headRows({ tool, where, asks }: ApprovalRequest, columns: number): string[] {
  const title = ` cordon asks: ${tool} `
  const rule = '─'.repeat(Math.max(0, columns - 2 - title.length))
  const hosts = [...new Set(asks.filter((part) => part.kind === 'host').map((part) => part.text))]
  return [
    bold(cutTo(`──${title}${rule}`, columns)),
    ...(where === undefined ? [] : [dim(cutTo(`in ${where}`, columns))]),
    ...hosts.slice(0, 3).map((host) => `${dim('host ')}${bold(cutTo(host, columns - 5))}`),
  ]
}

/** The exact command, path or URL; what asks is underlined. A bar stands before every row, so no row can pass for ours. */
function subjectRows({ subject, asks }: ApprovalRequest, columns: number): string[] {
  const spans = asks.flatMap((part) => (part.span && part.kind !== 'tool' ? [part.span] : []))
  return wrap(pieces(subject), columns - 2).map(
    (row) => `${dim('│')} ${row.map((piece) => paintPiece(piece, spans)).join('')}`,
  )
}

function paintPiece(piece: Piece, spans: readonly Span[]): string {
  const text = piece.escape ? inverse(piece.text) : piece.text
  return spans.some((span) => piece.at >= span.start && piece.at < span.end) ? underline(text) : text
}

function shownRows(rows: readonly string[], scroll: number, room: number, columns: number): string[] {
  if (rows.length <= room) return [...rows]
  const first = Math.min(scroll, Math.max(0, rows.length - (room - 1)))
  const shown = rows.slice(first, first + room - 1)
  const hidden = rows.length - shown.length
  return [...shown, inverse(cutTo(` ${hidden} more rows of ${rows.length}: ↑ ↓ `, columns))]
}

function whyRows({ asks, decision }: ApprovalRequest, columns: number): string[] {
  const reasons = asks.length > 0 ? asks : [decision]
  const rows = reasons.slice(0, MAX_WHY).flatMap((part) => whyOne(part, columns))
  return reasons.length > MAX_WHY ? [...rows, dim(`  and ${reasons.length - MAX_WHY} more`)] : rows
}

function whyOne({ reason, rules }: Pick<PartDecision, 'reason' | 'rules'>, columns: number): string[] {
  const rule = rules[0]
  return [
    ...wrapWords(reason.message, columns - 5).map((row, index) => `${index === 0 ? dim('why  ') : '     '}${row}`),
    dim(cutTo(`     [${reason.code}]${rule ? ` ${rule.rule} (${rule.source})` : ''}`, columns)),
  ]
}

function grantRows({ suggestions }: ApprovalRequest, { choice }: PromptState, columns: number): string[] {
  const grant = suggestions[choice]
  if (!grant) return [dim(cutTo('save Nothing: this is asked every time.', columns))]
  const place = suggestions.length > 1 ? `  ${choice + 1}/${suggestions.length}` : ''
  const arrows = suggestions.length > 1 ? '  ← narrower  → broader' : ''
  const room = Math.max(4, columns - 5 - grant.kind.length - 1 - place.length)
  return [
    `${dim('save ')}${grant.kind} ${bold(cutTo(grant.value, room))}${dim(place)}`,
    ...wrapWords(`admits ${grant.admits}${arrows}`, columns - 5).map((row) => dim(`     ${row}`)),
  ]
}

function keyRows({ suggestions }: ApprovalRequest, state: PromptState, columns: number): string[] {
  if (state.step === 'time') {
    return keys([...TIMES.map(({ key, label }): [string, string] => [key, label]), ['Esc', 'back']], columns)
  }
  if (state.step === 'message') {
    const rows = wrap(pieces(state.message), columns - 2)
    return [
      dim(cutTo('no, and tell the model (Enter sends, Esc goes back):', columns)),
      ...rows.slice(-2).map((row) => `> ${row.map((piece) => piece.text).join('')}`),
    ]
  }
  const saving: readonly [string, string][] =
    suggestions.length === 0
      ? []
      : [
          ['s', 'this session'],
          ['t', 'for a time'],
          ['a', 'always'],
        ]
  const never: readonly [string, string][] = suggestions.length === 0 ? [] : [['d', 'never']]
  return keys([['y', 'once'], ...saving, ['n', 'no'], ...never, ['m', 'no, with a message']], columns)
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
