import { describe, expect, test } from 'vitest'
import { deniedOfGlob } from './aimed-globs.ts'
import { type PathPattern, parsePathPattern } from './path-pattern.ts'

function rule(text: string): PathPattern {
  const parsed = parsePathPattern(text, { root: '/p', home: '/home/u', files: null })
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.pattern
}

const rules = ['secrets/**', 'private.txt', 'a/b/keep', '**/*.secret', '.hidden'].map(rule)

describe('globs that deny rules meet', () => {
  test.each([
    ['/p/sec*/a', 'begins like it'],
    ['/p/s?crets/a', 'a wildcard inside'],
    ['/p/[s]ecrets/a', 'a bracket at the start'],
    ['/p/?ecrets/x/y', 'most of the name'],
    ['/p/priv*', 'a file'],
    ['/p/private.tx?', 'the extension'],
    ['/p/a/b/kee*', 'a name further down'],
    ['/p/a/b/[k]eep', 'a bracket'],
    ['/p/x/*.secre?', 'a rule that is a glob itself'],
    ['/p/.hid*', 'a hidden name'],
  ])('aimed: %s (%s)', (path) => {
    expect(deniedOfGlob(path, rules)).not.toBeNull()
  })

  test.each([
    ['/p/*', 'everything'],
    ['/p/*.txt', 'a kind of file'],
    ['/p/*/a', 'every directory'],
    ['/p/src/*.ts', 'elsewhere'],
    ['/p/sec', 'no glob'],
    ['/q/sec*/a', 'another root'],
    ['/p/*hidden', 'wildcards do not match a leading dot'],
  ])('left to the sandbox: %s (%s)', (path) => {
    expect(deniedOfGlob(path, rules)).toBeNull()
  })
})
