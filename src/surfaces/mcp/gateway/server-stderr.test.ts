/** What a server writes to stderr: named, without terminal sequences, bounded. */

import { expect, it } from 'vitest'
import { serverStderr } from './gateway.ts'

function written(chunks: readonly string[], now: () => number = () => 0): string[] {
  const lines: string[] = []
  const stream = serverStderr('srv', (line) => lines.push(line), now)
  for (const chunk of chunks) stream.write(chunk)
  stream.end()
  return lines
}

it('puts the name before each line, whatever the cut', () => {
  expect(written(['one\ntw', 'o\nrest'])).toEqual(['[srv] one\n', '[srv] two\n', '[srv] rest\n'])
})

it('does not steer the terminal, and does not pass for another', () => {
  const [line] = written(['\u001b[2J\r[cordon] all is well\n'])
  expect(line).toMatch(/^\[srv\] /)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  expect(line!.slice(0, -1)).not.toMatch(/[\u0000-\u001f]/)
})

it('drops a flood, and hears the server again later', () => {
  let time = 1_000_000
  const lines: string[] = []
  const stream = serverStderr(
    'srv',
    (line) => lines.push(line),
    () => time,
  )
  stream.write('x\n'.repeat(10_000))
  expect(lines).toHaveLength(201)
  expect(lines.at(-1)).toContain('dropped')
  time += 20_000
  stream.write('again\n')
  expect(lines.at(-1)).toBe('[srv] again\n')
  stream.write('y'.repeat(1_000_000))
  stream.end()
  expect(lines.at(-1)!.length).toBeLessThan(3000)
})
