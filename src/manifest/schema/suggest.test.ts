import fc from 'fast-check'
import { expect, test } from 'vitest'
import { editDistance, nearest } from './suggest.ts'

const cases: readonly { word: string; known: string[]; expect: string | null; note: string }[] = [
  { word: 'pipe', known: ['pipes', 'compound'], expect: 'pipes', note: 'one letter short' },
  { word: 'comopund', known: ['pipes', 'compound'], expect: 'compound', note: 'a swap counts once' },
  { word: 'Prompt-Reads', known: ['prompt_reads'], expect: 'prompt_reads', note: 'case and dashes do not count' },
  { word: 'permissions', known: ['permission'], expect: 'permission', note: '' },
  { word: 'zzz', known: ['pipes'], expect: null, note: 'nothing near' },
  { word: 'a'.repeat(10_000), known: ['pipes'], expect: null, note: 'not a typing error' },
  { word: 'x', known: [], expect: null, note: '' },
]

test.each(cases)('$word -> $expect', ({ word, known, expect: expected }) => {
  expect(nearest(word, known)).toBe(expected)
})

test('distance is symmetric and zero only for equal words', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
      expect(editDistance(a, b, 20)).toBe(editDistance(b, a, 20))
      expect(editDistance(a, b, 20) === 0).toBe(a === b)
    }),
  )
})
