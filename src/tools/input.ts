/** Checks a call's input against its tool's schema, with errors that teach the caller. */

import { InputError, type InputSchema, type PropertySchema, type ToolInput, type ToolSpec } from './tool.ts'

const MAX_TEXT = 16 * 1024 * 1024

/** Parses an untrusted input, or throws an `InputError` that says how to call the tool. */
export function parseInput(tool: ToolSpec, input: unknown): ToolInput {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new InputError(`${tool.name} takes an object: ${usage(tool.input)}`)
  }
  const given = input as Record<string, unknown>
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
    if (schema.enum && !schema.enum.includes(value)) return `must be one of ${schema.enum.join(', ')}`
  }
  if (Array.isArray(value) && schema.items?.type === 'string' && value.some((item) => typeof item !== 'string')) {
    return 'must be an array of strings'
  }
  return null
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
