/** Edits a list of a manifest as text, and leaves every other line unchanged (P6). */

import { parseToml } from './toml.ts'
import { type ArrayNode, type Node, type Plain, shorten, type TableNode } from './tree.ts'

/** Why a text was left alone. */
type EditRefusal = 'not-toml' | 'not-a-list' | 'inline'

/**
 * The text with `value` appended to the list, for example of `['capabilities', 'allow',
 * 'commands']` and `patterns`. Missing section and list are created.
 */
export function appendToList(
  text: string,
  section: readonly string[],
  name: string,
  value: Plain,
): { readonly text: string } | { readonly refusal: EditRefusal } {
  const ends = new Map<Node, number>()
  const { root, problems } = parseToml(text, ends)
  if (problems.length > 0) return { refusal: 'not-toml' }
  const found = findTable(root, section)
  if (found === 'inline') return { refusal: 'inline' }
  if (found === null || found.form === 'implicit') {
    const gap = text === '' || text.endsWith('\n') ? '' : '\n'
    return { text: `${text}${gap}\n[${section.join('.')}]\n${name} = [${printValue(value)}]\n` }
  }
  const entry = found.entries.get(name)
  if (entry === undefined)
    return { text: insert(text, endOfLine(text, found.at), `\n${name} = [${printValue(value)}]`) }
  if (entry.node.kind !== 'array' || entry.node.form !== 'value') return { refusal: 'not-a-list' }
  return { text: appendItem(text, entry.node, ends, printValue(value)) }
}

/** The text without an entry of a list that is this very value; null where it is not there, or not in a form that is edited. */
export function removeFromList(text: string, section: readonly string[], name: string, value: Plain): string | null {
  const ends = new Map<Node, number>()
  const { root, problems } = parseToml(text, ends)
  const found = problems.length > 0 ? null : findTable(root, section)
  const list = found === null || found === 'inline' ? undefined : found.entries.get(name)?.node
  if (list?.kind !== 'array' || list.form !== 'value') return null
  const printed = printValue(value)
  const at = list.items.findIndex((item) => text.slice(item.at, ends.get(item)!) === printed)
  if (at < 0) return null
  const [item, before, after] = [list.items[at]!, list.items[at - 1], list.items[at + 1]]
  const end = ends.get(item)!
  const rest = withoutComments(text.slice(end, after?.at ?? ends.get(list)! - 1))
  const comma = rest.indexOf(',')
  const line = text.lastIndexOf('\n', item.at - 1) + 1
  const eol = endOfLine(text, end)
  // Its own line goes as a whole, with the comment behind it; those above and below it stay.
  const isAlone =
    text.slice(line, item.at).trim() === '' &&
    rest
      .slice(0, eol - end)
      .replace(',', '')
      .trim() === ''
  const isClosed = comma >= 0 && comma < eol - end
  if (line > list.at && isAlone && isClosed && eol < (after?.at ?? ends.get(list)!))
    return sound(text.slice(0, line) + text.slice(text.indexOf('\n', eol) + 1))
  const from = after || !before ? item.at : ends.get(before)!
  const to = after ? after.at : !before && comma >= 0 ? end + comma + 1 : end
  return sound(text.slice(0, from) + text.slice(to))
}

/** Null if the text no longer parses. */
function sound(text: string): string | null {
  return parseToml(text).problems.length === 0 ? text : null
}

function findTable(root: TableNode, section: readonly string[]): TableNode | 'inline' | null {
  let here = root
  for (const part of section) {
    const node = here.entries.get(part)?.node
    if (node === undefined) return null
    // A dotted or inline table is complete as written; a section of the same name would contradict
    // it.
    if (node.kind !== 'table' || node.form === 'inline' || node.form === 'dotted') return 'inline'
    here = node
  }
  return here
}

function appendItem(text: string, list: ArrayNode, ends: ReadonlyMap<Node, number>, value: string): string {
  const last = list.items.at(-1)
  const close = ends.get(list)! - 1
  if (last === undefined) {
    const inside = text.slice(list.at + 1, close)
    return inside.trim() === ''
      ? text.slice(0, list.at + 1) + value + text.slice(close)
      : insert(text, close, `${value} `)
  }
  const end = ends.get(last)!
  const rest = text.slice(end, close)
  if (!rest.includes('\n')) return insert(text, end, `, ${value}`)
  const start = text.lastIndexOf('\n', last.at - 1) + 1
  const lead = text.slice(start, last.at)
  const line = `\n${lead.trim() === '' ? lead : '  '}${value},`
  const comma = withoutComments(rest).indexOf(',')
  // A comma may be on a later line, and a second one would be an error.
  if (comma >= 0 && rest.slice(0, comma).includes('\n')) return insert(text, end + comma + 1, line)
  // A comment behind the last entry stays with it.
  const added = insert(text, endOfLine(text, end), line)
  return comma >= 0 ? added : insert(added, end, ',')
}

/** Comments as blanks, so that a comma in one is not taken for the list's. */
function withoutComments(rest: string): string {
  return rest.replace(/#[^\n]*/g, (comment) => ' '.repeat(comment.length))
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  if (end < 0) return text.length
  return text.charCodeAt(end - 1) === 0x0d ? end - 1 : end
}

function insert(text: string, at: number, added: string): string {
  return text.slice(0, at) + added + text.slice(at)
}

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
