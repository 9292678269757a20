/** Every requirement that the sources cite is in docs/reference/spec.md, with tests that show it. */

import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** What is not built yet. A row leaves this list with its first test. */
const NOT_BUILT: readonly string[] = []

const lines = readFileSync('docs/reference/spec.md', 'utf8').matchAll(/^\| ([MPSFONTAX]\d+) \| [^|]+ \| ([^|]+) \|$/gm)
const rows = [...lines].map(([, id, shown]) => ({ id: id!, shown: shown! }))
const known = new Set(rows.map(({ id }) => id))

it('each requirement is there once', () => {
  expect(rows.length).toBeGreaterThan(60)
  expect(known.size).toBe(rows.length)
})

it.each(rows)('$id is shown by tests, or known not to be built', ({ id, shown }) => {
  if (NOT_BUILT.includes(id)) return expect(shown).toBe('*not built yet*')
  const tests = [...shown.matchAll(/`([^`]+)`/g)].map(([, path]) => path!)
  expect(tests.length).toBeGreaterThan(0)
  for (const path of tests) expect(path.endsWith('.test.ts') && existsSync(path), path).toBe(true)
})

it('what the sources and documents cite is there', () => {
  const files = globSync(['src/**/*.ts', 'native/**/*.[ch]', 'test/**/*.ts', 'docs/**/*.md', '*.md']).filter(
    (path) => !/\.generated\.|\.fixture\.|spec\.test\.ts$/.test(path),
  )
  const cited = files.flatMap((path) => {
    const text = readFileSync(path, 'utf8')
    const prose = path.endsWith('.md') ? text : (text.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm) ?? []).join('\n')
    return [...prose.matchAll(/[(,] ?([MPSFONTAX]\d{1,2})(?=[),])|\b([MPSFONTAX]\d{1,2}): /g)].map(
      ([, inside, before]) => ({ path, id: (inside ?? before)! }),
    )
  })
  expect(cited.length).toBeGreaterThan(60)
  expect(cited.filter(({ id }) => !known.has(id))).toEqual([])
})
