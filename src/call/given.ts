/** Validates library values: a wrong one could open what it meant to close. */

import { nearest } from '../manifest/schema/suggest.ts'
import { Fault } from '../system/fault.ts'

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
  if (typeof given === 'string' && given !== '' && !given.includes('\0')) return given
  throw wrong(`${of} is ${shown(given)}`, 'Expected: a text.')
}

export function wrong(what: string, expected: string): Fault {
  return new Fault('library-value', what, { remedy: expected })
}

function shown(value: unknown): string {
  const text = typeof value === 'function' ? 'a function' : (JSON.stringify(value) ?? String(value))
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
