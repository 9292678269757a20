import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { EVENT_TYPES } from './event.ts'

const src = join(import.meta.dirname, '..')
const sources = globSync('**/*.ts', { cwd: src })
  .filter((name) => !name.endsWith('.test.ts'))
  .map((name) => readFileSync(join(src, name), 'utf8'))
/** The type is given where a line is built: `type: 'end'`, `type: x ? 'denied' : 'begin'`. */
const writes = (type: string): boolean =>
  sources.some((text) =>
    new RegExp(`(?<!readonly )type: (?:[^\n,}]*[?:] )?'${type}'|beginPart\\('${type}'|answered\\([^\n]*'${type}'`).test(
      text,
    ),
  )

it('a query takes only types that something writes', () => {
  expect(EVENT_TYPES.filter((type) => !writes(type))).toEqual([])
  expect(['violation', 'trust', 'signing'].filter(writes)).toEqual([])
})
