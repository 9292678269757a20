/** Comments and commas go, and nothing that is in a text. */

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseSettings } from './json.ts'

it.each([
  ['{"a":1}', { a: 1 }],
  ['// x\n{ /* "b":2, */ "a": 1, // y\n }', { a: 1 }],
  ['{"a":["x",],}', { a: ['x'] }],
  ['{"a":"// no","b":"/* no */","c":",}"}', { a: '// no', b: '/* no */', c: ',}' }],
  ['{"a":"\\\\\\"// no"}', { a: '\\"// no' }],
  ['\ufeff{}', {}],
])('%j', (text, expected) => {
  expect(parseSettings(text)).toEqual(expected)
})

it.each(['', '{', '{"a":1} x', '{"a" /* }'])('throws for %j', (text) => {
  expect(() => parseSettings(text)).toThrow(SyntaxError)
})

it('reads plain JSON as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      expect(JSON.stringify(parseSettings(text))).toBe(text)
    }),
  )
})
