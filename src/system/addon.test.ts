import { hash } from 'node:crypto'
import { expect, it } from 'vitest'
import { fileAddon, sha256 } from './addon.ts'

it('hashes like Node, at every length around its blocks', () => {
  expect(fileAddon(), 'the addon is built').not.toBeNull()
  const bytes = Uint8Array.from({ length: 300 }, (_, at) => (at * 131 + 7) % 256)
  for (let length = 0; length <= bytes.length; length++) {
    const part = bytes.subarray(0, length)
    expect(sha256(part), `${length} bytes`).toBe(hash('sha256', part))
  }
  for (const text of ['', 'abc', 'é€😀', '\ud800', 'x'.repeat(100_000)]) expect(sha256(text)).toBe(hash('sha256', text))
})

it('hashes bytes only', () => {
  expect(() => fileAddon()!.sha256('text' as never)).toThrow('sha256 takes bytes')
})
