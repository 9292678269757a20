import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plainWords } from './normalise.ts'

describe('plain words', () => {
  it.each([
    ["don't  stop -- now", 'dont stop now'],
    ["  'a' 'b'  ", 'a b '],
    ['\ufeffété, 10€!', '\ufeffété 10€ '],
    ['', ''],
    ["''", ''],
  ])('%j are %j', (text, words) => expect(plainWords(text)).toBe(words))

  it('are what a pattern makes of any text', () => {
    const piece = fc.constantFrom('a', 'z', '0', "'", ' ', '\n', '-', 'é', '𐀀', '\u0080', '€')
    const text = fc.oneof(
      fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join('')),
      fc.string({ unit: 'binary' }).map((any) => any.toWellFormed().toLowerCase()),
    )
    fc.assert(
      fc.property(text, (given) => {
        const pattern = given.replaceAll("'", '').replace(/[^a-z0-9\u0080-\uffff]+/g, ' ')
        expect(plainWords(given)).toBe(pattern.replace(/^ /, ''))
      }),
      { numRuns: 2000 },
    )
  })
})
