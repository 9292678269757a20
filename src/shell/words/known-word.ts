/** Words by their one known text, and words with a placeholder for input. */

import type { Word } from '../facts.ts'
import { unknownWord } from './pieces.ts'

/** The single known text of a word, or null. */
export function textOf(word: Word | undefined): string | null {
  return word?.values?.length === 1 && !word.splits ? (word.values[0] ?? null) : null
}

/** What changes in a word that is read as this text. */
export function single(text: string): Pick<Word, 'text' | 'values' | 'prefix' | 'dynamic' | 'pattern' | 'splits'> {
  return { text, values: [text], prefix: text, dynamic: [], pattern: null, splits: false }
}

/** A word with input in the position of the placeholder. */
export function replaceInput(word: Word, mark: string): Word {
  const at = word.values?.findIndex((value) => value.includes(mark)) ?? -1
  if (at === -1) return word
  const text = word.values?.[0] ?? ''
  return {
    ...unknownWord(word.text, 'input', word.span, false),
    prefix: word.values?.length === 1 ? text.slice(0, text.indexOf(mark)) : '',
  }
}
