import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { appendToList, removeFromList } from './edit.ts'
import { parseToml } from './toml.ts'
import type { Node } from './tree.ts'

const SECTION = ['a', 'b']

function plain(node: Node): unknown {
  if (node.kind === 'table') return new Map([...node.entries.values()].map((entry) => [entry.key, plain(entry.node)]))
  return node.kind === 'array' ? node.items.map(plain) : node.value
}

const cases: readonly { name: string; before: string; after: string; note: string }[] = [
  { name: 'nothing there', before: 'v = 1\n', after: 'v = 1\n\n[a.b]\nl = ["x"]\n', note: '' },
  { name: 'no final newline', before: 'v = 1', after: 'v = 1\n\n[a.b]\nl = ["x"]\n', note: '' },
  { name: 'only a section below', before: '[a.b.c]\nz = 1\n', after: '[a.b.c]\nz = 1\n\n[a.b]\nl = ["x"]\n', note: '' },
  {
    name: 'section without the list',
    before: '[a.b] # note\nz = 1\n',
    after: '[a.b] # note\nl = ["x"]\nz = 1\n',
    note: '',
  },
  { name: 'empty list', before: '[a.b]\nl = [ ]\n', after: '[a.b]\nl = ["x"]\n', note: '' },
  { name: 'one line', before: '[a.b]\nl = ["p"] # c\n', after: '[a.b]\nl = ["p", "x"] # c\n', note: '' },
  { name: 'one line, trailing comma', before: '[a.b]\nl = ["p",]\n', after: '[a.b]\nl = ["p", "x",]\n', note: '' },
  {
    name: 'many lines',
    before: '[a.b]\nl = [\n    "p", # why\n]\n',
    after: '[a.b]\nl = [\n    "p", # why\n    "x",\n]\n',
    note: 'the comment stays',
  },
  {
    name: 'many lines, no last comma',
    before: '[a.b]\nl = [\n  "p" # why, really\n]\n',
    after: '[a.b]\nl = [\n  "p", # why, really\n  "x",\n]\n',
    note: '',
  },
  {
    name: 'comma on the next line',
    before: '[a.b]\nl = [\n  "p"\n  , # c\n]\n',
    after: '[a.b]\nl = [\n  "p"\n  ,\n  "x", # c\n]\n',
    note: 'odd, and still right',
  },
  {
    name: 'only a comment inside',
    before: '[a.b]\nl = [\n  # none yet\n]\n',
    after: '[a.b]\nl = [\n  # none yet\n"x" ]\n',
    note: '',
  },
  {
    name: 'Windows lines',
    before: '[a.b]\r\nl = [\r\n  "p",\r\n]\r\n',
    after: '[a.b]\r\nl = [\r\n  "p",\n  "x",\r\n]\r\n',
    note: '',
  },
]

describe('an entry is added', () => {
  test.each(cases)('$name', ({ before, after }) => {
    expect(appendToList(before, SECTION, 'l', 'x')).toEqual({ text: after })
    expect(parseToml(after).problems).toEqual([])
  })
})

const refused: readonly { name: string; text: string; refusal: string; note: string }[] = [
  { name: 'no TOML', text: 'a =', refusal: 'not-toml', note: '' },
  { name: 'not a list', text: '[a.b]\nl = "p"\n', refusal: 'not-a-list', note: '' },
  { name: 'inline table', text: 'a = { b = {} }\n', refusal: 'inline', note: '' },
  { name: 'dotted table', text: 'a.b.l = []\n', refusal: 'inline', note: '' },
]

test.each(refused)('the text is left alone: $name', ({ text, refusal }) => {
  expect(appendToList(text, SECTION, 'l', 'x')).toEqual({ refusal })
})

