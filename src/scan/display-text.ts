/** Text of strangers in rows on a person's terminal: each piece knows its width, and where it is in the source. */

import { eastAsianWidth } from 'get-east-asian-width'
import { shownCharacters, visible } from './visible-text.ts'

/** A piece of a row: plain, or an escape for a character that is not shown. */
export interface Piece {
  readonly text: string
  readonly escape: boolean
  /** Cells on the terminal. */
  readonly width: number
  /** Where the character is in the source. */
  readonly at: number
  /** A line of the source ends here. */
  readonly breaks: boolean
}

const EMOJI = /^\p{Emoji_Presentation}$/u

/** Takes a text apart into pieces that are safe to show. */
export function pieces(text: string): Piece[] {
  return shownCharacters(text).map(({ text: shown, source, at, escaped, mark }) => ({
    text: shown,
    escape: escaped,
    width: escaped ? shown.length : mark ? 0 : cellsOf(shown),
    at,
    breaks: source === '\n',
  }))
}

function cellsOf(character: string): number {
  return EMOJI.test(character) ? 2 : eastAsianWidth(character.codePointAt(0) ?? 0)
}

/** The width of a text in cells, once it is escaped. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  return pieces(text).reduce((sum, piece) => sum + piece.width, 0)
}

/** Rows of at most `columns` cells; a row ends after an escaped newline as well. */
export function wrap(all: readonly Piece[], columns: number): Piece[][] {
  const rows: Piece[][] = [[]]
  let used = 0
  for (const piece of all) {
    if (used + piece.width > columns && used > 0) {
      rows.push([])
      used = 0
    }
    rows.at(-1)!.push(piece)
    used += piece.width
    if (piece.breaks) {
      rows.push([])
      used = 0
    }
  }
  return rows.length > 1 && rows.at(-1)!.length === 0 ? rows.slice(0, -1) : rows
}

/** Rows of prose, broken between words where that is possible. */
export function wrapWords(text: string, columns: number): string[] {
  const rows: string[] = []
  let row = ''
  let used = 0
  for (const word of text.split(' ')) {
    const width = widthOf(word)
    if (used > 0 && used + 1 + width > columns) {
      rows.push(row)
      row = ''
      used = 0
    }
    if (width > columns) {
      const parts = wrap(pieces(word), columns).map(rowText)
      if (used > 0) rows.push(row)
      rows.push(...parts.slice(0, -1))
      row = parts.at(-1) ?? ''
      used = widthOf(row)
      continue
    }
    row = used === 0 ? visible(word) : `${row} ${visible(word)}`
    used += used === 0 ? width : width + 1
  }
  rows.push(row)
  return rows
}

/** The escaped text on one row, cut to `columns` cells. */
export function cutTo(text: string, columns: number): string {
  const all = pieces(text)
  if (widthOf(text) <= columns) return rowText(all)
  let used = 0
  const kept = all.filter((piece) => {
    used += piece.width
    return used <= columns - 1
  })
  return `${rowText(kept)}…`
}

/** The same, cut in the middle: of a path both ends say where it is, and its end must not be pushed out of sight. */
export function cutMiddle(text: string, columns: number): string {
  const all = pieces(text)
  if (widthOf(text) <= columns) return rowText(all)
  const cells = Math.max(1, columns - 1)
  const head = fitting(all, Math.floor(cells / 3))
  const tail = fitting(all.toReversed(), cells - Math.floor(cells / 3)).toReversed()
  return `${rowText(head)}…${rowText(tail.slice(tail.findIndex((piece) => piece.width > 0)))}`
}

function fitting(all: readonly Piece[], columns: number): Piece[] {
  let used = 0
  const end = all.findIndex((piece) => {
    used += piece.width
    return used > columns
  })
  return all.slice(0, end < 0 ? all.length : end)
}

function rowText(row: readonly Piece[]): string {
  return row.map((piece) => piece.text).join('')
}
