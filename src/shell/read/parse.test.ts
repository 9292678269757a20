// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are bash, where ${…} is an expansion.
import { describe, expect, test } from 'vitest'
import { analyze } from '../walk/analyze.ts'
import { MAX_BYTES } from './parse.ts'

const context = { cwd: '/p', home: '/home/u' }

const refused = [
  { name: 'NUL', text: 'ls \0a', code: 'bad-character', position: 3, note: 'bash drops it, other readers stop there' },
  { name: 'escape sequence', text: 'ls \x1b[2K', code: 'bad-character', position: 3, note: 'hides text on a terminal' },
  { name: 'carriage return', text: 'ls\r\n', code: 'bad-character', position: 2, note: 'part of a word to bash' },
  { name: 'C1 control', text: 'ls \u009b', code: 'bad-character', position: 3, note: '' },
  { name: 'DEL', text: 'ls \x7f', code: 'bad-character', position: 3, note: '' },
  { name: 'right-to-left override', text: 'ls \u202ea', code: 'bad-character', position: 3, note: 'bidi' },
  { name: 'zero-width space', text: 'l\u200bs', code: 'bad-character', position: 1, note: '' },
  { name: 'tag character', text: 'ls \u{e0041}', code: 'bad-character', position: 3, note: 'invisible text' },
  { name: 'no-break space', text: 'ls\u00a0a', code: 'bad-character', position: 2, note: 'looks like a separator' },
  { name: 'line separator', text: 'ls\u2028a', code: 'bad-character', position: 2, note: '' },
  { name: 'byte order mark', text: '\ufeffls', code: 'bad-character', position: 0, note: '' },
  { name: 'lone surrogate', text: 'ls \ud800', code: 'bad-character', position: 3, note: 'not UTF-8' },
  {
    name: 'Hangul filler',
    text: 'ls \u3164',
    code: 'bad-character',
    position: 3,
    note: 'a letter that looks like a blank',
  },
  { name: 'locale string', text: 'ls $"f"', code: 'unsupported-syntax', position: 3, note: 'a translation runs' },
  { name: 'locale string in an operand', text: 'ls "${x:-$"f"}"', code: 'unsupported-syntax', position: 9, note: '' },
  { name: 'quotes in backquotes', text: "ls `a 'b'`", code: 'unsupported-syntax', position: 3, note: 'read in rounds' },
  { name: 'an escape in backquotes', text: 'ls "`a \\"b`"', code: 'unsupported-syntax', position: 4, note: '' },
  { name: 'backquotes in backquotes', text: 'ls `a \\`b\\``', code: 'unsupported-syntax', position: 3, note: '' },
  {
    name: 'an escape in backquoted arithmetic',
    text: 'ls $((`a \\b`))',
    code: 'unsupported-syntax',
    position: 6,
    note: '',
  },
  {
    name: 'a coprocess with a computed name',
    text: 'coproc $x { :; }',
    code: 'unsupported-syntax',
    position: 7,
    note: '',
  },
  {
    name: 'a file that is expanded twice',
    text: "ls >& '$(id)'",
    code: 'unsupported-syntax',
    position: 6,
    note: 'bash < 5.3',
  },
  { name: 'another charset', text: 'LC_ALL=zh_CN.gbk\nls 中', code: 'unsupported-syntax', position: 0, note: 'GBK' },
  { name: 'trailing backslash', text: 'ls \\', code: 'syntax', position: 3, note: '' },
  {
    name: 'continuation after $',
    text: 'echo $\\\n{x}',
    code: 'unsupported-syntax',
    position: 6,
    note: 'the parser sees two words',
  },
  {
    name: 'continuation after $ in quotes',
    text: 'echo "$\\\n(id)"',
    code: 'unsupported-syntax',
    position: 7,
    note: 'bash joins the lines and runs it',
  },
  ...[
    ['an apostrophe that is quoted', `echo "'$\\\n(rm x)'"`],
    ['an apostrophe that is escaped', "echo \\'$\\\n(rm x)\\'"],
    ['an apostrophe in a here-document', "cat <<EOF\n'$\\\n(rm x)'\nEOF"],
    ['an apostrophe in a comment', "true # it's\necho $\\\n(rm x) '"],
    ['an apostrophe in an expansion', `echo "\${x:-'}" $\\\n(rm x) "'"`],
    ['a backslash that is escaped', 'echo "\\\\$\\\n(rm x)"'],
    ['an escaped dollar between backquotes', 'echo `echo \\$\\\n(rm x)`'],
  ].map(([name, text]) => ({
    name: `continuation after $: ${name}`,
    text: text!,
    code: 'unsupported-syntax',
    position: text!.indexOf('\\\n'),
    note: '',
  })),
  { name: 'continuation in an operator', text: 'ls &\\\n& rm', code: 'unsupported-syntax', position: 4, note: '' },
  {
    name: 'continuation in a name',
    text: 'echo $x\\\ny',
    code: 'unsupported-syntax',
    position: 7,
    note: 'bash reads $xy',
  },
  { name: 'unclosed quote', text: 'echo "a', code: 'syntax', position: null, note: '' },
  { name: 'unclosed substitution', text: 'echo $(ls', code: 'syntax', position: null, note: '' },
  { name: 'unclosed inner substitution', text: 'echo "$(ls "$(a)"', code: 'syntax', position: null, note: '' },
  { name: 'unclosed here-document', text: 'cat <<E\na', code: 'syntax', position: null, note: '' },
  { name: 'malformed test', text: '[[ a b c ]]', code: 'syntax', position: 5, note: '' },
  { name: 'misplaced terminator', text: 'git status;;', code: 'syntax', position: 10, note: '' },
  { name: 'extended glob', text: 'ls !(a)', code: 'unsupported-syntax', position: 3, note: 'off in bash -c' },
  { name: 'function substitution', text: 'echo ${ id; }', code: 'unsupported-syntax', position: 5, note: 'bash 5.3' },
  {
    name: 'quoted substitution in ${}',
    text: "echo ${x:'$(id)'}",
    code: 'unsupported-syntax',
    position: null,
    note: '',
  },
  {
    name: 'quoted substitution in a subscript',
    text: "a['$(id)']=1",
    code: 'unsupported-syntax',
    position: null,
    note: '',
  },
  {
    name: 'quoted substitution in arithmetic',
    text: "echo $(('$(id)'))",
    code: 'unsupported-syntax',
    position: null,
    note: '',
  },
  {
    name: 'here-document with quotes in ${}',
    text: "cat <<E\n${x:-'$(id)'}\nE",
    code: 'unsupported-syntax',
    position: null,
    note: 'quotes do not protect there',
  },
  {
    name: 'brace inside ${}',
    text: 'echo ${x-{a}}',
    code: 'unsupported-syntax',
    position: 9,
    note: 'bash ends at the first }',
  },
  {
    name: 'glued process substitution',
    text: 'ls a<(id)',
    code: 'unsupported-syntax',
    position: 4,
    note: 'the parser makes two words of it',
  },
] as const