test('whatever the layout, exactly the entry is added', () => {
  const blank = fc
    .array(fc.constantFrom(' ', '\n', '# c, "q" ]\n', '\t'), { maxLength: 3 })
    .map((parts) => `${parts.join('')}\n`)
  const space = fc.oneof(fc.constant(''), blank)
  const layout = fc.tuple(
    fc.array(fc.tuple(space, fc.constantFrom('"p"', '{ c = "q" }', '["r"]'), space)),
    space,
    fc.boolean(),
  )
  fc.assert(
    fc.property(layout, ([items, tail, trailing]) => {
      const inner = items.map(([lead, item, follow]) => `${lead}${item}${follow}`).join(',')
      const text = `[a.b]\nl = [${inner}${trailing && items.length > 0 ? ',' : ''}${tail}]\nz = 1\n`
      const edited = appendToList(text, SECTION, 'l', 'x')
      if (!('text' in edited)) throw new Error(edited.refusal)
      const expected = plain(parseToml(text).root) as Map<string, Map<string, Map<string, unknown[]>>>
      expected.get('a')!.get('b')!.get('l')!.push('x')
      expect(parseToml(edited.text).problems).toEqual([])
      expect(plain(parseToml(edited.text).root)).toEqual(expected)
    }),
    { numRuns: 1000 },
  )
})

test('whatever was put in comes out again, and leaves a list as it was read', () => {
  const gap = fc.constantFrom('', ' ', '\n', '\n  ', ' # a, "b"\n', '\r\n')
  const entry = fc.tuple(gap, fc.constantFrom('"y"', "'z'", '["x"]', '{ x = "x" }', '1'), gap)
  const layout = fc.tuple(fc.array(entry, { maxLength: 4 }), gap, gap, gap, fc.boolean(), fc.nat())
  fc.assert(
    fc.property(layout, ([items, lead, follow, tail, trailing, place]) => {
      const at = place % (items.length + 1)
      const all = [...items.slice(0, at), [lead, '"x"', follow] as const, ...items.slice(at)]
      const inner = (list: typeof all) => list.map((parts) => parts.join('')).join(',')
      const write = (list: typeof all) =>
        `[a.b]\nl = [${inner(list)}${trailing && list.length > 0 ? ',' : ''}${tail}]\nz = 1\n`
      const edited = removeFromList(write(all), SECTION, 'l', 'x')
      const expected = plain(parseToml(write(all)).root) as Map<string, Map<string, Map<string, unknown[]>>>
      expected.get('a')!.get('b')!.get('l')!.splice(at, 1)
      expect(edited).not.toBeNull()
      expect(plain(parseToml(edited!).root)).toEqual(expected)
    }),
    { numRuns: 1000, seed: 21 },
  )
})

describe('taking an entry out', () => {
  test.each([
    ['the first', '[a.b]\nl = ["x", "y"] # c\n', '[a.b]\nl = ["y"] # c\n'],
    ['the last', '[a.b]\nl = ["y", "x"]\n', '[a.b]\nl = ["y"]\n'],
    ['the only one', '[a.b]\nl = ["x"]\n', '[a.b]\nl = []\n'],
    ['on separate lines', '[a.b]\nl = [\n  "y",\n  "x",\n  "z",\n]\n', '[a.b]\nl = [\n  "y",\n  "z",\n]\n'],
    ['the only line', '[a.b]\nl = [\n  "x",\n]\n', '[a.b]\nl = [\n]\n'],
    ['the only one, with a comma', '[a.b]\nl = ["x", ]\n', '[a.b]\nl = [ ]\n'],
    [
      'between comments',
      '[a.b]\nl = [\n  # y\n  "y",\n  "x", # x\n  # z\n  "z",\n]\n',
      '[a.b]\nl = [\n  # y\n  "y",\n  # z\n  "z",\n]\n',
    ],
    ['the last line', '[a.b]\nl = [\n  "y",\n  "x",\n]\n', '[a.b]\nl = [\n  "y",\n]\n'],
  ])('%s', (_, before, after) => {
    expect(removeFromList(before, SECTION, 'l', 'x')).toBe(after)
  })

  test.each([
    '[a.b]\nl = ["xy"]\n',
    '[a.b]\nl = [{ x = "x" }]\n',
    '[a.b]\nl = "x"\n',
    'a.b = { l = ["x"] }\n',
    'l = [',
  ])('what is not there, or in another form, stays: %s', (text) => {
    expect(removeFromList(text, SECTION, 'l', 'x')).toBeNull()
  })
})
