import { expect, it } from 'vitest'
import { matchesDenied, parseDeniedPattern, parseHostPattern } from './pattern.ts'

it.each([
  ['*', 'example.org', 443, true],
  ['*', '10.0.0.1', 5432, true],
  ['*', '2001:db8::1', 80, true],
  ['*:22', 'github.com', 22, true],
  ['*:22', 'github.com', 443, false],
  ['*:22', '140.82.112.3', 22, true],
])('%s denies %s:%i: %s', (text, host, port, expected) => {
  const parsed = parseDeniedPattern(text, null)
  if ('problem' in parsed) throw new Error(parsed.problem)
  expect(matchesDenied(parsed.pattern, host, port)).toBe(expected)
})

it.each(['*:0', '*:99999', '*:x', '**', '*x'])('%s is not an entry of a deny list', (text) => {
  expect(parseDeniedPattern(text, null)).toHaveProperty('problem')
})

it.each(['*', '*:22'])('%s is not an entry of an allow list', (text) => {
  expect(parseHostPattern(text, null)).toHaveProperty('problem')
})
