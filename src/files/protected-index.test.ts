import { expect, test } from 'vitest'
import { foldName, foldPath } from './path-bytes.ts'
import { splitPath } from './path-pattern.ts'
import { protectedNames } from './protected-names.ts'
import { fixedRules, rulesFrom } from './protected-paths.ts'

test('every protected name is found by its first segment, or is at one place, with its segments folded', () => {
  for (const name of protectedNames) {
    const folded = splitPath(name.path.replace(/^~/, '')).map(foldName)
    const isFixed = /^[~/]/.test(name.path)
    const rules = isFixed ? fixedRules() : rulesFrom(folded[0]!.replaceAll('*', 'x'))
    expect(
      rules.find((rule) => rule.name === name),
      name.path,
    ).toEqual({ name, segments: folded })
  }
})

test('a folded path is its folded names', () => {
  for (const path of ['/a/B/c', '~/.\u017fsh/ID', 'x/.g\u200cit', '\u03b1\u03a3/x/\u0391\u03a3', 'E\u0301/\u0301E'])
    expect(foldPath(path)).toBe(path.split('/').map(foldName).join('/'))
})
