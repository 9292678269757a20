/** Input schemas of tools: the JSON Schema subset, its types, and the parser. */

import { InputError, type ToolInput, type ToolSpec } from './tool.ts'

const MAX_TEXT = 16 * 1024 * 1024
const MAX_PATH = 4096

/** Parses untrusted input, or throws an `InputError` with usage. */
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
      return `contains half of a surrogate pair at character ${loneSurrogate(value)}; send whole characters`
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
  if (path.includes('\0')) return 'contains a NUL character, which no path can'
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

/** A tool's input as models and clients see it. */
export interface InputSchema<Properties extends PropertySchemas = PropertySchemas, Required extends string = string> {
  readonly type: 'object'
  readonly properties: Properties
  readonly required: readonly Required[]
}

export type PropertySchemas = Readonly<Record<string, PropertySchema>>

export interface PropertySchema {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'
  readonly description: string
  /** A path must be a possible file name. */
  readonly format?: 'path'
  readonly minimum?: number
  readonly items?: { readonly type: 'string' | 'object' }
  readonly enum?: readonly string[]
}

/** An object whose fields are not checked. */
export type LooseObject = Readonly<Record<string, unknown>>

/** The type of a property's values. */
export type ValueOf<Schema extends PropertySchema> = Schema extends { readonly enum: readonly (infer Choice)[] }
  ? Choice
  : {
      readonly string: string
      readonly number: number
      readonly integer: number
      readonly boolean: boolean
      readonly object: LooseObject
      readonly array: ItemsOf<Schema>
    }[Schema['type']]

type ItemsOf<Schema extends PropertySchema> = Schema extends { readonly items: { readonly type: 'string' } }
  ? readonly string[]
  : Schema extends { readonly items: { readonly type: 'object' } }
    ? readonly LooseObject[]
    : readonly unknown[]

/** The type of a schema's inputs. */
export type InputOf<Schema extends InputSchema> = {
  readonly [Name in keyof Schema['properties'] as Name extends Schema['required'][number] ? Name : never]: ValueOf<
    Schema['properties'][Name]
  >
} & {
  readonly [Name in keyof Schema['properties'] as Name extends Schema['required'][number] ? never : Name]?:
    | ValueOf<Schema['properties'][Name]>
    | undefined
}

/** A schema of required and optional properties. */
export function takes<const Must extends PropertySchemas, const May extends PropertySchemas = Record<never, never>>(
  must: Must,
  may?: May,
): InputSchema<Must & May, keyof Must & string> {
  const properties = { ...must, ...may } as Must & May
  return { type: 'object', properties, required: Object.keys(must) as (keyof Must & string)[] }
}

interface Property<Type extends PropertySchema['type']> {
  readonly type: Type
  readonly description: string
}

export type TextProperty = Property<'string'>
export type PathProperty = TextProperty & { readonly format: 'path' }
export type CountProperty = Property<'integer'> & { readonly minimum: number }
export type ObjectsProperty = Property<'array'> & { readonly items: { readonly type: 'object' } }
export type Choice<Words extends readonly string[]> = TextProperty & { readonly enum: Words }
export type TextsProperty = Property<'array'> & { readonly items: { readonly type: 'string' } }

export const text = (description: string): TextProperty => ({ type: 'string', description })
export const place = (description: string): PathProperty => ({ type: 'string', description, format: 'path' })
export const flag = (description: string): Property<'boolean'> => ({ type: 'boolean', description })
export const count = (description: string, minimum = 1): CountProperty => ({ type: 'integer', description, minimum })
export const texts = (description: string): TextsProperty => ({ type: 'array', description, items: { type: 'string' } })

export const loose = (description: string): Property<'object'> => ({ type: 'object', description })
export const objects = (description: string): ObjectsProperty => ({
  type: 'array',
  description,
  items: { type: 'object' },
})

export function choice<const Words extends readonly string[]>(description: string, words: Words): Choice<Words> {
  return { type: 'string', description, enum: words }
}

/** The path property of most tools. */
export const path: PathProperty = place('Path, absolute or relative to the working directory.')
