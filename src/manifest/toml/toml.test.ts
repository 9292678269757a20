import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { printValue } from './edit.ts'
import { parseToml } from './toml.ts'
import { type Plain, plainNode, positions } from './tree.ts'

const valid: readonly { name: string; toml: string; expect: unknown; note: string }[] = [
  { name: 'empty', toml: '', expect: {}, note: 'an empty document is valid TOML' },
  { name: 'comment only', toml: '# x\n', expect: {}, note: '' },
  { name: 'byte order mark', toml: '\ufeffa = 1', expect: { a: 1 }, note: 'editors on Windows write it' },
  { name: 'CRLF', toml: 'a = 1\r\nb = 2\r\n', expect: { a: 1, b: 2 }, note: '' },
  { name: 'no final newline', toml: 'a = 1', expect: { a: 1 }, note: '' },
  { name: 'comment after value', toml: 'a = 1 # b = 2', expect: { a: 1 }, note: '' },
  { name: 'hash in string', toml: 'a = "x # y"', expect: { a: 'x # y' }, note: '' },
  { name: 'numeric bare key', toml: '1234 = 1', expect: { 1234: 1 }, note: '' },
  { name: 'key like a number', toml: '3.14 = 1', expect: { 3: { 14: 1 } }, note: 'a dotted key' },
  { name: 'quoted key', toml: '"a b" = 1\n\'c"d\' = 2', expect: { 'a b': 1, 'c"d': 2 }, note: '' },
  { name: 'empty quoted key', toml: '"" = 1', expect: { '': 1 }, note: '' },
  { name: 'spaces around dots', toml: 'a . b = 1', expect: { a: { b: 1 } }, note: '' },
  { name: 'dotted keys share tables', toml: 'a.b = 1\na.c = 2', expect: { a: { b: 1, c: 2 } }, note: '' },
  { name: 'prototype key', toml: '__proto__.x = 1', expect: JSON.parse('{"__proto__":{"x":1}}'), note: 'no pollution' },
  {
    name: 'escapes',
    toml: '"k" = "\\b\\t\\n\\f\\r\\"\\\\\\u00e9\\U0001F600"',
    expect: { k: '\b\t\n\f\r"\\é😀' },
    note: '',
  },
  { name: 'tab in string', toml: 'a = "x\ty"', expect: { a: 'x\ty' }, note: '' },
  { name: 'literal string', toml: "a = 'C:\\x'", expect: { a: 'C:\\x' }, note: 'no escapes' },
  { name: 'multi-line trims the first newline', toml: 'a = """\nx\ny"""', expect: { a: 'x\ny' }, note: '' },
  { name: 'multi-line with CRLF', toml: 'a = """\r\nx\r\ny"""', expect: { a: 'x\ny' }, note: '' },
  { name: 'line-ending backslash', toml: 'a = """x \\\n\n   y"""', expect: { a: 'x y' }, note: '' },
  { name: 'backslash and blanks', toml: 'a = """x \\  \n y"""', expect: { a: 'x y' }, note: '' },
  { name: 'quotes inside', toml: 'a = """x ""y"" z"""', expect: { a: 'x ""y"" z' }, note: '' },
  { name: 'five quotes', toml: 'a = """x"""""', expect: { a: 'x""' }, note: 'two belong to the text' },
  { name: 'four quotes', toml: "a = '''x''''", expect: { a: "x'" }, note: '' },
  { name: 'empty multi-line', toml: 'a = """"""', expect: { a: '' }, note: '' },
  { name: 'literal multi-line', toml: "a = '''\n\\x\n'''", expect: { a: '\\x\n' }, note: '' },
  {
    name: 'integers',
    toml: 'a = [+1, -0, 1_000, 0xDEAD_beef, 0o17, 0b101]',
    expect: { a: [1, 0, 1000, 0xdeadbeef, 15, 5] },
    note: '',
  },
  { name: '64 bits', toml: 'a = 9223372036854775807', expect: { a: 9223372036854775807n }, note: 'kept exact' },
  {
    name: 'floats',
    toml: 'a = [1.5, -0.1, 5e+22, 1e6, 6.6e-3, inf, -inf]',
    expect: { a: [1.5, -0.1, 5e22, 1e6, 6.6e-3, Infinity, -Infinity] },
    note: '',
  },
  { name: 'nan', toml: 'a = nan', expect: { a: Number.NaN }, note: '' },
  {
    name: 'dates',
    toml: 'a = [1979-05-27T07:32:00Z, 1979-05-27 07:32:00, 1979-05-27, 07:32:00.5]',
    expect: { a: ['1979-05-27T07:32:00Z', '1979-05-27 07:32:00', '1979-05-27', '07:32:00.5'] },
    note: '',
  },
  { name: 'leap day', toml: 'a = 2024-02-29', expect: { a: '2024-02-29' }, note: '' },
  {
    name: 'array over lines',
    toml: 'a = [ # c\n  1, # one\n\n  2,\n]',
    expect: { a: [1, 2] },
    note: 'trailing comma, comments',
  },
  { name: 'mixed array', toml: 'a = [1, "x", [true], {b = 1}]', expect: { a: [1, 'x', [true], { b: 1 }] }, note: '' },
  {
    name: 'inline table',
    toml: 'a = { b = 1, c.d = 2, "e f" = 3 }',
    expect: { a: { b: 1, c: { d: 2 }, 'e f': 3 } },
    note: '',
  },
  { name: 'empty inline table', toml: 'a = {}', expect: { a: {} }, note: '' },
  { name: 'table', toml: '[a]\nb = 1\n[a.c]\nd = 2', expect: { a: { b: 1, c: { d: 2 } } }, note: '' },
  {
    name: 'super table later',
    toml: '[a.b]\nc = 1\n[a]\nd = 2',
    expect: { a: { b: { c: 1 }, d: 2 } },
    note: 'implicit first',
  },
  { name: 'header spaces', toml: '[ a . "b" ]\nc = 1', expect: { a: { b: { c: 1 } } }, note: '' },
  {
    name: 'array of tables',
    toml: '[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 3',
    expect: { a: [{ b: 1 }, { b: 2, c: { d: 3 } }] },
    note: '',
  },
  {
    name: 'sub-table of a dotted table',
    toml: '[f]\na.c = 1\n[f.a.t]\ns = 2',
    expect: { f: { a: { c: 1, t: { s: 2 } } } },
    note: 'the specification allows it',
  },
]

