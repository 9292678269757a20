/** What is put into settings and taken out again leaves them as they were, to the byte. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseSettings } from '../../system/json.ts'
import { hasPath, withItem, withoutItems, withoutValue, withValue } from './jsonc-text.ts'

const OURS = { matcher: '*', hooks: [{ type: 'command', command: 'x # cordon hook' }] }
const isOurs = (item: unknown): boolean => JSON.stringify(item).includes('cordon hook')
const PATH = ['hooks', 'PreToolUse']

const TEXTS: readonly (readonly [name: string, text: string])[] = [
  ['empty', '{}\n'],
  ['no final newline', '{"a": 1}'],
  ['tabs', '{\n\t"a": 1,\n\t"b": [1, 2]\n}\n'],
  ['four spaces, windows', '{\r\n    "a": 1\r\n}\r\n'],
  ['comments', '// mine\n{\n  "a": 1, // one\n  /* two */ "b": 2,\n}\n'],
  [
    'hooks of somebody',
    '{\n  "hooks": {\n    "PreToolUse": [\n      { "matcher": "Bash", "hooks": [] }\n    ]\n  }\n}\n',
  ],
  ['an empty list', '{\n  "hooks": { "PreToolUse": [] }\n}\n'],
  ['empty hooks', '{ "hooks": {}, "z": "}" }'],
  ['a trailing comma in the list', '{\n  "hooks": {\n    "PreToolUse": [\n      {"a": 1},\n    ],\n  },\n}\n'],
]

describe.each(TEXTS)('%s', (_, text) => {
  it('takes an item, and gives it back', () => {
    const stays = (path: readonly string[]) => hasPath(text, path)
    const put = withItem(text, PATH, OURS)
    const { hooks } = parseSettings(put) as { hooks: { PreToolUse: unknown[] } }
    expect(hooks.PreToolUse.at(-1)).toEqual(OURS)
    expect(withoutItems(put, PATH, isOurs, stays)).toBe(text)
    expect(withoutItems(text, PATH, isOurs, stays)).toBe(text)
  })

  it('takes a value, and gives it back', () => {
    const stays = (path: readonly string[]) => hasPath(text, path)
    const put = withValue(text, ['deep', 'key'], true)
    expect(parseSettings(put)).toMatchObject({ deep: { key: true } })
    expect(withoutValue(put, ['deep', 'key'], stays)).toBe(text)
  })

  it('keeps what was written later', () => {
    const later = withItem(withItem(text, PATH, OURS), PATH, { later: 1 })
    const { hooks } = parseSettings(withoutItems(later, PATH, isOurs, () => true)) as {
      hooks: { PreToolUse: unknown[] }
    }
    expect(hooks.PreToolUse.at(-1)).toEqual({ later: 1 })
    expect(JSON.stringify(hooks)).not.toContain('cordon')
  })
})

it('works for JSON of every shape', () => {
  const json = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })))
  const indents = fc.constantFrom(0, 2, 4, '\t')
  fc.assert(
    fc.property(json, indents, (value, indent) => {
      const text = JSON.stringify({ ...value, hooks: undefined }, null, indent)
      const put = withItem(text, PATH, OURS)
      expect(parseSettings(put)).toMatchObject({ hooks: { PreToolUse: [OURS] } })
      expect(withoutItems(put, PATH, isOurs, (path) => hasPath(text, path))).toBe(text)
    }),
    { numRuns: 200 },
  )
})

it.each(['{', '[1', '{"a" 1}', ''.padEnd(3, 'x')])('refuses %s', (text) => {
  expect(() => withItem(text, PATH, OURS)).toThrow()
})
