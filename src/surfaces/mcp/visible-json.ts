/** JSON from outside with hidden characters escaped. */

import { visibleLines } from '../terminal/terminal.ts'
import { isObject } from './json-rpc.ts'

export function withVisibleText(value: unknown): unknown {
  if (typeof value === 'string') return visibleLines(value)
  if (Array.isArray(value)) return value.map(withVisibleText)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withVisibleText(field)]))
}