const invalid: readonly { name: string; toml: string; at: string; note: string }[] = [
  { name: 'no value', toml: 'a =', at: '1:4', note: '' },
  { name: 'no equals', toml: 'a', at: '1:2', note: '' },
  { name: 'no key', toml: '= 1', at: '1:1', note: '' },
  { name: 'two statements on a line', toml: 'a = 1 b = 2', at: '1:7', note: '' },
  { name: 'bare word', toml: 'a = yes', at: '1:5', note: '' },
  { name: 'capital boolean', toml: 'a = True', at: '1:5', note: '' },
  { name: 'leading zero', toml: 'a = 01', at: '1:5', note: '' },
  { name: 'double underscore', toml: 'a = 1__0', at: '1:5', note: '' },
  { name: 'trailing underscore', toml: 'a = 1_', at: '1:5', note: '' },
  { name: 'signed hex', toml: 'a = +0x1', at: '1:5', note: '' },
  { name: 'capital prefix', toml: 'a = 0X1', at: '1:5', note: '' },
  { name: 'bare dot float', toml: 'a = 1.', at: '1:5', note: '' },
  { name: 'leading dot float', toml: 'a = .5', at: '1:5', note: '' },
  { name: 'dot before exponent', toml: 'a = 1.e5', at: '1:5', note: '' },
  { name: '65 bits', toml: 'a = 9223372036854775808', at: '1:5', note: '' },
  { name: 'no such day', toml: 'a = 2023-02-29', at: '1:5', note: '' },
  { name: 'no such hour', toml: 'a = 24:00:00', at: '1:5', note: '' },
  { name: 'time without seconds', toml: 'a = 07:32', at: '1:5', note: 'TOML 1.0' },
  { name: 'unclosed string', toml: 'a = "x\nb = 1', at: '1:7', note: '' },
  { name: 'unclosed multi-line', toml: 'a = """x', at: '1:5', note: 'points at its start' },
  { name: 'bad escape', toml: 'a = "\\x41"', at: '1:6', note: 'TOML 1.0 has no \\x' },
  { name: 'surrogate escape', toml: 'a = "\\uD800"', at: '1:6', note: '' },
  { name: 'short escape', toml: 'a = "\\u12"', at: '1:6', note: '' },
  { name: 'control in string', toml: 'a = "\u0001"', at: '1:6', note: '' },
  { name: 'DEL in comment', toml: '# \u007f\n', at: '1:3', note: '' },
  { name: 'bare CR', toml: 'a = 1\rb = 2', at: '1:6', note: '' },
  { name: 'multi-line key', toml: '"""a""" = 1', at: '1:1', note: '' },
  { name: 'six quotes', toml: 'a = """x""""""', at: '1:14', note: '' },
  { name: 'array without comma', toml: 'a = [1 2]', at: '1:8', note: '' },
  { name: 'double comma', toml: 'a = [1,,2]', at: '1:8', note: '' },
  { name: 'unclosed array', toml: 'a = [1,', at: '1:8', note: '' },
  { name: 'inline table over lines', toml: 'a = { b = 1,\nc = 2 }', at: '1:13', note: 'TOML 1.0' },
  { name: 'inline trailing comma', toml: 'a = { b = 1, }', at: '1:14', note: 'TOML 1.0' },
  { name: 'unclosed header', toml: '[a\nb = 1', at: '1:3', note: '' },
  { name: 'empty header', toml: '[]', at: '1:2', note: '' },
  { name: 'header with a value', toml: '[a] b = 1', at: '1:5', note: '' },
  { name: 'split array brackets', toml: '[ [a]]', at: '1:3', note: '' },
  { name: 'duplicate key', toml: 'a = 1\na = 2', at: '2:1', note: '' },
  { name: 'duplicate by quotes', toml: 'a = 1\n"a" = 2', at: '2:1', note: '' },
  { name: 'duplicate in inline table', toml: 'a = { b = 1, b = 2 }', at: '1:14', note: '' },
  { name: 'duplicate table', toml: '[a]\n[a]', at: '2:2', note: '' },
  { name: 'table over key', toml: 'a = 1\n[a]', at: '2:2', note: '' },
  { name: 'table through key', toml: 'a = 1\n[a.b]', at: '2:2', note: '' },
  { name: 'key over dotted table', toml: 'a.b = 1\na = 2', at: '2:1', note: '' },
  { name: 'dotted into value', toml: 'a = 1\na.b = 2', at: '2:1', note: '' },
  { name: 'dotted into inline table', toml: 'a = {}\na.b = 2', at: '2:1', note: 'inline tables are complete' },
  { name: 'header into inline table', toml: 'a = {}\n[a.b]', at: '2:2', note: '' },
  { name: 'header over dotted table', toml: '[f]\na.c = 1\n[f.a]', at: '3:4', note: '' },
  { name: 'dotted into header table', toml: '[a.b.c]\nz = 9\n[a]\nb.c.t = 1', at: '4:1', note: '' },
  { name: 'array of tables over table', toml: '[a]\n[[a]]', at: '2:3', note: '' },
  { name: 'array of tables over array', toml: 'a = []\n[[a]]', at: '2:3', note: '' },
  { name: 'table over array of tables', toml: '[[a]]\n[a]', at: '2:2', note: '' },
  { name: 'too deep', toml: `a = ${'['.repeat(100)}${']'.repeat(100)}`, at: '1:29', note: 'no stack is spent on it' },
  { name: 'too many parts', toml: `${'a.'.repeat(100)}b = 1`, at: '1:49', note: '' },
]

