/** The prose check finds what it should, and leaves code, links and tables alone. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  problemsOf,
  proseOf,
  retiredWords,
  sentences,
  sourceProblems,
  wordCount,
  wrapped,
} from '../../scripts/lint-prose.ts'

const retired = retiredWords(readFileSync('docs/glossary.md', 'utf8'))
const long = (words: number): string => `${Array.from({ length: words }, () => 'word').join(' ')}.`

describe('problems', () => {
  it.each([
    ['a retired word', 'The person is told.', ['told']],
    ['a phrase over a line end', 'It works in the place\nof another.', ['in the place of']],
    ['there is no timer', 'There is no timer.', []],
    ['a sentence of 31 words', long(31).replaceAll(/(.{90}) /g, '$1\n'), ['31 words']],
    ['a sentence of 30 words', long(30).replaceAll(/(.{90}) /g, '$1\n'), []],
    ['a wide line', 'Short. '.repeat(15), ['105 columns']],
    ['a long paragraph', 'One line.\n'.repeat(7), ['7 lines']],
    ['code', '```sh\necho told\n```\n\n    told\n\n`told` is code.', []],
    ['a table cell', '| a | b |\n|---|---|\n| told | x |', ['told']],
    ['a wide table', `| ${'a '.repeat(20)}${'.'.repeat(90)} |\n|---|`, []],
    ['a long link', `- [x](${'y'.repeat(120)})`, []],
    ['a comment', '<!-- told -->', []],
  ])('%s', (_, text, expected) => {
    const found = problemsOf(text, retired).map(({ message }) => message)
    expect(found).toHaveLength(expected.length)
    for (const word of expected) expect(found.join('\n')).toContain(word)
  })
})

it.each([
  ['a comment', '/** The person is told. */', ['told']],
  ['a line of a comment', 'x() // a door of it', ['door']],
  ['a text', "fail('nothing holds here')", ['holds']],
  ['a text over lines', 'say(`a\\nroom is full`)', ['room']],
  ['a name', 'const told = 1', ['a name "told"']],
  ['a key of stored data', 'const one = { told: given.told }', []],
  ['a code of one word', "kind === 'told'", []],
  ['what looks like a comment in a text', "run('cat docs/*.txt', 'a.told')", []],
  ['an expression', 'if (/is told/.test(one)) stop()', []],
  ['ordinary English', '/** There is no timer: it is no longer used. The answer is no. */', []],
])('of a source: %s', (_, source, expected) => {
  const found = sourceProblems('src/a.ts', source, retired).map(({ message }) => message)
  expect(found).toHaveLength(expected.length)
  for (const word of expected) expect(found.join('\n')).toContain(word)
})

it.each([
  ['An end. A start.', 2],
  ['See a.ts and b.ts for 1.5 s.', 1],
  ['Tools, e.g. npm. gVisor too.', 2],
  ['"Quoted." Next?', 2],
])('%s has %i sentences', (text, count) => {
  expect(sentences(text)).toHaveLength(count)
})

it('counts code as one word, and links by their text', () => {
  const [block] = proseOf('Run `npm run check` and read [the guide](x.md).')
  expect(wordCount(block!.text)).toBe(6)
})

it('fills lines without breaking code, and changes nothing the second time', () => {
  const text = `# T\n\n- ${'word '.repeat(18)}\`code with blanks\` end\n  more\n\n| a |\n|---|\n`
  const once = wrapped(text)
  expect(Math.max(...once.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
  expect(once).toContain('`code with blanks`')
  expect(wrapped(once)).toBe(once)
})
