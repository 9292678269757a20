import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodePath, encodePath } from './path-bytes.ts'

const bytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0))

test.each([
  ['/a/b', '/a/b', 'plain'],
  ['/caf\u00c3\u00a9/x', '/caf\u00e9/x', 'UTF-8'],
  ['/caf\u00e9/x', '/caf\udce9/x', 'Latin-1'],
  ['/\u00c3\u00a9/\u00ff', '/\u00e9/\udcff', 'one name of each kind: the first still compares with others'],
  ['', '', 'nothing'],
])('%j becomes %j (%s)', (raw, text) => {
  expect(decodePath(bytes(raw))).toBe(text)
  expect([...encodePath(text)]).toEqual([...bytes(raw)])
})

test('every path comes back byte for byte', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (raw) => {
      expect([...encodePath(decodePath(raw))]).toEqual([...raw])
    }),
  )
})
