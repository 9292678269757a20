import { expect, it, test } from 'vitest'
import type { Terminal } from '../../terminal/terminal.ts'
import { commands } from './commands.ts'
import { help } from './help.ts'

const terminal = (width: number): Terminal => ({ out: () => {}, err: () => {}, color: false, width })
const texts = (width: number) =>
  [undefined, ...commands.map(({ name }) => name)].map((name) => help(terminal(width), name))

// What is to be typed is not broken.
const widest = (text: string) =>
  Math.max(...text.split('\n').map((line) => (/^ {2}cordon /.test(line) ? 0 : line.length)))

test.each([
  [50, 50],
  [80, 80],
  [300, 120],
])('on a terminal of %d columns no line is wider than %d', (width, most) => {
  expect(texts(width).filter((text) => widest(text) > most)).toEqual([])
})

it('says the same in every width', () => {
  const words = (width: number) => texts(width).map((text) => text.split(/\s+/))
  expect(words(40)).toEqual(words(120))
})
