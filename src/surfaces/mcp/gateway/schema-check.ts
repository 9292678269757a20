/**
 * Holds a value to a JSON Schema (2020-12) of a stranger, within bounds: nothing is fetched, nothing recurses without end, and
 * patterns are not run, since one that was made for it takes for ever. `pattern`, `format` and rarer keywords are not checked.
 */

import { pinOf } from '../../../runtime/mcp/pins.ts'
import { isObject, type Json } from '../json-rpc.ts'

const MAX_DEPTH = 32
/** What one check may cost: every step, and what a step looks at, by its size. Many times what a large result needs, and half a second. */
const MAX_WORK = 1_000_000
/** Characters that are looked at for the price of a step. */
const CHARACTERS = 64
const MAX_SHOWN = 500

/** Where the check is. */
interface Check {
  /** The whole schema, for references within it. */
  readonly root: unknown
  readonly work: { left: number }
  /** What was hashed before: a schema can ask about one value a thousand times. */
  readonly hashes: WeakMap<object, string>
  readonly depth: number
}

/** The first problem, such as `"path" must be a string`; null when the value fits. */
export function schemaProblem(schema: unknown, value: unknown, where = 'the value'): string | null {
  const check: Check = { root: schema, work: { left: MAX_WORK }, hashes: new WeakMap(), depth: 0 }
  try {
    return problemOf(schema, value, where, check)
  } catch (error) {
    if (error instanceof TooInvolved) return `${where} cannot be checked: its schema is too involved`
    throw error
  }
}

class TooInvolved extends Error {}

function spend({ work }: Check, amount: number): void {
  work.left -= amount
  if (work.left < 0) throw new TooInvolved()
}

function problemOf(schema: unknown, value: unknown, where: string, above: Check): string | null {
  if (schema === false) return `${where} may not be there`
  if (!isObject(schema)) return null
  if (above.depth > MAX_DEPTH) return `${where} is nested too deeply`
  spend(above, 1)
  const check = { ...above, depth: above.depth + 1 }
  const type = typeProblem(schema.type, value)
  if (type) return `${where} ${type}`
  return (
    referenceProblem(schema, value, where, check) ??
    choiceProblem(schema, value, where, check) ??
    sizeProblem(schema, value, where, check) ??
    (Array.isArray(value) ? itemsProblem(schema, value, where, check) : null) ??
    (isObject(value) ? objectProblem(schema, value, where, check) : null) ??
    combinedProblem(schema, value, where, check)
  )
}

function referenceProblem({ $ref }: Json, value: unknown, where: string, check: Check): string | null {
  if ($ref === undefined) return null
  const target = typeof $ref === 'string' ? resolve($ref, check) : undefined
  if (target === undefined) return `${where} cannot be checked: its schema refers to one that is not here`
  return problemOf(target, value, where, check)
}

/** What a reference within the schema stands for; undefined for any other, which is not fetched. */
function resolve(reference: string, check: Check): unknown {
  spend(check, reference.length / CHARACTERS)
  if (reference !== '#' && !reference.startsWith('#/')) return undefined
  const parts = reference.split('/').slice(1)
  spend(check, parts.length)
  let at: unknown = check.root
  for (const part of parts) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = at[Number(name)]
    else if (isObject(at) && Object.hasOwn(at, name)) at = at[name]
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

/** The first few values, as far as they are short. */
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
  return objects && hashOf(a, check) === hashOf(b, check)
}

function hashOf(value: object, check: Check): string {
  const known = check.hashes.get(value)
  if (known !== undefined) return known
  spend(check, sizeOf(value, MAX_WORK))
  const hash = pinOf(value).hash
  check.hashes.set(value, hash)
  return hash
}

/** How much there is to hash, counted no further than `most`. */
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

/** A bound: the keyword, what is measured, and whether the measure keeps within it. */
const BOUNDS: readonly (readonly [
  keyword: string,
  measure: (value: unknown) => number | null,
  holds: (measured: number, bound: number) => boolean,
])[] = [
  ['minimum', asNumber, (measured, bound) => measured >= bound],
  ['maximum', asNumber, (measured, bound) => measured <= bound],
  ['exclusiveMinimum', asNumber, (measured, bound) => measured > bound],
  ['exclusiveMaximum', asNumber, (measured, bound) => measured < bound],
  ['minLength', asLength, (measured, bound) => measured >= bound],
  ['maxLength', asLength, (measured, bound) => measured <= bound],
  ['minItems', asCount, (measured, bound) => measured >= bound],
  ['maxItems', asCount, (measured, bound) => measured <= bound],
  ['minProperties', asFields, (measured, bound) => measured >= bound],
  ['maxProperties', asFields, (measured, bound) => measured <= bound],
]

function asNumber(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

/** In characters, not in halves of them. */
function asLength(value: unknown): number | null {
  return typeof value === 'string' ? value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0) : null
}

function asCount(value: unknown): number | null {
  return Array.isArray(value) ? value.length : null
}

function asFields(value: unknown): number | null {
  return isObject(value) ? Object.keys(value).length : null
}

function sizeProblem(schema: Json, value: unknown, where: string, check: Check): string | null {
  for (const [keyword, measure, holds] of BOUNDS) {
    const bound = schema[keyword]
    if (typeof bound !== 'number') continue
    if (typeof value === 'string') spend(check, value.length / CHARACTERS)
    else if (measure === asFields && isObject(value)) spend(check, Object.keys(value).length)
    const measured = measure(value)
    if (measured !== null && !holds(measured, bound)) return `${where} breaks "${keyword}" of ${bound}`
  }
  return null
}

function itemsProblem(schema: Json, value: readonly unknown[], where: string, check: Check): string | null {
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  for (const [index, item] of value.entries()) {
    const problem = problemOf(index < first.length ? first[index] : schema.items, item, `${where}[${index}]`, check)
    if (problem) return problem
  }
  if (schema.uniqueItems !== true) return null
  spend(check, value.length)
  const different = new Set(value.map((item) => itemKey(item, check)))
  return different.size === value.length ? null : `${where} holds the same twice`
}

/** The same for items that are the same, and for no others. */
function itemKey(item: unknown, check: Check): string {
  if (typeof item === 'object' && item !== null) return `#${hashOf(item, check)}`
  if (typeof item === 'string') spend(check, item.length / CHARACTERS)
  return `${typeof item} ${String(item)}`
}

function objectProblem(schema: Json, value: Json, where: string, check: Check): string | null {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const fields = Object.entries(value)
  spend(check, required.length + fields.length)
  for (const name of required) {
    if (typeof name === 'string' && !Object.hasOwn(value, name)) return `${where} needs "${name}"`
  }
  for (const [name, field] of fields) {
    if (Object.hasOwn(properties, name)) {
      const problem = problemOf(properties[name], field, `"${name}"`, check)
      if (problem) return problem
    } else if (schema.patternProperties !== undefined) {
      // Which of the names a pattern is about is not known here.
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
    const problems = anyOf.map(problemIn)
    if (!problems.includes(null)) return problems[0]!
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

function typeProblem(type: unknown, value: unknown): string | null {
  const wanted = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string')
  if (wanted.length === 0 || wanted.some((name) => isOfType(name, value))) return null
  return `must be ${wanted.join(' or ')}`
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}
