import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PAGE_SCRIPT } from '../audit/report.ts'
import { quoteShort } from '../manifest/toml/tree.ts'
import { visibleName } from '../tools/files/tree.ts'
import { pieces, wrapWords } from './display-text.ts'
import { hidesSomething, shownCharacters, visible, visibleLines } from './visible-text.ts'

interface Row {
  readonly name: string
  readonly text: string
  readonly shown: string
}

const ACUTE = '\u0301'

const rows: readonly Row[] = [
  { name: 'plain', text: 'git push', shown: 'git push' },
  { name: 'letters of every script', text: 'é ñ 日本 한글 Ελ עב عر हि ไทย', shown: 'é ñ 日本 한글 Ελ עב عر हि ไทย' },
  { name: 'emoji', text: '😀', shown: '😀' },
  { name: 'an escape sequence', text: '\u001b[2J', shown: '\\e[2J' },
  { name: 'a line break', text: 'a\nb\r', shown: 'a\\nb\\r' },
  { name: 'a tab and a null', text: 'a\tb\0', shown: 'a\\tb\\0' },
  { name: 'a backspace and DEL', text: 'a\bb\u007f', shown: 'a\\u{8}b\\u{7f}' },
  { name: 'a C1 control', text: '\u009b31m', shown: '\\u{9b}31m' },
  { name: 'a bidi override', text: '\u202egpj', shown: '\\u{202e}gpj' },
  { name: 'bidi isolates', text: '\u2066x\u2069', shown: '\\u{2066}x\\u{2069}' },
  { name: 'an Arabic letter mark', text: '\u061c', shown: '\\u{61c}' },
  { name: 'zero width', text: 'a\u200bb\ufeff\u200d', shown: 'a\\u{200b}b\\u{feff}\\u{200d}' },
  { name: 'a soft hyphen', text: 'a\u00adb', shown: 'a\\u{ad}b' },
  { name: 'blanks that are none', text: 'a\u00a0b\u3000c\u2800', shown: 'a\\u{a0}b\\u{3000}c\\u{2800}' },
  { name: 'line and paragraph separators', text: '\u2028\u2029', shown: '\\u{2028}\\u{2029}' },
  { name: 'the tags block', text: 'x\u{e0061}\u{e007f}\u{e0000}', shown: 'x\\u{e0061}\\u{e007f}\\u{e0000}' },
  {
    name: 'variation selectors',
    text: '\u2764\ufe0f a\u{e0100}\u{e01ef}\u180b',
    shown: '\u2764\\u{fe0f} a\\u{e0100}\\u{e01ef}\\u{180b}',
  },
  { name: 'fillers', text: '\u115f\u1160\u3164\uffa0', shown: '\\u{115f}\\u{1160}\\u{3164}\\u{ffa0}' },
  { name: 'vowels that look like nothing', text: 'a\u17b4\u17b5', shown: 'a\\u{17b4}\\u{17b5}' },
  { name: 'a joiner among the marks', text: 'a\u034fb', shown: 'a\\u{34f}b' },
  { name: 'a note head of nothing', text: '\u{1d159}', shown: '\\u{1d159}' },
  { name: 'private and unassigned', text: '\ue000\u{10ffff}\u0378', shown: '\\u{e000}\\u{10ffff}\\u{378}' },
  { name: 'halves of a pair', text: '\ud800a\udc00', shown: '\\u{d800}a\\u{dc00}' },
  { name: 'marks as scripts use them', text: `e${ACUTE} ệ ּבֿ`, shown: `e${ACUTE} ệ ּבֿ` },
  { name: 'stacked marks', text: `e${ACUTE.repeat(5)}`, shown: `e${ACUTE.repeat(3)}\\u{301}\\u{301}` },
  { name: 'a mark without a letter', text: `${ACUTE}a`, shown: '\\u{301}a' },
  { name: 'a mark on an escape', text: `\u200b${ACUTE}`, shown: '\\u{200b}\\u{301}' },
]

describe('text of strangers', () => {
  it.each(rows)('$name', ({ text, shown }) => expect(visible(text)).toBe(shown))

  it('of several lines keeps its lines, and nothing else', () => {
    expect(visibleLines(`a\r\nb\u2028\n${ACUTE}`)).toBe('a\\r\nb\\u{2028}\n\\u{301}')
  })

  it('says whether it hides something', () => {
    expect(rows.filter(({ text, shown }) => hidesSomething(text) !== (text !== shown)).map(({ name }) => name)).toEqual(
      // Marks are shown elsewhere as they are.
      ['stacked marks', 'a mark without a letter'],
    )
  })

  it('every code point is shown as it is, or as an escape of plain characters that names it', () => {
    for (let code = 0; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code)
      const shown = visible(character)
      if (shown === character) {
        if (/\p{C}|\p{Z}|\p{Default_Ignorable_Code_Point}/u.test(character) && character !== ' ')
          expect.fail(`U+${code.toString(16)} is shown`)
      } else if (!/^\\(?:[nrte0]|u\{[0-9a-f]+\})$/.test(shown)) expect.fail(`U+${code.toString(16)} became ${shown}`)
    }
  })

  it('is safe as a whole: what is shown is shown the same again, and each piece knows its place', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(text, (value) => {
        const shown = visible(value)
        expect(visible(shown)).toBe(shown)
        expect(shown).not.toMatch(/[^\P{C}]|\p{Default_Ignorable_Code_Point}|\p{M}{4}|^\p{M}/u)
        const characters = shownCharacters(value)
        expect(characters.map(({ source }) => source).join('')).toBe(value)
        for (const { source, at } of characters) expect(value.startsWith(source, at)).toBe(true)
      }),
    )
  })
})

describe('every way to a person escapes the same', () => {
  const hiding = rows.filter(({ text }) => hidesSomething(text))

  it.each(hiding)('$name: the prompt', ({ text, shown }) => {
    expect(
      pieces(text)
        .map((piece) => piece.text)
        .join(''),
    ).toBe(shown)
    if (!text.includes(' ')) expect(wrapWords(text, 1000)).toEqual([shown])
  })

  it.each(hiding)('$name: a quoted value of a manifest', ({ text }) => {
    expect(hidesSomething(quoteShort(text))).toBe(false)
  })

  it.each(hiding)('$name: a file name, which can be read back', ({ text }) => {
    const name = visibleName(text)
    expect(hidesSomething(name)).toBe(false)
    expect(JSON.parse(name)).toBe(text)
  })

  it.each(hiding)('$name: the report page', ({ text }) => {
    const lines = PAGE_SCRIPT.split('\n').filter((line) => /^const (?:hidden|shown)=/.test(line))
    const shown = new Function(`${lines.join('\n')}\nreturn shown`)() as (value: string) => string
    expect(hidesSomething(shown(text))).toBe(false)
  })
})
