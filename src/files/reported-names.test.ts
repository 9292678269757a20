import { expect, test } from 'vitest'
import { scanText } from '../scan/injection/injection.ts'
import { protectedNames } from './protected-names.ts'
import { isReportedStart, reportedName, reportedNames, reportMessages } from './reported-names.ts'

test.each([
  ['/p/AGENTS.md', true],
  ['/p/sub/claude.md', true],
  ['/p/.github/workflows/ci.yml', true],
  ['/p/.github/ISSUE_TEMPLATE.md', false],
  ['/p/.gitmodules', true],
  ['/p/docs/agents.md.txt', false],
  ['/p/.DS_Store', false],
])('%s is reported: %s', (path, reported) => {
  expect(reportedName(path) !== null).toBe(reported)
})

test('a name is protected or reported, not both, and every row says who reads it and how that was seen', () => {
  const kept = new Set(protectedNames.map((name) => name.path.toLowerCase()))
  expect(reportedNames.filter((name) => kept.has(name.path.toLowerCase()))).toEqual([])
  expect(new Set(protectedNames.map((name) => name.path)).size).toBe(protectedNames.length)
  for (const name of protectedNames) expect([name.path, name.tool !== '']).toEqual([name.path, true])
  expect(isReportedStart('.github')).toBe(true)
})

test('no note of ours reads like an order to the agent: it would taint the session', () => {
  const messages = reportedNames.flatMap(({ path }) =>
    reportMessages([`/p/${path}`], ' while the command ran', (name) => name),
  )
  expect(messages.length).toBeGreaterThan(0)
  expect(messages.filter(({ message }) => scanText(message).injection)).toEqual([])
})
