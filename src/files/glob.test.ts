import { describe, expect, it } from 'vitest'
import { segmentsMeet } from './glob.ts'

describe('segmentsMeet', () => {
  // biome-ignore format: a table is read by its columns.
  it.each([
    ['abc',   'abc',   true],
    ['a*',    '*c',    true],
    ['a?c',   'ab?',   true],
    ['*',     '*',     true],
    ['',      '*',     true],
    ['.en*',  '.env.*', true],
    ['*.ts',  '*.key', false],
    ['a*',    'b*',    false],
    ['ab',    'a',     false],
    ['?',     '',      false],
    ['a*b*c', 'a?b',   false],
  ] as [string, string, boolean][])('%s and %s: %s', (a, b, expected) => {
    expect(segmentsMeet(a, b)).toBe(expected)
    expect(segmentsMeet(b, a)).toBe(expected)
  })
})
