import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainSha256, sha256 } from './sha256.ts'

const right = (input: string | Uint8Array): string => createHash('sha256').update(input).digest('hex')

test.each([0, 1, 3, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 127, 128, 129, 1000, 8192])('%i bytes', (length) => {
  const input = Uint8Array.from({ length }, (_, i) => (i * 151 + 7) & 0xff)
  expect(plainSha256(input)).toBe(right(input))
})

test('bytes of any kind', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 700, size: 'max' }), (input) => {
      expect(plainSha256(input)).toBe(right(input))
    }),
    { numRuns: 500 },
  )
})

test('texts, few and many, short and long', () => {
  const texts = ['', 'abc', 'ä€😀', '\ud800', 'x'.repeat(9000), ...Array.from({ length: 40 }, (_, i) => `line ${i}`)]
  for (const text of texts) expect(sha256(text)).toBe(right(text))
  expect(sha256(Uint8Array.of(1, 2, 3))).toBe(right(Uint8Array.of(1, 2, 3)))
})
