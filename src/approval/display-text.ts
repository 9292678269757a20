/** Text of strangers on a person's terminal: nothing in it can move the cursor, hide, turn around or look like a line of ours. */

/** A piece of a row: plain, or an escape that stands for a character which is not shown. */
export interface Piece {
  readonly text: string
  readonly escape: boolean
  /** Cells on the terminal. */
  readonly width: number
  /** Where the character stands in the source. */
  readonly at: number
  /** A line of the source ends here. */
  readonly breaks: boolean
}

/**
 * Never shown as they are: control and format characters (bidi, zero-width), separators that are no plain blank, fillers that
 * look like nothing, characters without a fixed look, and variation selectors.
 */
const HIDDEN =
  /^(?:[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\u00a0\u115f\u1160\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0]|\p{Variation_Selector})$/u
const MARK = /^\p{M}$/u
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})$/u

/** More marks than any script stacks would run into the rows above. */
const MAX_MARKS = 3

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e', '\0': '\\0' }

/** Takes a text apart into pieces that are safe to show. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = []
  let at = 0
  let marks = 0
  for (const character of text) {
    const mark = MARK.test(character)
    marks = mark ? marks + 1 : 0
    if (HIDDEN.test(character) || (mark && (marks > MAX_MARKS || at === 0))) {
      const shown = NAMED[character] ?? `\\u{${character.codePointAt(0)!.toString(16)}}`
      found.push({ text: shown, escape: true, width: shown.length, at, breaks: character === '\n' })
    } else {
      found.push({ text: character, escape: false, width: mark ? 0 : WIDE.test(character) ? 2 : 1, at, breaks: false })
    }
    at += character.length
  }
  return found
}

/** The cells that a text takes once it is made safe. */
export function widthOf(text: string): number {
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
    row = used === 0 ? safe(word) : `${row} ${safe(word)}`
    used += used === 0 ? width : width + 1
  }
  rows.push(row)
  return rows
}

/** The text on one row, made safe, cut to `columns` cells. */
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

/** The text with everything that is not shown as a visible escape. */
export function safe(text: string): string {
  return rowText(pieces(text))
}

function rowText(row: readonly Piece[]): string {
  return row.map((piece) => piece.text).join('')
}
