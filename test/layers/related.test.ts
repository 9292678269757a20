/** `npm test -- --changed` finds the tests that a change can break. */

import { expect, it } from 'vitest'
import { nearTests, needsBuild, readTexts, relatedTests, type Texts } from '../../scripts/related.ts'

const TREE: Texts = new Map([
  ['src/a.ts', ''],
  ['src/b.ts', "export { a } from './a.ts'"],
  ['src/b.test.ts', "import { b } from './b.ts'"],
  ['src/late.test.ts', "const { b } = await import('./b.ts')"],
  ['src/type.test.ts', "import type { B } from './b.ts'"],
  ['src/other.test.ts', ''],
  ['test/cases/rows.jsonl', ''],
  ['test/cases/rows.test.ts', "readFileSync('test/cases/rows.jsonl')"],
  ['test/contract/space.ts', "import { a } from '../../src/a.ts'"],
  ['test/contract/space.test.ts', "const words = [join(import.meta.dirname, 'space.ts')]"],
  ['test/contract/backend/init.test.ts', ''],
  ['test/e2e/cordon.ts', "export const CLI = join(HERE, '../../dist/cordon.cjs')"],
  ['test/e2e/run.test.ts', "import { CLI } from './cordon.ts'"],
  ['test/layers/layers.test.ts', ''],
])

it.each<[changed: string, tests: readonly (readonly [string, number])[], note: string]>([
  ['src/other.test.ts', [['src/other.test.ts', 0]], 'a test itself'],
  ['test/cases/rows.jsonl', [['test/cases/rows.test.ts', 1]], 'a table that is read by its name'],
  ['native/init/init.c', [['test/contract/backend/init.test.ts', 1]], 'what is compiled'],
  ['test/e2e/cordon.ts', [['test/e2e/run.test.ts', 1]], 'a helper of tests'],
  [
    'src/a.ts',
    [
      ['src/b.test.ts', 2],
      ['src/late.test.ts', 2],
      ['src/type.test.ts', 2],
      ['test/contract/space.test.ts', 2],
    ],
    'a source, through others, a late import, and a program that is named',
  ],
])('%s: $2', (changed, tests) => {
  const found = relatedTests(TREE, [changed]).filter(({ path }) => !path.startsWith('test/layers/'))
  expect(found.map(({ path, distance }) => [path, distance])).toEqual(tests)
  // What reads the whole tree is related to everything.
  expect(relatedTests(TREE, [changed]).map(({ path }) => path)).toContain('test/layers/layers.test.ts')
})

it('in this tree a source is related to the test beside it', () => {
  const found = relatedTests(readTexts(), ['src/policy/order.ts']).map(({ path }) => path)
  for (const path of ['src/policy/evaluate/evaluate.test.ts', 'test/cases/p0.test.ts']) expect(found).toContain(path)
})

it('knows what starts the built program', () => {
  expect(['test/e2e/run.test.ts', 'src/b.test.ts'].map((path) => needsBuild(TREE, path))).toEqual([true, false])
})

it('takes the near ones as far as the time goes, and a changed test in any case', () => {
  const related = [
    { path: 'changed', distance: 0 },
    { path: 'near', distance: 1 },
    { path: 'slow', distance: 1 },
    { path: 'quick', distance: 2 },
    { path: 'far', distance: 9 },
  ]
  const seconds = (path: string) => (path === 'slow' || path === 'changed' ? 50 : 10)
  expect(nearTests(related, seconds, 70)).toEqual(['changed', 'near', 'quick'])
})
