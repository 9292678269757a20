import { expect, it } from 'vitest'
import { usesNetwork } from './network-use.ts'

const GIT = ['fetch', 'push', 'remote update']

it.each([
  ['fetch', true],
  ['-C sub fetch --all', true],
  ['-c core.x=1 push origin', true],
  ['--no-pager fetch', true],
  ['remote update', true],
  ['remote -v', false],
  ['remote add x', false],
  ['status', false],
  ['log fetch', false],
  ['commit -m push', false],
  ['-C fetch status', false],
  ['', false],
])('git %s', (words, expected) => {
  expect(usesNetwork(GIT, words.split(' ').filter(Boolean))).toBe(expected)
})

it('a tool without a list uses it always, and one may use it without a subcommand', () => {
  expect(usesNetwork(undefined, ['status'])).toBe(true)
  expect(usesNetwork(['-', 'add'], [])).toBe(true)
  expect(usesNetwork(['-', 'add'], ['--frozen'])).toBe(true)
  expect(usesNetwork(['-', 'add'], ['run'])).toBe(false)
})
