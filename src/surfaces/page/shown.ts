/** What leaves for the page: every text with its secrets masked and nothing in it that could hide, turn round or pile up. */

import { createRedactor } from '../../scan/redact/redact.ts'
import { visible, visibleLines } from '../../scan/visible-text.ts'

const redactor = createRedactor()

/** Longer texts are cut: the page shows, the record keeps. */
const MAX_TEXT = 20_000

/** A text on one line. */
export function shownText(text: string): string {
  return cut(visible(redactor.redact(text.slice(0, 2 * MAX_TEXT))))
}

/** A text of several lines. */
export function shownLines(text: string): string {
  return cut(visibleLines(redactor.redact(text.slice(0, 2 * MAX_TEXT))))
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} …` : text
}

/** A value of which every text and every name is made visible; texts of several lines stay so. */
export function shown(value: unknown): unknown {
  if (typeof value === 'string') return shownLines(value)
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [shownText(name), shown(part)]))
}
