import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createByteReader, startsCharacter } from './text-bytes.ts'

it('the bytes of a text have as many starts as the string has characters, in the same order', () => {
  const read = createByteReader()
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 3000 }), (text) => {
      const { bytes, size } = read(text)
      const starts = [...bytes.subarray(0, size).keys()].filter((at) => bytes[at]! < 0x80 || startsCharacter(bytes, at))
      expect(starts.length).toBe(text.length)
      starts.forEach((at, place) => {
        const code = text.charCodeAt(place)
        expect(Math.min(bytes[at]!, 0x80)).toBe(Math.min(code, 0x80))
      })
    }),
  )
})

it.each([100_000, 1_000_000])('a text of %d characters that grows threefold fits', (length) => {
  const read = createByteReader()
  const { bytes, size } = read('✓'.repeat(length))
  expect(size).toBe(3 * length)
  expect(read('a').bytes.length).toBeLessThanOrEqual(1 << 20)
  expect(new TextDecoder().decode(bytes.subarray(size - 6, size))).toBe('✓✓')
})
