/** Shows what a manifest opens: first changes, then a headline of the widest grants, then everything. */

import type { SignatureView, SummaryLine } from '../../project/sign/signature-view.ts'
import { cutMiddle, widthOf, wrapWords } from '../../scan/display-text.ts'
import { paint, type Style, type Terminal } from '../terminal/terminal.ts'

/** Leaves the headline on screen above the question. */
const SHOWN = 12
const LABEL = 16
/** Long items must not push others off the screen. */
const ITEM = 44
const ITEM_ROWS = 2

/** The view at the terminal's width; `all` includes every sentence. */
export function describeSignature(terminal: Terminal, view: SignatureView, all: boolean): string {
  const columns = Math.max(40, Math.min(terminal.width, 120))
  const { summary } = view
  const headline = [
    ...summary.alarms.flatMap((text) => sentence(terminal, columns, '!', 'red', text)),
    ...summary.lines.flatMap((line) => headlineRows(terminal, columns, line)),
  ]
  const words = sentences(terminal, columns, view, all)
  const title = (text: string) => paint(terminal, 'bold', text)
  const parts = view.again
    ? [title('Since you last signed it:'), ...words, title('With that, this project:'), ...headline]
    : [title('With this manifest, an agent in this project:'), ...headline, title('In words:'), ...words]
  return `${parts.join('\n')}\n`
}

const SIGNS: Readonly<Record<'opens' | 'changes' | 'closes', readonly [sign: string, style: Style]>> = {
  opens: ['+', 'yellow'],
  changes: ['~', 'yellow'],
  closes: ['-', 'green'],
}

/** Changes in words, widest first. */
export function describeChanges(terminal: Terminal, view: ShownChanges, opening: Style = SIGNS.opens[1]): string {
  return `${sentences(terminal, Math.max(40, Math.min(terminal.width, 120)), view, true, opening).join('\n')}\n`
}

interface ShownChanges {
  readonly changes: readonly { readonly direction: keyof typeof SIGNS; readonly text: string }[]
  readonly absent: readonly string[]
}

function sentences(
  terminal: Terminal,
  columns: number,
  view: ShownChanges,
  all: boolean,
  opening: Style = SIGNS.opens[1],
): string[] {
  const { changes, absent } = view
  const rows = changes.map(({ direction, text }) => {
    const [sign, style] = SIGNS[direction]
    return sentence(terminal, columns, sign, direction === 'opens' ? opening : style, text)
  })
  const left = all ? 0 : rows.length - SHOWN
  const more = left > 0 ? [paint(terminal, 'dim', `  and ${left} more, none of them broader (cordon sign --all)`)] : []
  const named = absent
    .slice(0, 3)
    .map((path) => JSON.stringify(path))
    .join(', ')
  const others = absent.length > 3 ? ` and ${absent.length - 3} more` : ''
  const missing =
    absent.length === 0
      ? []
      : sentence(terminal, columns, ' ', 'dim', `Could be read, but is not there now: ${named}${others}.`)
  if (rows.length + missing.length === 0) return ['  nothing changes']
  return [...(left > 0 ? rows.slice(0, SHOWN) : rows).flat(), ...more, ...missing]
}

function sentence(terminal: Terminal, columns: number, sign: string, style: Style, text: string): string[] {
  return wrapWords(text, columns - 4).map(
    (row, index) => `  ${index === 0 ? paint(terminal, style, sign) : ' '} ${row}`,
  )
}

/** A label and the widest items in at most two rows, always with the number of the others. */
function headlineRows(terminal: Terminal, columns: number, { label, items }: SummaryLine): string[] {
  const space = columns - LABEL - 2
  const shown = items.map((item) => cutMiddle(item, Math.min(ITEM, space - 1)))
  // No screen shows more.
  let count = Math.min(shown.length, 60)
  const rowsOf = (kept: number): string[] => {
    const rest = shown.length - kept
    const cells = [...shown.slice(0, kept).map((item, index) => (index < kept - 1 || rest > 0 ? `${item},` : item))]
    return pack(rest > 0 ? [...cells, `and ${rest} more`] : cells, space)
  }
  while (count > 1 && rowsOf(count).length > ITEM_ROWS) count--
  return rowsOf(count).map(
    (row, index) => `  ${paint(terminal, 'cyan', index === 0 ? label.padEnd(LABEL) : ' '.repeat(LABEL))}${row}`,
  )
}

function pack(cells: readonly string[], space: number): string[] {
  const rows: string[] = []
  for (const cell of cells) {
    const last = rows.at(-1)
    if (last !== undefined && widthOf(last) + 1 + widthOf(cell) <= space) rows[rows.length - 1] = `${last} ${cell}`
    else rows.push(cell)
  }
  return rows
}
