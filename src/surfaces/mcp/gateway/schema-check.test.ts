/** Untrusted schemas: their rules are enforced, their patterns are not run. */

import { describe, expect, it } from 'vitest'
import { schemaProblem } from './schema-check.ts'

const text = { type: 'string' }

const rows: readonly (readonly [note: string, schema: unknown, good: unknown, bad: unknown])[] = [
  ['type', text, 'a', 1],
  ['several types', { type: ['string', 'null'] }, null, 1],
  ['integer', { type: 'integer' }, 3, 3.5],
  ['enum', { enum: ['a', { b: 1, c: 2 }] }, { c: 2, b: 1 }, { b: 2 }],
  ['const', { const: [1] }, [1], [2]],
  ['minimum', { minimum: 3 }, 3, 2],
  ['exclusiveMaximum', { exclusiveMaximum: 3 }, 2, 3],
  ['maxLength in characters', { maxLength: 2 }, '🙂🙂', '🙂🙂🙂'],
  ['minItems', { minItems: 1 }, [0], []],
  ['uniqueItems', { uniqueItems: true }, [{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: 1 }]],
  ['items', { items: text }, ['a'], [1]],
  ['prefixItems', { prefixItems: [text], items: { type: 'number' } }, ['a', 1], ['a', 'b']],
  ['required', { required: ['a'] }, { a: 1 }, {}],
  ['required, not inherited', { required: ['toString'] }, { toString: 1 }, {}],
  ['properties', { properties: { a: text } }, { a: 'x' }, { a: 1 }],
  ['no other properties', { properties: { a: text }, additionalProperties: false }, { a: 'x' }, { b: 1 }],
  ['other properties of a kind', { additionalProperties: text }, { a: 'x' }, { a: 1 }],
  ['maxProperties', { maxProperties: 1 }, { a: 1 }, { a: 1, b: 1 }],
  ['allOf', { allOf: [{ minimum: 1 }, { maximum: 3 }] }, 2, 4],
  ['anyOf', { anyOf: [text, { type: 'number' }] }, 1, true],
  ['oneOf', { oneOf: [{ minimum: 1 }, { maximum: 3 }] }, 9, 2],
  ['not', { not: text }, 1, 'a'],
  // biome-ignore lint/suspicious/noThenProperty: the keyword of the schema.
  ['if, then, else', { if: text, then: { maxLength: 1 }, else: { minimum: 5 } }, 'a', 4],
  ['a reference within', { $defs: { t: text }, properties: { a: { $ref: '#/$defs/t' } } }, { a: 'x' }, { a: 1 }],
  [
    'a reference to itself',
    { properties: { next: { $ref: '#' } }, required: ['v'] },
    { v: 1, next: { v: 2 } },
    { v: 1, next: {} },
  ],
  ['false', { properties: { a: false } }, {}, { a: 1 }],
]

describe.each(rows)('%s', (_, schema, good, bad) => {
  it('accepts valid values', () => {
    expect(schemaProblem(schema, good)).toBeNull()
    expect(schemaProblem(schema, bad)).not.toBeNull()
  })
})

it('says which field it is about', () => {
  const schema = { properties: { path: { type: 'string' } } }
  expect(schemaProblem(schema, { path: 7 }, 'the input')).toBe('"path" must be string')
})

it.each([
  ['elsewhere', { $ref: 'https://evil.example/schema.json' }],
  ['to a file', { $ref: 'file:///etc/passwd' }],
  ['nowhere', { $ref: '#/$defs/none' }],
  ['to a prototype', { $ref: '#/constructor' }],
])('refuses a reference %s: nothing is fetched, nothing is let through', (_, schema) => {
  expect(schemaProblem(schema, 'x')).toContain('refers to one that is not here')
})

it('does not go round for ever, nor take all the time there is', () => {
  expect(schemaProblem({ $ref: '#' }, 1)).toContain('nested too deeply')
  const wide = { anyOf: Array(40).fill({ anyOf: Array(40).fill({ anyOf: Array(100).fill({ type: 'string' }) }) }) }
  expect(schemaProblem(wide, 1)).not.toBeNull()
  expect(schemaProblem({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(100)}!`)).toBeNull()
})

it('checks a value once, however often its schema asks what it is', () => {
  let looks = 0
  const value = {
    get a() {
      looks++
      return 'x'
    },
  }
  const schema = { anyOf: Array.from({ length: 500 }, (_, x) => ({ enum: [{ x }, { a: 'x', x }] })) }
  expect(schemaProblem(schema, value)).toContain('must be one of')
  expect(looks).toBeLessThan(10)
})

describe('schemas that are designed to take for ever', () => {
  const branches = (part: object) => ({ anyOf: Array.from({ length: 2_000 }, () => part) })
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, at]))
  const long = Array.from({ length: 20_000 }, (_, at) => ({ at }))
  it.each([
    ['many branches over many fields', branches({ type: 'object', required: ['missing'] }), wide],
    ['many comparisons of many items', branches({ uniqueItems: true, not: {} }), long],
    ['many measures of a long text', branches({ minLength: 1e9 }), 'x'.repeat(1_000_000)],
    ['many types', branches({ type: Array(10_000).fill('string') }), 1],
    ['one wide branch after the other', { allOf: Array(600_000).fill({}) }, 1],
    ['many comparisons with a long text', branches({ enum: ['y'.repeat(100_000)] }), `${'y'.repeat(99_999)}z`],
  ])('%s: given up, and said so', (_, schema, value) => {
    expect(schemaProblem(schema, value)).toContain('too complex')
  })

  it('many counts of many fields: they are listed once', () => {
    let lists = 0
    const counted = new Proxy(wide, {
      ownKeys: (fields) => {
        lists++
        return Reflect.ownKeys(fields)
      },
    })
    expect(schemaProblem(branches({ minProperties: 1e9 }), counted)).toContain('minProperties')
    expect(lists).toBe(1)
  })

  it('a reference that is longer than any name is not looked for', () => {
    const name = '~'.repeat(100_000)
    expect(schemaProblem({ $ref: `#/${name}`, [name]: {} }, 1)).toContain('not here')
  })

  it('a large result of an honest one is checked', () => {
    const schema = { items: { type: 'object', properties: { at: { type: 'integer' } }, required: ['at'] } }
    expect(schemaProblem(schema, [...long, { at: 'x' }])).toContain('integer')
    expect(schemaProblem(schema, long)).toBeNull()
  })
})
