/** Validates library values: a wrong one could open what it meant to close. */

import { nearest } from '../manifest/schema/suggest.ts'
import { Fault } from '../system/fault.ts'
import { type Tool, toolLabels } from '../tools/tool.ts'

/** What a value must be: a text, a list, a number, a function, any object, or an object with these functions. */
type Kind = 'text' | 'list' | 'number' | 'function' | 'object' | readonly string[]

const KINDS: Readonly<Record<Exclude<Kind, readonly string[]>, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string' && value !== '' && !value.includes('\0'),
  list: Array.isArray,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  function: (value) => typeof value === 'function',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}
const EXPECTED = { text: 'a text', list: 'a list', number: 'a number', function: 'a function', object: 'an object' }

/** Throws unless the value is an object with only these fields. */
export function requireFields(of: string, given: unknown, fields: readonly string[]): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw wrong(`${of} takes an object`, `Its fields are: ${fields.join(', ')}.`)
  const unknown = Object.keys(given).find((name) => !fields.includes(name))
  if (unknown === undefined) return
  const near = nearest(unknown, fields)
  throw wrong(
    `${of} has no field ${shown(unknown)}`,
    near === null ? `Its fields are: ${fields.join(', ')}.` : `Did you mean ${shown(near)}?`,
  )
}

export function requireOneOf<Choice extends string>(of: string, given: unknown, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === given)
  if (found !== undefined) return found
  const near = typeof given === 'string' ? nearest(given.toLowerCase(), choices) : null
  const expected = `Expected: ${choices.map(shown).join(', ')}.`
  throw wrong(`${of} is ${shown(given)}`, near === null ? expected : `${expected} Did you mean ${shown(near)}?`)
}

export function requireText(of: string, given: unknown): string {
  return requireKind<string>(of, given, 'text')
}

export function requireKind<Value>(of: string, given: unknown, kind: Kind): Value {
  const isList = typeof kind !== 'string'
  const fits = isList
    ? KINDS.object(given) && kind.every((name) => KINDS.function((given as Record<string, unknown>)[name]))
    : KINDS[kind](given)
  if (fits) return given as Value
  const expected = isList ? `an object with the functions ${kind.join(', ')}` : EXPECTED[kind]
  throw wrong(`${of} is ${shown(given)}`, `Expected: ${expected}.`)
}

/** Throws unless the value is an object with only these fields, each of its kind; a field may be left out. */
export function requireShape(of: string, given: unknown, shape: Readonly<Record<string, Kind>>): void {
  requireFields(of, given, Object.keys(shape))
  for (const [name, value] of Object.entries(given as object))
    if (value !== undefined) requireKind(`${name} of ${of}`, value, shape[name]!)
}

/** Whether a tool of a program's own may have this name. */
export const isToolName = (name: string): boolean => /^[a-z][a-z0-9_-]{0,47}$/.test(name)

/** Throws unless the value is a tool whose name fits. */
export function requireTool(of: string, given: unknown, fits: (name: string) => boolean): Tool {
  const tool = requireKind<Tool>(of, given, ['actions', 'run'])
  const { name, description, input, labels } = tool
  if (typeof name !== 'string' || !fits(name))
    throw new Fault('tool-name', `${shown(name)} cannot be the name of a custom tool`, {
      remedy: 'Use lower-case letters, digits, - and _, and a name that no other tool has.',
    })
  requireText(`the description of the tool ${name}`, description)
  const schema = requireKind<Record<string, unknown>>(`the input of the tool ${name}`, input, 'object')
  // A tool that checks its own input may describe it by any JSON Schema.
  if (!tool.checksInput) {
    requireKind(`properties in the input of the tool ${name}`, schema.properties, 'object')
    requireKind(`required in the input of the tool ${name}`, schema.required, 'list')
  }
  for (const label of labels === undefined
    ? []
    : requireKind<readonly unknown[]>(`the labels of ${name}`, labels, 'list'))
    requireOneOf(`a label of the tool ${name}`, label, toolLabels)
  return tool
}

export function wrong(what: string, expected: string): Fault {
  return new Fault('library-value', what, { remedy: expected })
}

function shown(value: unknown): string {
  const text = typeof value === 'function' ? 'a function' : (JSON.stringify(value) ?? String(value))
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
