/** The text being written, and what each key does to it. No I/O. */

import type { KeyName } from '../screen/keys.ts'

export interface Draft {
  readonly text: string
  /** In UTF-16 units, between characters. */
  readonly cursor: number
}

export const EMPTY: Draft = { text: '', cursor: 0 }

export function draftOf(text: string): Draft {
  return { text, cursor: text.length }
}

/** Inserts text without terminal controls. */
export function insert({ text, cursor }: Draft, added: string): Draft {
  const clean = [...added.replace(/\t/g, '  ')].filter((char) => char === '\n' || !/\p{Cc}/u.test(char)).join('')
  return { text: text.slice(0, cursor) + clean.toWellFormed() + text.slice(cursor), cursor: cursor + clean.length }
}

/** Applies a key; null if the editor does not use it. */
export function edit(draft: Draft, key: KeyName): Draft | null {
  const { text, cursor } = draft
  const before = text.slice(0, cursor)
  const after = text.slice(cursor)
  const moved = (to: number): Draft => ({ text, cursor: to })
  switch (key) {
    case 'left':
      return moved(cursor - lastOf(before).length)
    case 'right':
      return moved(cursor + firstOf(after).length)
    case 'home':
      return moved(before.lastIndexOf('\n') + 1)
    case 'end':
      return moved(cursor + lineRest(after).length)
    case 'word-left':
      return moved(Math.max(0, before.search(/\S+\s*$/)))
    case 'word-right':
      return moved(cursor + (/^\s*\S+/.exec(after)?.[0].length ?? after.length))
    case 'backspace':
      return {
        text: before.slice(0, before.length - lastOf(before).length) + after,
        cursor: cursor - lastOf(before).length,
      }
    case 'delete':
      return { text: before + after.slice(firstOf(after).length), cursor }
    case 'kill-word': {
      const kept = before.replace(/\S*\s*$/, '')
      return { text: kept + after, cursor: kept.length }
    }
    case 'kill-line': {
      const start = before.lastIndexOf('\n') + 1
      return { text: before.slice(0, start) + after, cursor: start }
    }
    case 'kill-rest': {
      const rest = lineRest(after).length || (after.startsWith('\n') ? 1 : 0)
      return { text: before + after.slice(rest), cursor }
    }
    case 'newline':
      return insert(draft, '\n')
    default:
      return null
  }
}

/** Moves a line up or down; null at the edge, so that history can use the key. */
export function moveLine({ text, cursor }: Draft, step: -1 | 1): Draft | null {
  const start = text.lastIndexOf('\n', cursor - 1) + 1
  const column = cursor - start
  if (step < 0) {
    if (start === 0) return null
    const above = text.lastIndexOf('\n', start - 2) + 1
    return { text, cursor: Math.min(above + column, start - 1) }
  }
  const end = text.indexOf('\n', cursor)
  if (end < 0) return null
  const below = text.indexOf('\n', end + 1)
  return { text, cursor: Math.min(end + 1 + column, below < 0 ? text.length : below) }
}

function lineRest(text: string): string {
  const end = text.indexOf('\n')
  return end < 0 ? text : text.slice(0, end)
}

const segments = (text: string): string[] =>
  [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)].map(({ segment }) => segment)

/** The last grapheme. */
function lastOf(text: string): string {
  return segments(text.slice(-40)).at(-1) ?? ''
}

function firstOf(text: string): string {
  return segments(text.slice(0, 40))[0] ?? ''
}
