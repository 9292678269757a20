/** Lines of strangers: split wherever the bytes are cut, bounded, and honest about what is not a text. */

import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { linesOf } from './lines.ts'

async function lines(chunks: readonly (string | Uint8Array)[], limit?: number): Promise<(string | null)[]> {
  const found: (string | null)[] = []
  const input = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
  for await (const line of linesOf(input, limit)) found.push(line)
  return found
}

it('does not care where the bytes are cut', async () => {
  const text = '{"a":"ä"}\n\n  \n{"b":1}\r\nlast'
  const bytes = Buffer.from(text)
  const whole = await lines([bytes])
  expect(whole).toEqual(['{"a":"ä"}', '{"b":1}\r', 'last'])
  for (let at = 1; at < bytes.length; at++)
    expect(await lines([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole)
})

it('says which line is not text, and goes on', async () => {
  expect(await lines([Uint8Array.of(0xff, 0xfe, 10), '{}\n'])).toEqual([null, '{}'])
})

it('ends at a line that has no end', async () => {
  await expect(lines(Array(20).fill('x'.repeat(100)), 1000)).rejects.toThrow('more than 1000 bytes')
  expect(await lines(Array(20).fill(`${'x'.repeat(900)}\n`), 1000)).toHaveLength(20)
})

it('ends a line at a line feed alone', async () => {
  const text = '{"a":"x\u2028y\u2029z\u0085\u000b\u000c"}'
  expect(await lines([`${text}\n{}\n`])).toEqual([text, '{}'])
})
