/** Values as TOML text: for the effective manifest, for saved grants, for imports. */

import { type Plain, shorten } from './plain.ts'
import { joinKey } from './tree.ts'

type PlainTable = { readonly [key: string]: Plain }

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
  return joinKey('', name).replaceAll('\u007f', '\\u007F').replace(/^\*$/, '"*"')
}

function isTable(value: Plain): value is PlainTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A whole document: scalars and lists first, then a section for each table, `[[name]]` for lists of tables. */
export function printDocument(document: PlainTable): string {
  const blocks: string[] = []
  printTable(document, '', blocks)
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

function printTable(value: PlainTable, path: string, blocks: string[], header: string | null = null): void {
  const lines: string[] = []
  const below: [string, Plain][] = []
  for (const [name, field] of Object.entries(value)) {
    if (field === null) continue
    const tables = isTable(field) || (path === '' && Array.isArray(field) && field.length > 0 && field.every(isTable))
    if (tables) below.push([name, field])
    else lines.push(`${printKey(name)} = ${printList(field)}`)
  }
  if (header !== null || lines.length > 0)
    blocks.push([header ?? `[${path}]`, ...lines].slice(path === '' ? 1 : 0).join('\n'))
  else if (path !== '' && below.length === 0) blocks.push(`[${path}]`)
  for (const [name, field] of below) {
    const here = path === '' ? printKey(name) : `${path}.${printKey(name)}`
    if (Array.isArray(field)) for (const item of field) printTable(item as PlainTable, here, blocks, `[[${here}]]`)
    else printTable(field as PlainTable, here, blocks)
  }
}

/** A list of more than a few entries has one on each line. */
function printList(value: Plain): string {
  if (!Array.isArray(value)) return printValue(value)
  const inline = printValue(value)
  if (inline.length <= 80) return inline
  return `[\n${value.map((item) => `  ${printValue(shorten(item))},`).join('\n')}\n]`
}
