/** Edits other programs' settings as text: others' comments, indentation, line ends and last byte stay. */

import { isRecord, parseSettings } from '../../system/json.ts'

interface Part {
  readonly start: number
  readonly end: number
}

interface Member extends Part {
  readonly key: string
  readonly value: Value
}

type Value = Part &
  ({ readonly items: readonly Value[] } | { readonly members: readonly Member[] } | { readonly scalar: true })

/** Appends an item to the list at a path, creating missing parents. */
export function withItem(text: string | null, path: readonly string[], item: unknown): string {
  const whole = textOrEmpty(text)
  const { value, rest } = descend(whole, path)
  if (rest.length > 0) return inserted(whole, value, wrapped(rest.slice(1), [item]), rest[0]!)
  return 'items' in value ? inserted(whole, value, item, null) : notA(path, 'list')
}

/** Sets the value at a path. */
export function withValue(text: string | null, path: readonly string[], wanted: unknown): string {
  const whole = textOrEmpty(text)
  const { value, rest } = descend(whole, path)
  if (rest.length > 0) return inserted(whole, value, wrapped(rest.slice(1), wanted), rest[0]!)
  return whole.slice(0, value.start) + JSON.stringify(wanted) + whole.slice(value.end)
}

/** The exact text of the value at a path, or null. */
export function textAt(text: string, path: readonly string[]): string | null {
  const value = at(text, path)
  return value === null ? null : text.slice(value.start, value.end)
}

/** Replaces the exact text of the existing value at a path. */
export function withTextAt(text: string, path: readonly string[], wanted: string): string {
  const { start, end } = at(text, path)!
  return text.slice(0, start) + wanted + text.slice(end)
}

/** Removes the items of a list for which `is` is true, then empty lists and objects unless they are to stay. */
export function withoutItems(
  text: string,
  path: readonly string[],
  is: (item: unknown) => boolean,
  stays: (path: readonly string[]) => boolean,
): string {
  let whole = text
  for (;;) {
    const found = at(whole, path)
    if (!found || !('items' in found)) return whole
    const index = found.items.findIndex((item) => is(parseSettings(whole.slice(item.start, item.end))))
    if (index < 0) return whole
    whole = cut(whole, found, found.items, index)
    const left = at(whole, path)
    if (left && 'items' in left && left.items.length === 0) return withoutEmpty(whole, path, stays)
  }
}

/** Removes the value at a path, then empty objects. */
export function withoutValue(
  text: string,
  path: readonly string[],
  stays: (path: readonly string[]) => boolean,
): string {
  const parent = at(text, path.slice(0, -1))
  if (!parent || !('members' in parent)) return text
  const index = parent.members.findIndex(({ key }) => key === path.at(-1))
  if (index < 0) return text
  const left = cut(text, parent, parent.members, index)
  return path.length > 1 ? withoutEmpty(left, path.slice(0, -1), stays) : left
}

function withoutEmpty(text: string, path: readonly string[], stays: (path: readonly string[]) => boolean): string {
  const value = path.length === 0 ? null : at(text, path)
  if (!value || stays(path)) return text
  const count = 'items' in value ? value.items.length : 'members' in value ? value.members.length : 1
  return count === 0 ? withoutValue(text, path, stays) : text
}

function wrapped(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
}

/** Inserting and removing at one place restores every byte. */
function inserted(text: string, container: Value, value: unknown, key: string | null): string {
  const parts: readonly Part[] =
    'items' in container ? container.items : 'members' in container ? container.members : []
  if ('scalar' in container) return notA([], 'object')
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '
  const outer = indentOf(text, container.start)
  const last = parts.at(-1)
  const inner =
    last && text.slice(container.start, last.start).includes('\n') ? indentOf(text, last.start) : outer + unit
  const lines = JSON.stringify(value, null, unit).replaceAll('\n', newline + inner)
  const written = key === null ? lines : `${JSON.stringify(key)}: ${lines}`
  if (last) return `${text.slice(0, last.end)},${newline}${inner}${written}${text.slice(last.end)}`
  const open = container.start + 1
  const close = text.slice(open, container.end - 1).includes('\n') ? '' : newline + outer
  return `${text.slice(0, open)}${newline}${inner}${written}${close}${text.slice(open)}`
}

function cut(text: string, container: Value, parts: readonly Part[], index: number): string {
  const { start, end } = parts[index]!
  if (index > 0) return text.slice(0, parts[index - 1]!.end) + text.slice(end)
  if (parts.length > 1) return text.slice(0, start) + text.slice(parts[1]!.start)
  const between = text.slice(end, container.end - 1)
  const rest = /^\s*$/.test(between)
    ? between.split('\n').length > 2
      ? between.replace(/^\s*?\n/, '\n')
      : ''
    : between
  return text.slice(0, container.start + 1) + rest + text.slice(container.end - 1)
}

function indentOf(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1))![0]
}

function textOrEmpty(text: string | null): string {
  return text === null || text.trim() === '' ? '{}\n' : text
}

function notA(path: readonly string[], kind: string): never {
  throw new TypeError(`"${path.join('.')}" is not ${kind === 'object' ? 'an object' : `a ${kind}`}`)
}

function descend(text: string, path: readonly string[]): { readonly value: Value; readonly rest: readonly string[] } {
  let value = read(text)
  for (const [depth, key] of path.entries()) {
    if (!('members' in value)) return notA(path.slice(0, depth), 'object')
    const member = value.members.findLast((one) => one.key === key)
    if (!member) return { value, rest: path.slice(depth) }
    value = member.value
  }
  return { value, rest: [] }
}

function at(text: string, path: readonly string[]): Value | null {
  const { value, rest } = descend(text, path)
  return rest.length === 0 ? value : null
}

/** Whether a text has a value at a path. */
export function hasPath(text: string | null, path: readonly string[]): boolean {
  try {
    let value: unknown = text === null ? undefined : parseSettings(text)
    for (const key of path) value = isRecord(value) ? value[key] : undefined
    return value !== undefined
  } catch {
    return false
  }
}

const SPACE = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\ufeff)*/y
const SCALAR = /"(?:\\.|[^"\\])*"|[^\s,[\]{}:"/]+/y

function read(text: string): Value {
  parseSettings(text)
  let at = 0
  const skip = (): void => {
    SPACE.lastIndex = at
    at += SPACE.exec(text)![0].length
  }
  const scalar = (): Part => {
    SCALAR.lastIndex = at
    const found = SCALAR.exec(text)
    if (!found) throw new SyntaxError(`no value at character ${at}`)
    at += found[0].length
    return { start: at - found[0].length, end: at }
  }
  const list = <T>(close: string, one: () => T): T[] => {
    const found: T[] = []
    at++
    for (skip(); text[at] !== close; skip()) {
      if (text[at] === ',') at++
      else found.push(one())
    }
    at++
    return found
  }
  const value = (): Value => {
    skip()
    const start = at
    if (text[at] === '{') {
      const members = list('}', member)
      return { start, end: at, members }
    }
    if (text[at] === '[') {
      const items = list(']', value)
      return { start, end: at, items }
    }
    return { ...scalar(), scalar: true }
  }
  const member = (): Member => {
    const name = scalar()
    skip()
    at++
    const own = value()
    return { start: name.start, end: own.end, key: JSON.parse(text.slice(name.start, name.end)) as string, value: own }
  }
  return value()
}
