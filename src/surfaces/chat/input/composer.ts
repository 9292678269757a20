/** The prompt's editor with history and completion. Keys in, actions out, rows to draw. No I/O. */

import { cutTo, pieces } from '../../../scan/display-text.ts'
import { visible } from '../../../scan/visible-text.ts'
import type { Key } from '../screen/keys.ts'
import type { LiveRow, LiveView } from '../screen/live-screen.ts'
import type { Paint } from '../view/style.ts'
import { type Draft, draftOf, EMPTY, edit, insert, moveLine } from './line-editor.ts'

export type ComposerAction =
  | { readonly type: 'submit'; readonly text: string }
  | { readonly type: 'interrupt' | 'leave' | 'switch-agent' | 'redraw' | 'escape' | 'changed' | 'diff' | 'undo' }

/** Replacements for the text before the cursor. */
export interface Completion {
  /** Where the completed word starts. */
  readonly start: number
  readonly choices: readonly string[]
}

export type Completer = (text: string, cursor: number) => Completion | null

interface Choosing {
  readonly before: Draft
  readonly completion: Completion
  readonly index: number
}

const MARK = '› '
const INDENT = '  '

export class Composer {
  #draft: Draft = EMPTY
  #choosing: Choosing | null = null
  /** Null for the newest text; otherwise the index in the history. */
  #at: number | null = null
  #kept: Draft = EMPTY
  /** What Ctrl-R looks for; null: it does not. */
  #sought: string | null = null
  /** What Tab would choose from. */
  #hint: Completion | null = null
  readonly #history: string[]
  #complete: Completer = () => null

  constructor(history: readonly string[] = []) {
    this.#history = [...history]
  }

  get text(): string {
    return this.#draft.text
  }

  /** Adds the history of earlier sessions, which is read after the first keys. */
  remember(history: readonly string[]): void {
    this.#history.unshift(...history)
  }

  completeWith(complete: Completer): void {
    this.#complete = complete
  }

  clear(): void {
    this.#draft = EMPTY
    this.#hint = null
    this.#sought = null
    this.#choosing = null
    this.#at = null
  }

  take(key: Key): ComposerAction {
    const action = this.#take(key)
    const before = this.#draft.text.slice(0, this.#draft.cursor)
    const wanted = !this.#choosing && this.#sought === null && /(?:^\/\S*|(?:^|\s)@\S+)$/.test(before)
    this.#hint = wanted ? this.#complete(this.#draft.text, this.#draft.cursor) : null
    return action
  }

  #take(key: Key): ComposerAction {
    if (this.#sought !== null) {
      const done = this.#takeSought(this.#sought, key)
      if (done) return done
    }
    if (key.kind !== 'key') {
      this.#choosing = null
      this.#draft = insert(this.#draft, key.text)
      return { type: 'changed' }
    }
    const { name } = key
    if (name === 'tab' || name === 'back-tab') return this.#tab(name === 'tab' ? 1 : -1)
    this.#choosing = null
    switch (name) {
      case 'enter':
        return this.#enter()
      case 'interrupt':
      case 'escape':
      case 'redraw':
      case 'diff':
      case 'undo':
        return { type: name }
      case 'leave':
        if (this.#draft.text === '') return { type: 'leave' }
        this.#draft = edit(this.#draft, 'delete')!
        return { type: 'changed' }
      case 'up':
      case 'down':
        this.#draft = moveLine(this.#draft, name === 'up' ? -1 : 1) ?? this.#travel(name === 'up' ? -1 : 1)
        return { type: 'changed' }
      case 'search':
        if (this.#at === null) this.#kept = this.#draft
        this.#sought = this.#draft.text
        this.#find(this.#at ?? this.#history.length)
        return { type: 'changed' }
      default:
        this.#draft = edit(this.#draft, name) ?? this.#draft
        return { type: 'changed' }
    }
  }

  /** A key while searching; null if it ends the search and has its usual meaning. */
  #takeSought(sought: string, key: Key): ComposerAction | null {
    const name = key.kind === 'key' ? key.name : null
    if (name === 'search') this.#find(this.#at ?? this.#history.length)
    else if (key.kind !== 'key' || name === 'backspace') {
      this.#sought = key.kind === 'key' ? [...sought].slice(0, -1).join('') : insert(draftOf(sought), key.text).text
      this.#find(this.#history.length, false)
    } else {
      this.#sought = null
      if (name === 'escape' || name === 'interrupt') {
        this.#at = null
        this.#draft = this.#kept
      } else if (name !== 'enter' && name !== 'tab') return null
    }
    return { type: 'changed' }
  }

