/** Our reader of strangers' schemas against Ajv, which we do not run on them: it compiles code, runs patterns and knows no bounds. */

import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { schemaProblem } from './schema-check.ts'

/** As it comes off the wire. */
const parsed = (one: unknown): unknown => JSON.parse(JSON.stringify(one))

const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(null, true, false, 0, 1, 2, 1.5, -1, '', 'a', 'ab', '🙂', 'toString'),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'constructor', '__proto__'), tie('any'), { maxKeys: 3 }),
  ),
})).any

const types = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']
const small = fc.nat({ max: 3 })
const schema = fc.letrec<{ any: unknown }>((tie) => {
  const some = fc.array(tie('any'), { minLength: 1, maxLength: 2 })
  return {
    any: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<unknown>(true, false, {}, { $ref: '#/$defs/a' }),
      fc.record(
        {
          type: fc.oneof(fc.constantFrom(...types), fc.uniqueArray(fc.constantFrom(...types), { minLength: 1 })),
          enum: fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: (one) => JSON.stringify(one) }),
          const: value,
          minimum: small,
          exclusiveMaximum: small,
          minLength: small,
          maxLength: small,
          minItems: small,
          maxItems: small,
          uniqueItems: fc.boolean(),
          minProperties: small,
          maxProperties: small,
          required: fc.uniqueArray(fc.constantFrom('a', 'b', 'toString'), { maxLength: 2 }),
          properties: fc.dictionary(fc.constantFrom('a', 'b', 'constructor'), tie('any'), { maxKeys: 2 }),
          additionalProperties: tie('any'),
          prefixItems: some,
          items: tie('any'),
          allOf: some,
          anyOf: some,
          oneOf: some,
          not: tie('any'),
        },
        { requiredKeys: [] },
      ),
    ),
  }
}).any

test('says the same as Ajv of every keyword that it reads', () => {
  fc.assert(
    fc.property(schema.map(parsed), schema.map(parsed), value.map(parsed), (written, part, given) => {
      const root = { allOf: [written], $defs: { a: part } }
      // A reference to itself is refused here by its depth, and is without end there.
      fc.pre(!JSON.stringify(part).includes('$ref'))
      const validate = new Ajv2020({ strict: false, validateSchema: false, logger: false }).compile(root)
      expect(schemaProblem(root, given) === null).toBe(validate(given))
    }),
    { numRuns: 250, seed: 20261116 },
  )
})
