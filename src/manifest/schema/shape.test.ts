import { expect, test } from 'vitest'
import { parseSeconds, parseSize } from './shape.ts'

const sizes: readonly { text: string; bytes: number | null; note: string }[] = [
  { text: '512', bytes: 512, note: '' },
  { text: '1 KiB', bytes: 1024, note: '' },
  { text: '1kb', bytes: 1000, note: '' },
  { text: '2M', bytes: 2 * 1024 ** 2, note: 'one letter is binary, as in ulimit' },
  { text: '1.5 GiB', bytes: 1.5 * 1024 ** 3, note: '' },
  { text: '1 PiB', bytes: null, note: 'no such unit here' },
  { text: '-1', bytes: null, note: '' },
  { text: '', bytes: null, note: '' },
  { text: '1 toString', bytes: null, note: '' },
]

test.each(sizes)('size $text', ({ text, bytes }) => {
  expect(parseSize(text)).toBe(bytes)
})

const times: readonly { text: string; seconds: number | null; note: string }[] = [
  { text: '90s', seconds: 90, note: '' },
  { text: '1h 30m', seconds: 5400, note: '' },
  { text: '1h30m', seconds: 5400, note: '' },
  { text: '250ms', seconds: 0.25, note: '' },
  { text: '5', seconds: null, note: 'a text needs a unit' },
  { text: '5 m', seconds: null, note: '' },
  { text: '1m'.repeat(50), seconds: null, note: 'longer than any time' },
]

test.each(times)('time $text', ({ text, seconds }) => {
  expect(parseSeconds(text)).toBe(seconds)
})
