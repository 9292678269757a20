/** Reads a tree by the schema: every key known, every value of its type, every text of its format. */

import type { Finding, Report } from '../toml/problem.ts'
import { describeNode, joinKey, type Node, quoteShort, type TableNode } from '../toml/tree.ts'
import { checkFormat, didYouMean, type FormatContext, unknownChoice } from './format.ts'
import type { Field, Key, ValueType } from './key.ts'
import { type Item, keyElsewhere, type SchemaTable, type Setting } from './manifest.ts'
import { nearest } from './suggest.ts'

/** The state of one reading. */
export interface Reading {
  readonly report: Report
  readonly formats: FormatContext
  readonly settings: Map<string, Setting>
  readonly declared: Set<string>
}

/** More entries than any person has read are a mistake or an attack. */
const MAX_ITEMS = 5000
const SECONDS_MAX = 31 * 24 * 3600

type Value = boolean | number | string | readonly Item[] | Readonly<Record<string, unknown>>

/** Reads a table and everything below it. */
export function readTable(node: TableNode, schema: SchemaTable, path: string, reading: Reading): void {
  for (const entry of node.entries.values()) {
    const here = joinKey(path, entry.key)
    const key = schema.keys.get(entry.key)
    const below = schema.tables.get(entry.key)
    if (key !== undefined && key.name !== '*') readSetting(key, entry.node, entry.at, here, reading)
    else if (below !== undefined && entry.key !== '*') enter(entry.node, below, entry.at, here, reading)
    else if (schema.tables.has('*')) readNamed(schema.tables.get('*')!, entry.key, entry.node, entry.at, here, reading)
    else if (schema.keys.has('*')) {
      const finding = checkFormat(schema.keys.get('*')!.names ?? 'tool', entry.key, reading.formats)
      if (finding !== null) reading.report.error(entry.at, here, finding)
      else readSetting(schema.keys.get('*')!, entry.node, entry.at, here, reading)
    } else reading.report.error(entry.at, here, unknownKey(entry.key, path, schema))
  }
}

function readNamed(below: SchemaTable, name: string, node: Node, at: number, path: string, reading: Reading): void {
  const finding = checkFormat('agent', name, reading.formats)
  if (finding !== null) reading.report.error(at, path, finding)
  else enter(node, below, at, path, reading)
}

function enter(node: Node, below: SchemaTable, at: number, path: string, reading: Reading): void {
  if (node.kind !== 'table') {
    const expected = `a table: [${path}]`
    const found = describeNode(node)
    reading.report.error(node.at < 0 ? at : node.at, path, {
      code: 'wrong-type',
      message: `${path} is a section`,
      expected,
      found,
    })
    return
  }
  if (below.section !== null) reading.declared.add(path)
  readTable(node, below, path, reading)
}

function unknownKey(name: string, path: string, schema: SchemaTable): Finding {
  const known = [...schema.keys.keys(), ...schema.tables.keys()]
  const elsewhere = keyElsewhere(name)
  const near = nearest(name, known)
  const exact = near !== null && near.toLowerCase() === name.toLowerCase()
  const meant = elsewhere !== null && !exact ? elsewhere : near === null ? null : joinKey(path, near)
  return {
    code: 'unknown-key',
    message: `${quoteShort(name)} is not a key ${path === '' ? 'of the manifest' : `of [${path}]`}`,
    expected: `one of ${known.sort().join(', ')}`,
    found: quoteShort(name),
    suggestion: meant === null ? null : didYouMean(meant),
  }
}

function readSetting(key: Key, node: Node, at: number, path: string, reading: Reading): void {
  const value = readValue(key.type, node, at, path, reading)
  if (value === undefined) return
  const source = reading.report.source(at, path)
  reading.settings.set(path, { key, value: value as Setting['value'], at, rule: path, source })
}

