/**
 * Checks a value against an untrusted JSON Schema (2020-12), within bounds: it fetches nothing, recursion is limited,
 * and patterns are not run, because a crafted one never ends. `pattern`, `format` and rarer keywords are not checked.
 */

import { canonicalJson, isRecord } from '../../../system/json.ts'
import type { Json } from '../../../system/json-rpc.ts'

const MAX_DEPTH = 32
/** The cost limit of one check, by steps and sizes: several times what a large result needs, and below 100 ms. */
const MAX_WORK = 500_000
const CHARACTERS = 64
const MAX_REFERENCE = 1_000
const MAX_SHOWN = 500
/** The number of types in JSON Schema. */
const TYPES = 7
/** The cost factor of sorting and writing a value, and listing its fields. */
const WRITING = 4
const TAKING_APART = 2

interface Check {
  readonly root: unknown
  readonly work: { left: number }
  /** Serialised values: a schema can compare one value a thousand times. */
  readonly texts: WeakMap<object, string>
  readonly fields: WeakMap<object, readonly (readonly [name: string, field: unknown])[]>
  depth: number
}

/** The first problem, such as `"path" must be a string`, or null. */
export function schemaProblem(schema: unknown, value: unknown, where = 'the value'): string | null {
  const work = { left: MAX_WORK }
  const check: Check = { root: schema, work, texts: new WeakMap(), fields: new WeakMap(), depth: 0 }
  try {
    return problemOf(schema, value, where, check)
  } catch (error) {
    if (error instanceof TooInvolved) return `${where} cannot be checked: its schema is too complex`
    throw error
  }
}

class TooInvolved extends Error {}

function spend({ work }: Check, amount: number): void {
  work.left -= amount
  if (work.left < 0) throw new TooInvolved()
}

function problemOf(schema: unknown, value: unknown, where: string, check: Check): string | null {
  if (schema === false) return `${where} is not allowed`
  if (!isRecord(schema)) return null
  if (check.depth > MAX_DEPTH) return `${where} is nested too deeply`
  spend(check, 1)
  check.depth++
  const problem = typeProblem(schema.type, value, where, check) ?? deeperProblem(schema, value, where, check)
  check.depth--
  return problem
}

function deeperProblem(schema: Json, value: unknown, where: string, check: Check): string | null {
  return (
    referenceProblem(schema, value, where, check) ??
    choiceProblem(schema, value, where, check) ??
    sizeProblem(schema, value, where, check) ??
    (Array.isArray(value) ? itemsProblem(schema, value, where, check) : null) ??
    (isRecord(value) ? objectProblem(schema, value, where, check) : null) ??
    combinedProblem(schema, value, where, check)
  )
}

function referenceProblem({ $ref }: Json, value: unknown, where: string, check: Check): string | null {
  if ($ref === undefined) return null
  const target = typeof $ref === 'string' ? resolve($ref, check) : undefined
  if (target === undefined) return `${where} cannot be checked: its schema refers to one that is not here`
  return problemOf(target, value, where, check)
}

/** The target of a reference inside the schema; undefined for others, which are not fetched. */
function resolve(reference: string, check: Check): unknown {
  if (reference.length > MAX_REFERENCE || (reference !== '#' && !reference.startsWith('#/'))) return undefined
  const parts = reference.split('/').slice(1)
  spend(check, parts.length)
  let at: unknown = check.root
  for (const part of parts) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = at[Number(name)]
    else if (isRecord(at) && Object.hasOwn(at, name)) at = at[name]
    else return undefined
  }
  return at
}

function choiceProblem(schema: Json, value: unknown, where: string, check: Check): string | null {
  const { enum: choices } = schema
  if (Array.isArray(choices) && !choices.some((choice) => isSame(choice, value, check))) {
    return `${where} must be one of ${shown(choices)}`
  }
  if ('const' in schema && !isSame(schema.const, value, check)) {
    return `${where} must be ${shown([schema.const])}`
  }
  return null
}

function shown(values: readonly unknown[]): string {
  const texts = values.slice(0, 20).map((value) => {
    if (typeof value === 'string') return JSON.stringify(value.slice(0, 100))
    return typeof value === 'object' && value !== null ? '{…}' : String(value)
  })
  return texts.join(', ').slice(0, MAX_SHOWN)
}

function isSame(a: unknown, b: unknown, check: Check): boolean {
  spend(check, 1 + (typeof a === 'string' && typeof b === 'string' ? Math.min(a.length, b.length) / CHARACTERS : 0))
  if (a === b) return true
  const objects = typeof a === 'object' && typeof b === 'object' && a !== null && b !== null
  if (!objects) return false
  const [first, second] = [textOf(a, check), textOf(b, check)]
  spend(check, first.length === second.length ? first.length / CHARACTERS : 0)
  return first === second
}

/** Equal for equal values. */
function textOf(value: object, check: Check): string {
  const known = check.texts.get(value)
  if (known !== undefined) return known
  spend(check, WRITING * sizeOf(value, check.work.left))
  const text = canonicalJson(value)
  check.texts.set(value, text)
  return text
}

function fieldsOf(value: Json, check: Check): readonly (readonly [name: string, field: unknown])[] {
  const known = check.fields.get(value)
  if (known) return known
  const fields = Object.entries(value)
  spend(check, TAKING_APART * fields.length)
  check.fields.set(value, fields)
  return fields
}