  #enter(): ComposerAction {
    const { text, cursor } = this.#draft
    // A trailing backslash continues the line, in terminals without another way.
    if (text.slice(0, cursor).endsWith('\\') && cursor === text.length) {
      this.#draft = insert({ text: text.slice(0, -1), cursor: cursor - 1 }, '\n')
      return { type: 'changed' }
    }
    if (text.trim() === '') return { type: 'changed' }
    if (this.#history.at(-1) !== text) this.#history.push(text)
    this.clear()
    return { type: 'submit', text }
  }

  #travel(step: -1 | 1): Draft {
    if (this.#at === null) {
      if (step > 0 || this.#history.length === 0) return this.#draft
      this.#kept = this.#draft
      this.#at = this.#history.length
    }
    const next = this.#at + step
    if (next < 0) return this.#draft
    if (next >= this.#history.length) {
      this.#at = null
      return this.#kept
    }
    this.#at = next
    return draftOf(this.#history[next]!)
  }

  /** Shows the newest text before `end` that contains what is sought. */
  #find(end: number, isNext = true): void {
    for (let at = end - 1; at >= 0; at--) {
      const found = this.#history[at]!
      if (!found.includes(this.#sought!) || (isNext && found === this.#draft.text)) continue
      this.#at = at
      this.#draft = draftOf(found)
      return
    }
  }

  #tab(step: 1 | -1): ComposerAction {
    if (this.#choosing) {
      const { before, completion, index } = this.#choosing
      const count = completion.choices.length
      this.#choose(before, completion, (index + step + count) % count)
      return { type: 'changed' }
    }
    if (this.#draft.text === '') return { type: 'switch-agent' }
    const completion = this.#complete(this.#draft.text, this.#draft.cursor)
    if (!completion || completion.choices.length === 0) return { type: 'changed' }
    this.#choose(this.#draft, completion, 0)
    if (completion.choices.length === 1) this.#choosing = null
    return { type: 'changed' }
  }

  #choose(before: Draft, completion: Completion, index: number): void {
    const text = before.text.slice(0, completion.start)
    const rest = before.text.slice(before.cursor)
    const chosen = completion.choices[index]!
    this.#draft = { text: text + chosen + rest, cursor: text.length + chosen.length }
    this.#choosing = { before, completion, index }
  }

  /** The rows of the prompt with `status` below. */
  view(columns: number, maxRows: number, paint: Paint, status: string): LiveView {
    const { rows, cursor } = this.#rows(Math.max(10, columns - INDENT.length - 1))
    const space = Math.max(1, maxRows)
    // The rows around the cursor if not all fit.
    const first = Math.max(0, Math.min(rows.length - space, cursor.row - Math.floor(space / 2)))
    const shown = rows.slice(first, first + space).map((text, index): LiveRow => {
      const lead = index + first === 0 ? MARK : INDENT
      return { text: `${index + first === 0 ? paint('cyan', lead) : lead}${text}`, plain: lead + text }
    })
    const last = this.#sought === null ? status : `search: ${this.#sought} · Ctrl-R older, Enter takes it, Esc back`
    const below = [
      ...this.#choices(columns, paint),
      row(paint('dim', cutTo(last, columns - 1)), cutTo(last, columns - 1)),
    ]
    return { rows: [...shown, ...below], cursor: { row: cursor.row - first, column: cursor.column + INDENT.length } }
  }

  #choices(columns: number, paint: Paint): LiveRow[] {
    const completion = this.#choosing?.completion ?? this.#hint
    if (!completion || completion.choices.length === 0) return []
    const index = this.#choosing?.index ?? -1
    const from = Math.max(0, index - 3)
    const names = completion.choices.slice(from, from + 8).map(visible)
    const more = completion.choices.length > from + 8 ? '  …' : ''
    const whole = names.join('  ') + more
    const plain = cutTo(whole, columns - 3)
    const painted = names.map((name, at) => (at + from === index ? paint('underline', name) : name)).join('  ') + more
    return [row(`  ${plain === whole ? painted : plain}`, `  ${plain}`)]
  }

  /** The draft in rows, and the cursor's place. */
  #rows(columns: number): { rows: string[]; cursor: { row: number; column: number } } {
    const rows: string[] = ['']
    let used = 0
    let cursor: { row: number; column: number } | null = null
    for (const piece of pieces(this.#draft.text)) {
      if (piece.at >= this.#draft.cursor && cursor === null) cursor = { row: rows.length - 1, column: used }
      if (piece.breaks) {
        rows.push('')
        used = 0
        continue
      }
      if (used + piece.width > columns) {
        rows.push('')
        used = 0
        if (cursor !== null && piece.at === this.#draft.cursor) cursor = { row: rows.length - 1, column: 0 }
      }
      rows[rows.length - 1] += piece.text
      used += piece.width
    }
    return { rows, cursor: cursor ?? { row: rows.length - 1, column: used } }
  }
}

function row(text: string, plain: string): LiveRow {
  return { text, plain }
}
