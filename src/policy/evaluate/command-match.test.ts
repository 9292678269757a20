import { describe, expect, test } from 'vitest'
import { analyze } from '../../shell/walk/analyze.ts'
import { type CommandPattern, parseCommandPattern } from '../command-pattern.ts'
import { denyMatches, grantMatches, variantsOf } from './command-match.ts'

const pattern = (text: string): CommandPattern => {
  const parsed = parseCommandPattern(text)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.pattern
}

/** The words of the last command of a text. */
const wordsOf = (command: string) => {
  const analysis = analyze(command, { cwd: '/project', home: '/home/dev' })
  if ('rejection' in analysis) throw new Error(analysis.rejection.message)
  return analysis.facts.commands.at(-1)!.argv
}

describe('denials', () => {
  const rows: readonly (readonly [note: string, denied: string, command: string, match: 'yes' | 'maybe' | 'no'])[] = [
    ['the very command', 'git push', 'git push', 'yes'],
    ['a denial is always open', 'git push', 'git push origin main', 'yes'],
    ['a program goes by its basename', 'rm', '/bin/rm x', 'yes'],
    ['a program of another name', 'rm', 'rmdir x', 'no'],
    ['another subcommand', 'git push', 'git status', 'no'],
    ['fewer words than the denial has', 'git push', 'git', 'no'],
    ['an option that takes a value', 'git push', 'git -C x push', 'yes'],
    ['an option of git without a value', 'git push', 'git --no-pager push', 'yes'],
    ['what follows an option is read as its value and as a word', 'git push', 'git -C push status', 'yes'],
    ['a later word is not a subcommand', 'git push', 'git log push', 'no'],
    ['an option of another program may take a value', 'npm publish', 'npm --tag next publish', 'yes'],
    ['a choice of subcommands, one denied', 'git push', 'for x in push status; do git $x; done', 'maybe'],
    ['a choice of which the first is not an option', 'git push', 'for x in status -q; do git $x push; done', 'maybe'],
    ['a choice of which the first is an option', 'git push', 'for x in -q status; do git $x push; done', 'maybe'],
    ['a choice of options alone', 'git push', 'for x in -q --no-pager; do git $x push; done', 'yes'],
    ['a choice without a denied word', 'git push', 'for x in a b; do git $x push; done', 'no'],
    ['a subcommand that cannot be known', 'git push', 'git $x', 'maybe'],
    ['a name of which the start fits', 'rm', 'r$x y', 'maybe'],
    ['a name of which the start does not fit', 'rm', 'ls$x y', 'no'],
    ['a glob that the name fits', 'rm', '/bin/r? y', 'maybe'],
    ['a glob that the name does not fit', 'rm', '/bin/l? y', 'no'],
    ['a denied path, written as it is denied', '/bin/mv', '/bin/mv a b', 'yes'],
    ['a denied path, by its name alone', '/bin/mv', 'mv a b', 'maybe'],
    ['a denied path, by another way to it', 'scripts/deploy.sh', './scripts/deploy.sh', 'maybe'],
    ['a denied path with a name that cannot be known', '/bin/mv', '/bin/m$x a b', 'maybe'],
    ['another program beside a denied path', '/bin/mv', '/bin/ls a', 'no'],
  ]
  test.each(rows)('%s: %s against %s', (_, denied, command, match) => {
    expect(denyMatches(pattern(denied), wordsOf(command))).toBe(match)
  })
})

describe('grants', () => {
  const rows: readonly (readonly [note: string, granted: string, command: string, match: boolean])[] = [
    ['the very words', 'npm test', 'npm test', true],
    ['one word more than a closed grant', 'npm test', 'npm test x', false],
    ['one word more than an open grant', 'npm test:*', 'npm test x', true],
    ['one word less', 'npm test:*', 'npm', false],
    ['a path is not the name', 'npm:*', '/usr/bin/npm test', false],
    ['a word that cannot be known', 'npm test:*', 'npm $x', false],
    ['a choice of words', 'npm test', 'for x in test publish; do npm $x; done', false],
    ['a later word that cannot be known', 'npm test:*', 'npm test $x', true],
  ]
  test.each(rows)('%s: %s against %s', (_, granted, command, match) => {
    expect(grantMatches(pattern(granted), wordsOf(command))).toBe(match)
  })
})

test('a choice of words is taken apart, up to a limit', () => {
  const texts = variantsOf(wordsOf('for x in a b; do git $x y; done'))?.map((words) => words.map((word) => word.text))
  expect(texts).toEqual([
    ['git', 'a', 'y'],
    ['git', 'b', 'y'],
  ])
  const many = 'for x in a b c d e; do for y in 1 2 3 4 5; do for z in A B C; do git $x $y $z; done; done; done'
  expect(variantsOf(wordsOf(many))).toBeNull()
})