test.each(refused)('refuses: $name', ({ text, code, position }) => {
  const analysis = analyze(text, context)
  if ('facts' in analysis) throw new Error('it was accepted')
  expect(analysis.rejection.code).toBe(code)
  expect(analysis.rejection.message).toMatch(/position|bytes/)
  if (position !== null) expect(analysis.rejection.position).toBe(position)
})

const accepted = [
  { name: 'emoji with a variation selector', text: 'git commit -m "⚠️ careful"' },
  { name: 'emoji that are joined', text: 'git commit -m "\u{1f469}\u200d\u{1f4bb} \u{1f3f3}\ufe0f\u200d\u{1f308}"' },
  { name: 'replacement character', text: 'echo "\ufffd"' },
  { name: 'tab and newline', text: 'ls\ta\nls b' },
  { name: 'continuation between words', text: 'ls \\\n  a' },
  { name: 'none in single quotes', text: "echo '$\\\n(touch x)'" },
  { name: 'continuation behind an escaped dollar', text: 'echo "\\$\\\n(touch x)"' },
  { name: 'the same in a here-document', text: 'cat <<EOF\n\\$\\\n(rm x)\nEOF' },
  { name: 'continuation inside a word', text: 'l\\\ns' },
  { name: 'escaped backslash at the end', text: 'echo \\\\' },
]

test.each(accepted)('accepts: $name', ({ text }) => {
  expect(analyze(text, context)).toHaveProperty('facts')
})

describe('size', () => {
  test('the limit counts bytes, not characters', () => {
    const wide = `echo ${'é'.repeat(MAX_BYTES / 2)}`
    expect(analyze(wide, context)).toHaveProperty('rejection.code', 'too-long')
    expect(analyze(`echo ${'a'.repeat(MAX_BYTES - 5)}`, context)).toHaveProperty('facts')
    expect(analyze(`echo ${'a'.repeat(MAX_BYTES - 4)}`, context)).toHaveProperty('rejection.code', 'too-long')
  })

  const openers = [
    'a=(',
    '{a,',
    '$((',
    '${',
    '${x:-',
    '"$(',
    '$(',
    '<(',
    '( ',
    '((',
    '$[',
    'x[',
    '[[ ( ',
    'if ',
    '{ ',
    'f() { ',
    'case x in x) ',
  ]
  test.each(openers)('thousands of %j end in a refusal', (opener) => {
    const start = /^(if|case|f\(\)|\[\[|\{ |\()/.test(opener) ? '' : 'echo '
    const text = start + opener.repeat(16_000 / opener.length)
    expect(analyze(text, context)).toHaveProperty('rejection')
  })

  test('deep but closed nesting is too complex', () => {
    expect(analyze(`echo ${'$('.repeat(200)}ls${')'.repeat(200)}`, context)).toHaveProperty(
      'rejection.code',
      'too-complex',
    )
  })

  test('texts inside texts are limited', () => {
    const text = `x='${'ls;'.repeat(2000)}'; for i in {1..20}; do eval "$x"; done; ${'eval "$x";'.repeat(30)}`
    expect(analyze(text, context)).toHaveProperty('rejection.code', 'too-complex')
  })
})