/** The value, or undefined after a problem was reported. `at` is where to point when the node has no place. */
function readValue(type: ValueType, node: Node, at: number, path: string, reading: Reading): Value | undefined {
  const place = node.at < 0 ? at : node.at
  const wrong = (expected: string, suggestion: string | null = null): undefined => {
    const found = describeNode(node)
    reading.report.error(place, path, { code: 'wrong-type', message: 'the type is wrong', expected, found, suggestion })
    return undefined
  }
  switch (type.kind) {
    case 'boolean': {
      if (node.kind === 'boolean') return node.value as boolean
      const spoken = node.kind === 'string' ? spokenBoolean(node.value as string) : null
      return wrong('true or false', spoken === null ? null : `write ${spoken} without quotes`)
    }
    case 'integer':
      if (node.kind !== 'integer') return wrong('an integer')
      return inRange(node.value as number | bigint, type.min, type.max, place, path, reading)
    case 'number':
      if (node.kind !== 'integer' && node.kind !== 'float') return wrong('a number')
      return inRange(node.value as number | bigint, type.min, type.max, place, path, reading)
    case 'size':
      return readMeasure(node, parseSize, 1, Number.MAX_SAFE_INTEGER, 'bytes, or a size such as "512 MiB"')
    case 'seconds':
      return readMeasure(node, parseSeconds, 0.001, SECONDS_MAX, 'seconds up to 31 days, or a time such as "5m"')
    case 'choice': {
      const values = type.values.map((value) => JSON.stringify(value)).join(', ')
      if (node.kind !== 'string') return wrong(`one of ${values}`)
      if (type.values.includes(node.value as string)) return node.value as string
      reading.report.error(place, path, unknownChoice(node.value as string, type.values))
      return undefined
    }
    case 'text': {
      if (node.kind !== 'string') return wrong('a text in quotes')
      const finding = type.format === null ? null : checkFormat(type.format, node.value as string, reading.formats)
      if (finding === null) return node.value as string
      reading.report.error(place, path, finding)
      return undefined
    }
    case 'list':
      if (node.kind !== 'array') return wrong('a list: [ … ]', node.kind === 'string' ? 'put it in [ ]' : null)
      return readList(type, node.items, place, path, reading)
    case 'entry':
      return readEntry(type, node, place, path, reading, wrong)
  }

  function readMeasure(
    measured: Node,
    parse: (text: string) => number | null,
    min: number,
    max: number,
    expected: string,
  ): number | undefined {
    const numeric = measured.kind === 'integer' || measured.kind === 'float'
    if (!numeric && measured.kind !== 'string') return wrong(expected)
    const value = numeric ? Number(measured.value) : parse(measured.value as string)
    if (value !== null && value >= min && value <= max && Number.isFinite(value)) return value
    reading.report.error(place, path, {
      code: 'bad-value',
      message: 'the measure is not understood',
      expected,
      found: describeNode(measured),
    })
    return undefined
  }
}

