/** Prints text into the scrollback and redraws a few live rows below it, without a full screen. */

import { widthOf } from '../../../scan/display-text.ts'

export interface LiveRow {
  /** Safe text, with our styles. */
  readonly text: string
  /** The same without styles, for its width. */
  readonly plain: string
}

export interface LiveView {
  readonly rows: readonly LiveRow[]
  /** The cursor in cells; null: hidden. */
  readonly cursor: { readonly row: number; readonly column: number } | null
}

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

const SYNC_ON = '\u001b[?2026h'
const SYNC_OFF = '\u001b[?2026l'
const HIDE = '\u001b[?25l'
const SHOW = '\u001b[?25h'
const CLEAR_BELOW = '\u001b[J'

/** Writes each update at once, so that no partial one is visible. */
export class LiveScreen {
  readonly #write: (text: string) => void
  readonly #size: () => ScreenSize
  #drawn: LiveView = { rows: [], cursor: null }
  #away = false
  /** Output while another program had the terminal. */
  #queued: string[] = []

  constructor(write: (text: string) => void, size: () => ScreenSize) {
    this.#write = write
    this.#size = size
  }

  get size(): ScreenSize {
    return this.#size()
  }

  /** Prints whole lines above the live rows. */
  print(lines: readonly string[], view: LiveView): void {
    if (this.#away) {
      this.#queued.push(...lines)
      return
    }
    const above = lines.map((line) => `${line}\r\n`).join('')
    this.#write(`${SYNC_ON}${HIDE}${this.#back()}${above}${this.#draw(view)}${SYNC_OFF}`)
  }

  /** Clears the live rows for another program. */
  leave(): void {
    if (this.#away) return
    this.#write(`${this.#back()}${SHOW}`)
    this.#drawn = { rows: [], cursor: null }
    this.#away = true
  }

  /** Redraws after another program had the terminal. */
  redraw(view: LiveView): void {
    this.#away = false
    this.print(this.#queued.splice(0), view)
  }

  get isAway(): boolean {
    return this.#away
  }

  /** Moves to the first live row; the terminal's width may have changed. */
  #back(): string {
    const { rows, cursor } = this.#drawn
    const { columns } = this.#size()
    const tall = (row: LiveRow) => Math.max(1, Math.ceil(widthOf(row.plain) / columns))
    const upTo = rows.slice(0, cursor ? cursor.row : -1).reduce((sum, row) => sum + tall(row), 0)
    const last = rows.at(-1)
    const inRow = cursor ? Math.floor(cursor.column / columns) : last ? tall(last) - 1 : 0
    const above = upTo + inRow
    return `\r${above > 0 ? `\u001b[${above}A` : ''}${CLEAR_BELOW}`
  }

  #draw(view: LiveView): string {
    // Rows beyond the screen would scroll and could not be erased.
    const space = Math.max(1, this.#size().rows - 1)
    const skipped = Math.max(0, view.rows.length - space)
    const rows = view.rows.slice(skipped)
    const cursor = view.cursor && view.cursor.row >= skipped ? { ...view.cursor, row: view.cursor.row - skipped } : null
    this.#drawn = { rows, cursor }
    const text = rows.map((row) => row.text).join('\r\n')
    if (!cursor) return text
    const up = rows.length - 1 - cursor.row
    const right = cursor.column > 0 ? `\u001b[${cursor.column}C` : ''
    return `${text}\r${up > 0 ? `\u001b[${up}A` : ''}${right}${SHOW}`
  }
}
