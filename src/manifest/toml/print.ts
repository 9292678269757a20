/** Values as TOML text: for the effective manifest, for saved grants, for imports. */

import { type Plain, shorten } from './plain.ts'

/** A text as a TOML basic string. */
export function printString(text: string): string {
  // JSON escapes all that TOML forbids in a string, save for DEL.
  return JSON.stringify(text).replaceAll('\u007f', '\\u007F')
}

/** A value on one line. */
export function printValue(value: Plain): string {
  if (typeof value === 'string') return printString(value)
  if (Array.isArray(value)) return `[${value.map((item) => printValue(shorten(item))).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== null)
    if (fields.length === 0) return '{}'
    return `{ ${fields.map(([name, field]) => `${printKey(name)} = ${printValue(field)}`).join(', ')} }`
  }
  return printNumber(value)
}

function printNumber(value: boolean | number | null): string {
  if (typeof value !== 'number') return String(value)
  // Beyond 2^53 a number that looks like an integer would be read as one, digit for digit.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return value.toExponential()
  if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value)
  return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
}

function printKey(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : printString(name)
}
