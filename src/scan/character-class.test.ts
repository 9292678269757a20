import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ALPHABETS } from './redact/secret-kinds.ts'
import { characterClass } from './text-bytes.ts'

const everyCode = Array.from({ length: 256 }, (_, code) => code)

function agrees(ranges: string): void {
  const pattern = new RegExp(`[${ranges}]`)
  expect([...characterClass(ranges, 256)]).toEqual(
    everyCode.map((code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0)),
  )
}

describe('a character class', () => {
  it.each([...Object.values(ALPHABETS), 'A-Za-z0-9_+/~-', 'a', '-', 'a-', '0-9'])(
    '%s has the members that a pattern of it has',
    agrees,
  )

  it('has them for ranges of any letters', () => {
    const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz')
    const range = fc.tuple(letter, letter).map(([a, b]) => (a < b ? `${a}-${b}` : `${b}-${a}`))
    fc.assert(fc.property(fc.array(fc.oneof(letter, range), { minLength: 1 }), (parts) => agrees(parts.join(''))))
  })
})
