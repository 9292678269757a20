/** JSON of a stranger in which nothing is hidden: characters that a person would not see are written out. */

import { visibleLines } from '../terminal/terminal.ts'
import { isObject } from './json-rpc.ts'

export function withVisibleText(value: unknown): unknown {
  if (typeof value === 'string') return visibleLines(value)
  if (Array.isArray(value)) return value.map(withVisibleText)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withVisibleText(field)]))
}
