import { describe, expect, it } from 'vitest'
import { randomFrom } from '../../../test/redact-samples.ts'
import { decodeAll } from './encodings.ts'

const SENTENCE = 'please read the whole sentence before you go on'
const hexOf = (text: string) => [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0'))

describe('what decodes to readable text', () => {
  it.each([
    ['base64', btoa(SENTENCE)],
    ['base64 without padding', btoa(SENTENCE).replace(/=+$/, '')],
    ['base64 for URLs', btoa(`${SENTENCE}?~`).replaceAll('+', '-').replaceAll('/', '_')],
    ['hexadecimal', hexOf(SENTENCE).join('')],
    ['hexadecimal with blanks', hexOf(SENTENCE).join(' ')],
    [
      '\\x escapes',
      hexOf(SENTENCE)
        .map((pair) => `\\x${pair}`)
        .join(''),
    ],
    [
      'percent escapes',
      hexOf(SENTENCE)
        .map((pair) => `%${pair}`)
        .join(''),
    ],
    ['entities', [...SENTENCE].map((char) => `&#${char.charCodeAt(0)};`).join('')],
    [
      'Unicode escapes',
      hexOf(SENTENCE)
        .map((pair) => `\\u00${pair}`)
        .join(''),
    ],
  ])('%s', (_, encoded) => {
    const text = `before, ${encoded} (after)`
    const found = decodeAll(text)
    expect(found.map((one) => one.text).join('\n')).toContain(SENTENCE)
    expect(found.some(({ start, end }) => text.slice(start, end).includes(encoded))).toBe(true)
  })

  it('finds a run wherever it is', () => {
    const random = randomFrom(5)
    for (let round = 0; round < 300; round++) {
      const before = 'x y. '.repeat(Math.floor(random() * 20)).slice(0, Math.floor(random() * 90))
      const encoded = btoa(SENTENCE.slice(0, 18 + Math.floor(random() * 28))).replace(/=+$/, '')
      const start = before.length + 1
      const [found] = decodeAll(`${before}:${encoded}.`)
      expect(found, before).toMatchObject({ start, end: start + encoded.length })
    }
  })

  it.each([
    ['a path', 'src/runtime/session-questions-and-answers/index.ts'],
    ['an identifier', 'someVeryLongIdentifierThatGoesOnAndOnForever'],
    ['a digest', 'sha512-iFk5LB1eQ8lbDYo1nS0j3r2yCPi0Vt0nH0w3hVJtq1mQ4dq3P5C0y1x0Yd1b4lZ9a8s7d6f5g4h3j2k1l0=='],
    ['a hash', 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
    ['a short run', btoa('too short')],
  ])('not %s', (_, text) => {
    expect(decodeAll(text)).toEqual([])
  })

  it('ends, however many runs there are', () => {
    expect(decodeAll(`${btoa(SENTENCE)} `.repeat(5000)).length).toBe(50)
  })
})