describe('valid TOML', () => {
  test.each(valid)('$name', ({ toml, expect: expected }) => {
    const document = parseToml(toml)
    expect(document.problems).toEqual([])
    expect(plainNode(document.root)).toEqual(expected)
  })
})

describe('invalid TOML', () => {
  test.each(invalid)('$name', ({ toml, at }) => {
    const document = parseToml(toml)
    expect(document.problems.length).toBeGreaterThan(0)
    const { line, column } = positions(toml)(document.problems[0]!.at)
    expect(`${line}:${column}`).toBe(at)
  })
})

test('goes on after an error and reports each statement once', () => {
  const text = 'a = \nb = 1\n[x\ny = 2\n[z]\nlist = [\n  "1"\n  "2",\n]\nc = tru\nd = 4\n'
  const document = parseToml(text)
  const lines = document.problems.map((problem) => positions(text)(problem.at).line)
  expect(lines).toEqual([1, 3, 8, 10])
  expect(plainNode(document.root)).toEqual({ b: 1, z: { d: 4 } })
})

test('keys know where they stand', () => {
  const text = '# c\n[a]\n  b = "x"\n'
  const { root } = parseToml(text)
  const a = root.entries.get('a')!
  const b = a.node.kind === 'table' ? a.node.entries.get('b')! : null
  expect(positions(text)(a.at)).toEqual({ line: 2, column: 2 })
  expect(positions(text)(b!.at)).toEqual({ line: 3, column: 3 })
  expect(positions(text)(b!.node.at)).toEqual({ line: 3, column: 7 })
})

test('random text never crashes the parser', () => {
  const alphabet = fc.constantFrom(...'[]{}="\'#.,\n\r\t \\u_-+019aeTZ:'.split(''), '"""', "'''", 'a = ', '[[a]]\n')
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(alphabet).map((parts) => parts.join('')),
      ),
      (text) => {
        const { problems } = parseToml(text)
        for (const problem of problems) expect(problem.at).toBeLessThanOrEqual(text.length)
      },
    ),
    { numRuns: 2000 },
  )
})

test('what is printed is read back the same', () => {
  const leaf = fc.oneof(fc.boolean(), fc.maxSafeInteger(), fc.double({ noNaN: true }), fc.string({ unit: 'grapheme' }))
  const key = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('__proto__', '', 'a.b', '*', '*A', 'a*', '\u007f'),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('value'), { maxLength: 3 }), tie('table')),
    table: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  }))
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 5 }), (document) => {
      const read = parseToml(`x = ${printValue(document as Plain)}`)
      expect(read.problems).toEqual([])
      expect(normal(plainNode(read.root))).toEqual(normal({ x: document }))
    }),
    { numRuns: 500 },
  )
})

/** The short form of entries, and -0 without its sign: what printing is allowed to change. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => shortForm(normal(item)))
  if (typeof value === 'object' && value !== null) {
    return new Map(Object.entries(value).map(([name, field]) => [name, normal(field)]))
  }
  return Object.is(value, -0) ? 0 : value
}

function shortForm(value: unknown): unknown {
  if (!(value instanceof Map) || value.size !== 1) return value
  const [name, field] = [...value][0]!
  return ['path', 'command', 'host', 'tool'].includes(name) ? field : value
}
