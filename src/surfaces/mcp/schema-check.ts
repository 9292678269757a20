/** Holds a value to the part of JSON Schema that tools use; what the schema does not say is not checked. */

import { isObject } from './json-rpc.ts'

const MAX_DEPTH = 32

/** The first problem, such as `"path" must be a string`; null when the value fits. */
export function schemaProblem(schema: unknown, value: unknown, where = 'the value', depth = 0): string | null {
  if (!isObject(schema)) return null
  if (depth > MAX_DEPTH) return `${where} is nested too deeply`
  const type = typeProblem(schema.type, value)
  if (type) return `${where} ${type}`
  if (Array.isArray(schema.enum) && !schema.enum.some((choice) => choice === value)) {
    return `${where} must be one of ${JSON.stringify(schema.enum)}`
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const problem = schemaProblem(schema.items, item, `${where}[${index}]`, depth + 1)
      if (problem) return problem
    }
  }
  return isObject(value) ? objectProblem(schema, value, where, depth) : null
}

function objectProblem(
  schema: Readonly<Record<string, unknown>>,
  value: Readonly<Record<string, unknown>>,
  where: string,
  depth: number,
): string | null {
  const properties = isObject(schema.properties) ? schema.properties : {}
  for (const name of Array.isArray(schema.required) ? schema.required : []) {
    if (typeof name === 'string' && !Object.hasOwn(value, name)) return `${where} needs "${name}"`
  }
  for (const [name, field] of Object.entries(value)) {
    if (Object.hasOwn(properties, name)) {
      const problem = schemaProblem(properties[name], field, `"${name}"`, depth + 1)
      if (problem) return problem
    } else if (schema.additionalProperties === false) return `${where} does not take "${name}"`
  }
  return null
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
