import { expect, test } from 'vitest'
import { ClipboardFilter } from './clipboard-filter.ts'

const ESC = '\u001b'
const rows: readonly (readonly [note: string, given: string, expected: string])[] = [
  ['plain text', 'abc\r\n', 'abc\r\n'],
  ['text of other languages', 'é漢字🙂ÐÝ', 'é漢字🙂ÐÝ'],
  ['colours', `${ESC}[31mred${ESC}[0m`, `${ESC}[31mred${ESC}[0m`],
  ['a title', `${ESC}]0;title\u0007x`, `${ESC}]0;title\u0007x`],
  ['a link', `${ESC}]8;;http://a${ESC}\\x${ESC}]8;;${ESC}\\`, `${ESC}]8;;http://a${ESC}\\x${ESC}]8;;${ESC}\\`],
  ['OSC 52 that ends in BEL', `a${ESC}]52;c;aGk=\u0007b`, 'ab'],
  ['OSC 52 that ends in ST', `a${ESC}]52;c;aGk=${ESC}\\b`, 'ab'],
  ['a query of the clipboard', `a${ESC}]52;c;?\u0007b`, 'ab'],
  ['leading zeros', `a${ESC}]00000000000000000000052;c;x\u0007b`, 'ab'],
  ['a control character in the number', `a${ESC}]5\u00002;c;x\u0007b`, 'ab'],
  ['a sign, which atoi takes', `a${ESC}]+52;c;x\u0007b`, 'ab'],
  ['as one character', 'a\u009d52;c;x\u0007b', 'ab'],
  ['ended by another sequence', `a${ESC}]52;c;x${ESC}[31mb`, `a${ESC}[31mb`],
  ['cancelled', `a${ESC}]52;c;x\u0018b`, 'ab'],
  ['two escapes', `a${ESC}${ESC}]52;c;x\u0007b`, `a${ESC}b`],
  ['one in the other', `a${ESC}]0;t${ESC}]52;c;x\u0007b`, `a${ESC}]0;tb`],
  ['kitty', `a${ESC}]5522;type=write;x\u0007b`, 'ab'],
  ['iTerm2', `a${ESC}]1337;Copy=:eA==\u0007b${ESC}]1337;CopyToClipboard=\u0007`, 'ab'],
  ['iTerm2 otherwise', `${ESC}]1337;CurrentDir=/\u0007`, `${ESC}]1337;CurrentDir=/\u0007`],
  ['through tmux', `a${ESC}Ptmux;${ESC}${ESC}]52;c;x\u0007${ESC}\\b`, `a${ESC}\\b`],
  ['through screen', `a${ESC}P${ESC}]5${ESC}\\${ESC}P2;c;x\u0007${ESC}\\b`, `a${ESC}P2;c;x\u0007${ESC}\\b`],
  ['a picture', `${ESC}Pq#0${ESC}\\`, `${ESC}Pq#0${ESC}\\`],
]

test.each(rows)('%s', (_note, given, expected) => {
  const bytes = Buffer.from(given)
  const whole = new ClipboardFilter().take(bytes).toString()
  const filter = new ClipboardFilter()
  const cut = Buffer.concat([...bytes].map((byte) => filter.take(Buffer.from([byte])))).toString()
  expect(whole).toBe(expected)
  expect(cut).toBe(expected)
})

test('the one byte that is the introducer if the terminal is not in UTF-8', () => {
  const given = Buffer.from('a\x9d52;c;x\x07b', 'latin1')
  expect(new ClipboardFilter().take(given).toString('latin1')).toBe('ab')
})
