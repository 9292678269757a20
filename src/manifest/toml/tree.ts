/** The values of a manifest as a tree; every key and value knows where it was written. */

import { visible } from '../../scan/visible-text.ts'

/** A value and the offset in the text at which it starts (-1 in the object form, which has no text). */
export type Node = ScalarNode | ArrayNode | TableNode

export interface ScalarNode {
  readonly kind: 'string' | 'integer' | 'float' | 'boolean' | 'datetime'
  /** A datetime keeps its text; an integer beyond 2^53 is a bigint. */
  readonly value: string | number | bigint | boolean
  readonly at: number
}

export interface ArrayNode {
  readonly kind: 'array'
  readonly items: Node[]
  readonly at: number
  /** `tables` for `[[name]]`, which may be extended by a later header; a written `[…]` may not. */
  readonly form: 'value' | 'tables'
}

export interface TableNode {
  readonly kind: 'table'
  readonly entries: Map<string, Entry>
  at: number
  /** How it came to be: TOML lets only some of them be reopened. */
  form: 'implicit' | 'header' | 'dotted' | 'inline'
}

export interface Entry {
  readonly key: string
  readonly at: number
  readonly node: Node
}

/** A line and a column, both counted from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** How deep tables and arrays may be in each other: far beyond any manifest, far below the stack. */
export const MAX_DEPTH = 24

/** An empty table. */
export function table(at: number, form: TableNode['form']): TableNode {
  return { kind: 'table', entries: new Map(), at, form }
}

/** A tree as plain values, without positions. */
export function plainNode(node: Node): unknown {
  if (node.kind === 'array') return node.items.map(plainNode)
  if (node.kind !== 'table') return node.value
  return Object.fromEntries([...node.entries].map(([key, entry]) => [key, plainNode(entry.node)]))
}

/** Turns offsets into positions; most manifests have no problem, so the index is built late. */
export function positions(text: string): (at: number) => Position {
  let starts: number[] | null = null
  return (at) => {
    if (starts === null) {
      starts = [0]
      for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) starts.push(i + 1)
    }
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= at) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: at - starts[low]! + 1 }
  }
}

/** The object form of a manifest as a tree; the message says why a value has no place in a manifest. */
export function treeFromObject(
  value: unknown,
): { readonly node: Node } | { readonly key: string; readonly message: string } {
  try {
    return { node: nodeFrom(value, '', 0) }
  } catch (error) {
    if (error instanceof Unrepresentable) return { key: error.key, message: error.message }
    throw error
  }
}

class Unrepresentable extends Error {
  readonly key: string

  constructor(key: string, message: string) {
    super(message)
    this.key = key
  }
}

function nodeFrom(value: unknown, key: string, depth: number): Node {
  if (depth > MAX_DEPTH) throw new Unrepresentable(key, `nested deeper than ${MAX_DEPTH} levels`)
  if (typeof value === 'string') return { kind: 'string', value, at: -1 }
  if (typeof value === 'boolean') return { kind: 'boolean', value, at: -1 }
  if (typeof value === 'number') return { kind: Number.isInteger(value) ? 'integer' : 'float', value, at: -1 }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => nodeFrom(item, `${key}[${index}]`, depth + 1))
    return { kind: 'array', items, at: -1, form: 'value' }
  }
  if (typeof value === 'object' && value !== null) {
    const result = table(-1, 'header')
    for (const name of Object.keys(value)) {
      const path = joinKey(key, name)
      const node = nodeFrom((value as Record<string, unknown>)[name], path, depth + 1)
      result.entries.set(name, { key: name, at: -1, node })
    }
    return result
  }
  throw new Unrepresentable(key, `a manifest has no value of type ${value === null ? 'null' : typeof value}`)
}

/** `a.b` and `c` to `a.b.c`; a name that is not a bare key is quoted, so that paths stay unambiguous. */
export function joinKey(path: string, name: string): string {
  const part = /^[A-Za-z0-9_*-]+$/.test(name) ? name : JSON.stringify(name)
  return path === '' ? part : `${path}.${part}`
}

/** A node for a person: `the string "yes"`, `an array`, `the integer 5`. */
export function describeNode(node: Node): string {
  switch (node.kind) {
    case 'string':
      return `the string ${quoteShort(node.value as string)}`
    case 'array':
      return node.form === 'tables' ? 'an array of tables' : 'an array'
    case 'table':
      return 'a table'
    case 'datetime':
      return `the date ${node.value}`
    case 'boolean':
      return `${node.value}`
    default:
      return `the ${node.kind === 'integer' ? 'integer' : 'number'} ${node.value}`
  }
}

/** A text in quotes, control characters escaped, cut where it would flood a message. */
export function quoteShort(text: string): string {
  const cut = text.length > 60 ? `${text.slice(0, 57)}...` : text
  return visible(JSON.stringify(cut))
}

/** The parts of a path from `joinKey`. */
export function splitKey(path: string): string[] {
  const parts = path.match(/"(?:[^"\\]|\\.)*"|[^.]+/g) ?? []
  return parts.map((part) => (part.startsWith('"') ? (JSON.parse(part) as string) : part))
}

/** Manifest values without their places: what remains is data that can be compared, printed and hashed. */
export type Plain = boolean | number | string | null | readonly Plain[] | { readonly [key: string]: Plain }

/** Strips the places from a value, its items and its fields; fields that are not set are left out. */
export function plainValue(value: unknown): Plain {
  if (Array.isArray(value)) return value.map((item) => plainValue(isItem(item) ? item.value : item))
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined && field !== null)
    return Object.fromEntries(fields.map(([name, field]) => [name, plainValue(field)]))
  }
  return value as Plain
}

function isItem(value: unknown): value is { readonly value: unknown } {
  return typeof value === 'object' && value !== null && 'rule' in value && 'source' in value && 'value' in value
}

/** The short form of an entry: `{ path = "x" }` says no more than `"x"`. */
export function shorten(value: Plain): Plain {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const names = Object.keys(value)
  const only = names.length === 1 ? names[0]! : ''
  return ['path', 'command', 'host', 'tool'].includes(only) ? (value as { [key: string]: Plain })[only]! : value
}
