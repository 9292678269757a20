/** Checks a call's input against its tool's schema, with errors that teach the caller. */

import type { InputSchema, PropertySchema } from './input-schema.ts'
import { InputError, type ToolInput, type ToolSpec } from './tool.ts'

const MAX_TEXT = 16 * 1024 * 1024
const MAX_PATH = 4096

/** Parses an untrusted input, or throws an `InputError` that says how to call the tool. */
export function parseInput(tool: ToolSpec, input: unknown): ToolInput {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new InputError(`${tool.name} takes an object: ${usage(tool.input)}`)
  }
  const given = input as Record<string, unknown>
  if (tool.checksInput) return given
  const known = Object.keys(tool.input.properties)
  for (const name of tool.input.required) {
    if (given[name] === undefined) throw new InputError(`${tool.name} needs "${name}": ${usage(tool.input)}`)
  }
  for (const [name, value] of Object.entries(given)) {
    const schema = Object.hasOwn(tool.input.properties, name) ? tool.input.properties[name] : undefined
    if (!schema) throw new InputError(`${tool.name} does not take "${name}"; it takes ${known.join(', ') || 'nothing'}`)
    const problem = value === undefined ? null : valueProblem(schema, value)
    if (problem) throw new InputError(`"${name}" of ${tool.name} ${problem}`)
  }
  return given
}

function valueProblem(schema: PropertySchema, value: unknown): string | null {
  const found = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value
  if (schema.type === 'integer' ? !Number.isInteger(value) : found !== schema.type) {
    return `must be ${article(schema.type)}, not ${found}`
  }
  if (typeof value === 'string') {
    if (value.length > MAX_TEXT) return `has ${value.length} characters; at most ${MAX_TEXT} are taken`
    if (!value.isWellFormed())
      return `holds half of a surrogate pair at character ${loneSurrogate(value)}; send whole characters`
    if (schema.format === 'path') {
      const problem = pathProblem(value)
      if (problem) return problem
    }
    if (schema.enum && !schema.enum.includes(value)) return `must be one of ${schema.enum.join(', ')}`
  }
  if (typeof value === 'number' && schema.minimum !== undefined && value < schema.minimum) {
    return `must be at least ${schema.minimum}, not ${value}`
  }
  return Array.isArray(value) ? itemsProblem(schema, value) : null
}

function itemsProblem(schema: PropertySchema, items: readonly unknown[]): string | null {
  const { items: wanted } = schema
  if (!wanted) return null
  const fits = (item: unknown) =>
    wanted.type === 'string'
      ? typeof item === 'string' && item.isWellFormed()
      : typeof item === 'object' && item !== null && !Array.isArray(item)
  return items.every(fits) ? null : `must be an array of ${wanted.type}s`
}

function pathProblem(path: string): string | null {
  if (path === '') return 'is empty; name a file or directory'
  if (path.includes('\0')) return 'holds a NUL character, which no path can'
  return path.length > MAX_PATH ? `has ${path.length} characters; a path has at most ${MAX_PATH}` : null
}

function loneSurrogate(text: string): number {
  const whole = text.toWellFormed()
  let at = 0
  while (text.charCodeAt(at) === whole.charCodeAt(at)) at++
  return at + 1
}

/** `{ "path": string, "limit"?: integer }` */
function usage(schema: InputSchema): string {
  const fields = Object.entries(schema.properties).map(
    ([name, property]) => `"${name}"${schema.required.includes(name) ? '' : '?'}: ${property.type}`,
  )
  return `{ ${fields.join(', ')} }`
}

function article(type: string): string {
  return /^[aio]/.test(type) ? `an ${type}` : `a ${type}`
}