function inRange(
  value: number | bigint,
  min: number,
  max: number,
  at: number,
  path: string,
  reading: Reading,
): number | undefined {
  if (typeof value === 'number' && value >= min && value <= max) return value
  const expected = max >= Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`
  reading.report.error(at, path, {
    code: 'bad-value',
    message: 'the number is out of range',
    expected,
    found: `${value}`,
  })
  return undefined
}

function readList(
  type: Extract<ValueType, { kind: 'list' }>,
  nodes: readonly Node[],
  at: number,
  path: string,
  reading: Reading,
): readonly Item[] | undefined {
  const { report } = reading
  if (nodes.length > MAX_ITEMS) {
    const found = `${nodes.length} entries`
    report.error(at, path, {
      code: 'too-large',
      message: 'the list is too long',
      expected: `up to ${MAX_ITEMS}`,
      found,
    })
    return undefined
  }
  if (type.nonEmpty && nodes.length === 0) {
    report.error(at, path, {
      code: 'bad-value',
      message: 'the list is empty',
      expected: 'one entry or more',
      found: '[]',
    })
    return undefined
  }
  const items: Item[] = []
  const seen = new Map<Value, string>()
  nodes.forEach((node, index) => {
    const rule = `${path}[${index}]`
    const place = node.at < 0 ? at : node.at
    const value = readValue(type.of, node, place, rule, reading)
    if (value === undefined) return
    const source = report.source(place, rule)
    const first = typeof value === 'object' ? undefined : seen.get(value)
    if (first !== undefined) {
      report.error(place, rule, {
        code: 'duplicate-rule',
        message: `${quoteShort(String(value))} is listed twice`,
        expected: 'each entry once',
        found: `the same at ${first}`,
        suggestion: 'delete one of them',
      })
      return
    }
    seen.set(value, source)
    items.push({ value, rule, source, at: place })
  })
  return items
}

function readEntry(
  type: Extract<ValueType, { kind: 'entry' }>,
  node: Node,
  at: number,
  path: string,
  reading: Reading,
  wrong: (expected: string) => undefined,
): Value | undefined {
  const { short, fields } = type
  if (node.kind === 'string' && short !== null) {
    const field = fields.find((candidate) => candidate.name === short)!
    const value = readValue(field.type, node, at, path, reading)
    return value === undefined ? undefined : { [short]: value }
  }
  const names = fields.map((field) => field.name)
  const shape = `{ ${names.join(', ')} }`
  if (node.kind !== 'table') return wrong(short === null ? `a table ${shape}` : `a text, or a table ${shape}`)
  return readFields(node, fields, names, at, path, reading)
}

function readFields(
  node: TableNode,
  fields: readonly Field[],
  names: readonly string[],
  at: number,
  path: string,
  reading: Reading,
): Value | undefined {
  const result: Record<string, unknown> = {}
  let sound = true
  for (const entry of node.entries.values()) {
    const here = joinKey(path, entry.key)
    const field = fields.find((candidate) => candidate.name === entry.key)
    if (field === undefined) {
      const near = nearest(entry.key, names)
      reading.report.error(entry.at < 0 ? at : entry.at, here, {
        code: 'unknown-key',
        message: `${quoteShort(entry.key)} is not a key of this entry`,
        expected: `one of ${names.join(', ')}`,
        found: quoteShort(entry.key),
        suggestion: near === null ? null : didYouMean(near),
      })
      sound = false
      continue
    }
    const value = readValue(field.type, entry.node, entry.at < 0 ? at : entry.at, here, reading)
    if (value === undefined) sound = false
    else result[field.name] = value
  }
  const missing = fields.find((field) => field.required && !node.entries.has(field.name))
  if (missing !== undefined) {
    reading.report.error(at, path, {
      code: 'missing-key',
      message: `the entry has no "${missing.name}"`,
      expected: missing.doc,
      found: node.entries.size === 0 ? 'an empty table' : `only ${[...node.entries.keys()].join(', ')}`,
    })
    sound = false
  }
  return sound ? result : undefined
}

function spokenBoolean(text: string): boolean | null {
  if (/^(true|yes|on)$/i.test(text)) return true
  return /^(false|no|off)$/i.test(text) ? false : null
}

/** Sizes and times as people write them. */
const SIZE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1024,
  kib: 1024,
  kb: 1000,
  m: 1024 ** 2,
  mib: 1024 ** 2,
  mb: 1000 ** 2,
  g: 1024 ** 3,
  gib: 1024 ** 3,
  gb: 1000 ** 3,
  t: 1024 ** 4,
  tib: 1024 ** 4,
  tb: 1000 ** 4,
}

/** Bytes of "512 MiB"; null when it is not a size. */
export function parseSize(text: string): number | null {
  const match = /^([0-9]{1,15}(?:\.[0-9]{1,6})?) ?([A-Za-z]{0,3})$/.exec(text)
  const unit = match === null ? undefined : SIZE_UNITS[match[2]!.toLowerCase()]
  return unit === undefined ? null : Math.floor(Number(match![1]) * unit)
}

const TIME_UNITS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 }

/** Seconds of "90s" or "1h 30m"; null when it is not a time. */
export function parseSeconds(text: string): number | null {
  if (text.length > 40 || !/^[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d)(?: ?[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d))*$/.test(text)) {
    return null
  }
  let seconds = 0
  for (const [, amount, unit] of text.matchAll(/([0-9.]+)(ms|s|m|h|d)/g)) seconds += Number(amount) * TIME_UNITS[unit!]!
  return seconds
}
