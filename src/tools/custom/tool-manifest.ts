/** Parses the untrusted manifest of a custom tool, or returns all its problems (T2). */

import { isRecord } from '../../system/json.ts'
import type { InputSchema, PropertySchema } from '../input-schema.ts'
import { type ToolLabel, toolLabels } from '../tool.ts'

export interface CustomToolManifest {
  readonly name: string
  readonly description: string
  /** A file name beside the manifest. */
  readonly script: string
  readonly input: InputSchema
  /** Seconds. */
  readonly timeout: number
  readonly maxOutputBytes: number
  /** Variables of the user that it sees. */
  readonly env: readonly string[]
  readonly requireConfirmation: boolean
  /**
   * Enforced by the sandbox: without `network`, `filesystem` or `execute` it has no network, writes
   * nothing, starts no program.
   */
  readonly labels: readonly ToolLabel[]
  readonly domains: readonly string[]
  readonly output: 'text' | 'json' | 'lines'
}

export interface ToolProblem {
  readonly key: string
  readonly message: string
}

const OUTPUTS: readonly CustomToolManifest['output'][] = ['text', 'json', 'lines']
/** Every key of a tool's manifest. */
export const TOOL_KEYS: readonly string[] =
  'name description script arguments timeout max_output_bytes env require_confirmation labels domains output'.split(' ')
const NAME = /^[a-z][a-z0-9_-]{0,47}$/
const SCRIPT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/
const DEFAULT_TIMEOUT = 60
const DEFAULT_OUTPUT = 256 * 1024

export function parseToolManifest(
  value: unknown,
): { readonly manifest: CustomToolManifest } | { readonly problems: readonly ToolProblem[] } {
  if (!isRecord(value)) return { problems: [{ key: '', message: 'the manifest is not a table' }] }
  const problems: ToolProblem[] = []
  const wrong = (key: string, message: string): void => {
    problems.push({ key, message })
  }
  for (const key of Object.keys(value)) {
    if (!TOOL_KEYS.includes(key)) wrong(key, `is not known; the keys are ${TOOL_KEYS.join(', ')}`)
  }
  const text = (key: string, pattern: RegExp, expected: string): string => {
    const found = value[key]
    if (typeof found === 'string' && pattern.test(found)) return found
    wrong(key, `must be ${expected}`)
    return ''
  }
  const number = (key: string, fallback: number, max: number): number => {
    const found = value[key] ?? fallback
    if (typeof found === 'number' && found > 0 && found <= max) return found
    wrong(key, `must be a number above 0 and at most ${max}`)
    return fallback
  }
  const list = (key: string, pattern: RegExp, expected: string): string[] => {
    const found = value[key] ?? []
    if (Array.isArray(found) && found.every((item) => typeof item === 'string' && pattern.test(item))) return found
    wrong(key, `must be a list of ${expected}`)
    return []
  }
  const labels = list('labels', /^(?:network|filesystem|execute)$/, toolLabels.join(', ')) as ToolLabel[]
  const confirmation = value.require_confirmation ?? false
  if (typeof confirmation !== 'boolean') wrong('require_confirmation', 'must be true or false')
  const output = (value.output ?? 'text') as CustomToolManifest['output']
  if (!OUTPUTS.includes(output)) wrong('output', `must be one of ${OUTPUTS.join(', ')}`)
  const domains = list('domains', /^[A-Za-z0-9.*:-]{1,253}$/, 'hosts')
  if (domains.length > 0 && !labels.includes('network')) wrong('domains', 'needs the label "network"')
  const manifest: CustomToolManifest = {
    name: text('name', NAME, 'lower-case letters, digits, - and _, at most 48, starting with a letter'),
    description: text('description', /^[\s\S]{1,2000}$/, 'a text of at most 2000 characters'),
    script: text('script', SCRIPT, 'the name of a file beside the manifest, without a path'),
    input: inputSchema(value.arguments, wrong),
    timeout: number('timeout', DEFAULT_TIMEOUT, 24 * 3600),
    maxOutputBytes: number('max_output_bytes', DEFAULT_OUTPUT, 64 * 1024 * 1024),
    env: list('env', /^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'names of variables'),
    requireConfirmation: confirmation === true,
    labels,
    domains,
    output,
  }
  return problems.length > 0 ? { problems } : { manifest }
}

const TYPES: readonly PropertySchema['type'][] = ['string', 'number', 'integer', 'boolean', 'array', 'object']
const PROPERTY_KEYS: readonly string[] = ['type', 'description', 'enum', 'items', 'minimum', 'format']

/**
 * The supported part of JSON Schema. Other keywords are errors, since they would not be enforced.
 */
function inputSchema(value: unknown, wrong: (key: string, message: string) => void): InputSchema {
  const empty: InputSchema = { type: 'object', properties: {}, required: [] }
  if (value === undefined) return empty
  if (!isRecord(value) || (value.type ?? 'object') !== 'object') {
    wrong('arguments', 'must be a JSON Schema of type "object"')
    return empty
  }
  for (const key of Object.keys(value)) {
    if (!['type', 'properties', 'required', 'additionalProperties', 'description'].includes(key)) {
      wrong(`arguments.${key}`, 'is a keyword that is not enforced here')
    }
  }
  if (value.additionalProperties !== undefined && value.additionalProperties !== false) {
    wrong('arguments.additionalProperties', 'must be false: other arguments are never passed on')
  }
  const properties: Record<string, PropertySchema> = {}
  for (const [name, property] of Object.entries(isRecord(value.properties) ? value.properties : {})) {
    const key = `arguments.properties.${name}`
    const checked = propertySchema(property, key, wrong)
    if (checked !== null) properties[name] = checked
  }
  const required = value.required ?? []
  const known =
    Array.isArray(required) && required.every((name) => typeof name === 'string' && Object.hasOwn(properties, name))
  if (!known) wrong('arguments.required', 'must be a list of names of properties')
  return { type: 'object', properties, required: known ? (required as string[]) : [] }
}

function propertySchema(
  value: unknown,
  key: string,
  wrong: (key: string, message: string) => void,
): PropertySchema | null {
  if (!isRecord(value)) {
    wrong(key, 'must be a table')
    return null
  }
  for (const name of Object.keys(value)) {
    if (!PROPERTY_KEYS.includes(name)) wrong(`${key}.${name}`, 'is a keyword that is not enforced here')
  }
  if (!TYPES.includes(value.type as PropertySchema['type'])) {
    wrong(`${key}.type`, `must be one of ${TYPES.join(', ')}`)
    return null
  }
  if (
    value.enum !== undefined &&
    !(Array.isArray(value.enum) && value.enum.every((item) => typeof item === 'string'))
  ) {
    wrong(`${key}.enum`, 'must be a list of texts')
    return null
  }
  const description = typeof value.description === 'string' ? value.description : ''
  return { ...(value as unknown as PropertySchema), description }
}