/** The size of a value, counted up to `most`. */
function sizeOf(value: unknown, most: number): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  for (const [name, field] of Object.entries(value)) {
    size += name.length / CHARACTERS + sizeOf(field, most - size)
    if (size > most) return size
  }
  return size
}

/** A bound: the keyword, and whether the measure satisfies it. */
type Bound = readonly [keyword: string, isWithin: (measured: number, bound: number) => boolean]

const isAtLeast: Bound[1] = (measured, bound) => measured >= bound
const isAtMost: Bound[1] = (measured, bound) => measured <= bound
const NUMBER: readonly Bound[] = [
  ['minimum', isAtLeast],
  ['maximum', isAtMost],
  ['exclusiveMinimum', (measured, bound) => measured > bound],
  ['exclusiveMaximum', (measured, bound) => measured < bound],
]
const TEXT = bounds('minLength', 'maxLength')
const ITEMS = bounds('minItems', 'maxItems')
const FIELDS = bounds('minProperties', 'maxProperties')

function bounds(least: string, most: string): readonly Bound[] {
  return [
    [least, isAtLeast],
    [most, isAtMost],
  ]
}

function sizeProblem(schema: Json, value: unknown, where: string, check: Check): string | null {
  if (typeof value === 'number') return boundProblem(NUMBER, schema, () => value, where)
  if (typeof value === 'string') return boundProblem(TEXT, schema, () => characters(value, check), where)
  if (Array.isArray(value)) return boundProblem(ITEMS, schema, () => value.length, where)
  return isRecord(value) ? boundProblem(FIELDS, schema, () => fieldsOf(value, check).length, where) : null
}

function boundProblem(list: readonly Bound[], schema: Json, measure: () => number, where: string): string | null {
  for (const [keyword, isWithin] of list) {
    const bound = schema[keyword]
    if (typeof bound === 'number' && !isWithin(measure(), bound)) return `${where} breaks "${keyword}" of ${bound}`
  }
  return null
}

/** The length in characters, not UTF-16 units. */
function characters(text: string, check: Check): number {
  spend(check, text.length / CHARACTERS)
  let pairs = 0
  for (let at = 1; at < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) pairs++
  }
  return text.length - pairs
}

function itemsProblem(schema: Json, value: readonly unknown[], where: string, check: Check): string | null {
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  for (let index = 0; index < value.length; index++) {
    const part = index < first.length ? first[index] : schema.items
    if (part === undefined) break
    const problem = problemOf(part, value[index], `${where}[${index}]`, check)
    if (problem) return problem
  }
  if (schema.uniqueItems !== true) return null
  spend(check, value.length)
  const different = new Set(value.map((item) => itemKey(item, check)))
  return different.size === value.length ? null : `${where} contains the same value twice`
}

/** Equal for equal items, and only for those. */
function itemKey(item: unknown, check: Check): string {
  if (typeof item === 'object' && item !== null) return `#${textOf(item, check)}`
  if (typeof item === 'string') spend(check, item.length / CHARACTERS)
  return `${typeof item} ${String(item)}`
}

function objectProblem(schema: Json, value: Json, where: string, check: Check): string | null {
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const fields = fieldsOf(value, check)
  spend(check, required.length + fields.length)
  for (const name of required) {
    if (typeof name === 'string' && !Object.hasOwn(value, name)) return `${where} needs "${name}"`
  }
  for (const [name, field] of fields) {
    if (Object.hasOwn(properties, name)) {
      const problem = problemOf(properties[name], field, `"${name}"`, check)
      if (problem) return problem
    } else if (schema.patternProperties !== undefined) {
      // Patterns are not run, so the names they cover are unknown.
    } else if (schema.additionalProperties === false) return `${where} does not take "${name}"`
    else {
      const problem = problemOf(schema.additionalProperties, field, `"${name}"`, check)
      if (problem) return problem
    }
  }
  return null
}

function combinedProblem(schema: Json, value: unknown, where: string, check: Check): string | null {
  const problemIn = (part: unknown): string | null => problemOf(part, value, where, check)
  const { allOf, anyOf, oneOf, not } = schema
  for (const part of Array.isArray(allOf) ? allOf : []) {
    const problem = problemIn(part)
    if (problem) return problem
  }
  if (Array.isArray(anyOf) && anyOf.length > 0) {
    const first = problemIn(anyOf[0])
    if (first !== null && !anyOf.slice(1).some((part) => problemIn(part) === null)) return first
  }
  if (Array.isArray(oneOf) && oneOf.length > 0) {
    const problems = oneOf.map(problemIn)
    const fits = problems.filter((problem) => problem === null).length
    if (fits !== 1) return fits === 0 ? problems[0]! : `${where} fits more than one form of its schema`
  }
  if (not !== undefined && problemIn(not) === null) return `${where} is what its schema rules out`
  if (schema.if === undefined) return null
  return problemIn(problemIn(schema.if) === null ? schema.then : schema.else)
}

function typeProblem(type: unknown, value: unknown, where: string, check: Check): string | null {
  if (typeof type === 'string') return isOfType(type, value) ? null : `${where} must be ${type.slice(0, MAX_SHOWN)}`
  if (!Array.isArray(type)) return null
  spend(check, type.length)
  const wanted = type.filter((name) => typeof name === 'string')
  if (wanted.length === 0 || wanted.some((name) => isOfType(name, value))) return null
  return `${where} must be ${wanted.slice(0, TYPES).join(' or ').slice(0, MAX_SHOWN)}`
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isRecord(value)
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}
