/** What a tool takes: the part of JSON Schema that inputs use, the types that follow from it, and short ways to write it. */

/** The input of a tool, as its models and clients see it. */
export interface InputSchema<Properties extends PropertySchemas = PropertySchemas, Required extends string = string> {
  readonly type: 'object'
  readonly properties: Properties
  readonly required: readonly Required[]
}

export type PropertySchemas = Readonly<Record<string, PropertySchema>>

export interface PropertySchema {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'
  readonly description: string
  /** A path is held to what a file can be called. */
  readonly format?: 'path'
  readonly minimum?: number
  readonly items?: { readonly type: 'string' | 'object' }
  readonly enum?: readonly string[]
}

/** An object of which only the outside was checked. */
export type LooseObject = Readonly<Record<string, unknown>>

/** The values that fit a property. */
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

/** The inputs that fit a schema. */
export type InputOf<Schema extends InputSchema> = {
  readonly [Name in keyof Schema['properties'] as Name extends Schema['required'][number] ? Name : never]: ValueOf<
    Schema['properties'][Name]
  >
} & {
  readonly [Name in keyof Schema['properties'] as Name extends Schema['required'][number] ? never : Name]?:
    | ValueOf<Schema['properties'][Name]>
    | undefined
}

/** A schema from what must be given and what may be. */
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

/** One of some words. */
export function choice<const Words extends readonly string[]>(description: string, words: Words): Choice<Words> {
  return { type: 'string', description, enum: words }
}

/** The path that most tools take. */
export const path: PathProperty = place('Path, absolute or relative to the working directory.')
