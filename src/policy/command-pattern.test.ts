import { describe, expect, it } from 'vitest'
import { parseCommandPattern } from './command-pattern.ts'

const parse = (text: string) => {
  const parsed = parseCommandPattern(text)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.pattern
}

describe('parseCommandPattern', () => {
  // biome-ignore format: a table is read by its columns.
  it.each([
    ['cargo build:*',       ['cargo', 'build'],            true,  'open'],
    ['cargo build',         ['cargo', 'build'],            false, 'closed'],
    ['cargo build :*',      ['cargo', 'build'],            true,  'a blank before :*'],
    ['./run.sh:*',          ['./run.sh'],                  true,  'a path is a different name'],
    ["git commit -m 'a b'", ['git', 'commit', '-m', 'a b'], false, 'quotes keep blanks'],
    ["grep '*'",            ['grep', '*'],                 false, 'a quoted star is a star'],
  ] as [string, string[], boolean, string][])('%s is %j, open %s (%s)', (text, words, open) => {
    expect(parse(text)).toEqual({ text, words, open })
  })

  it.each([
    [':*', 'no program'],
    ['', 'empty'],
    ['git *', 'a star in the middle'],
    ['git push | cat', 'an operator'],
    ['git $x', 'an expansion'],
    ["git 'x", 'an open quote'],
    ['git\npush', 'a newline'],
  ])('refuses %j (%s)', (text) => {
    expect(parseCommandPattern(text)).toHaveProperty('problem')
  })

  it('suggests the open pattern for a star', () => {
    expect(parseCommandPattern('git *')).toMatchObject({ suggestion: 'git:*' })
  })
})
