// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are bash, where ${…} is an expansion.
/** Properties: how a command is dressed up never changes what the facts say about it. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { analyze } from './walk/analyze.ts'
import { listWrappers, type WrapperRow } from './wrap/wrappers.ts'

const context = { cwd: '/p', home: '/home/u' }

/** What decisions depend on: argv, what is unknown about it, and hazards. */
function essence(text: string): unknown {
  const analysis = analyze(text, context)
  if ('rejection' in analysis) throw new Error(`${JSON.stringify(text)} was refused: ${analysis.rejection.message}`)
  return analysis.facts.commands.map((command) => ({
    argv: command.argv.map((word) => word.values),
    resolves: command.resolves,
    cwd: command.cwd,
    unwrapped: command.unwrapped,
    hazards: command.hazards.map((hazard) => hazard.code),
    paths: command.paths.map((path) => path.path),
  }))
}

const word = fc.stringMatching(/^[a-z0-9_./:@%+,-]{1,8}$/)
const name = fc.constantFrom('git', 'ls', 'rm', 'env', 'timeout', 'sudo', 'xargs', 'find', 'sh', 'echo', 'cd', 'export')
const simple = fc.tuple(name, fc.array(word, { maxLength: 4 })).map(([first, rest]) => [first, ...rest])

/** Ways to write a word that bash reads as the same. */
const dress = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => `'${text}'`,
  (text) => `"${text}"`,
  (text) => `\\${text}`,
  (text) => `${text.slice(0, 1)}''${text.slice(1)}`,
  (text) => `""${text}`,
  (text) => `$'${text.replace(/./g, (char) => `\\x${char.charCodeAt(0).toString(16)}`)}'`,
  (text) => `${text.slice(0, 1)}\\\n${text.slice(1)}`,
)

const blank = fc.constantFrom(' ', '  ', '\t', ' \\\n', ' \\\n\t')

test('quoting, line continuations and blanks change nothing', () => {
  fc.assert(
    fc.property(
      simple,
      fc.array(dress, { minLength: 5, maxLength: 5 }),
      fc.array(blank, { minLength: 5, maxLength: 5 }),
      (words, dresses, blanks) => {
        const dressed = words.map((one, index) => (dresses[index] as (text: string) => string)(one))
        const text = dressed.map((one, index) => (index === 0 ? one : `${blanks[index]}${one}`)).join('')
        expect(essence(text)).toEqual(essence(words.join(' ')))
      },
    ),
    { numRuns: 400 },
  )
})

test('comments, blank lines and surrounding blanks change nothing', () => {
  fc.assert(
    fc.property(simple, fc.constantFrom(' # note', '\n# $(rm q)\n', '\n\n', ' ', '\n', " # it's `"), (words, tail) => {
      expect(essence(`  ${words.join(' ')}${tail}`)).toEqual(essence(words.join(' ')))
    }),
  )
})

test('whatever the text, there is an answer', () => {
  const fragments = fc.constantFrom(
    ...[
      "'",
      '"',
      '`',
      '$',
      '(',
      ')',
      '{',
      '}',
      '[',
      ']',
      '<',
      '>',
      '|',
      '&',
      ';',
      '\\',
      '\n',
      ' ',
      '#',
      '~',
      '*',
      '=',
      '!',
      'a',
      '1',
      'x=',
    ],
    ...[
      '$(',
      '${',
      '$((',
      '<<E\n',
      '\nE\n',
      'if ',
      'then ',
      'fi',
      'do ',
      'done',
      'case ',
      'esac',
      ' in ',
      'sh -c ',
      'eval ',
      '\0',
      '\ud800',
      'é',
    ],
  )
  fc.assert(
    fc.property(fc.array(fragments, { maxLength: 40 }), (parts) => {
      const analysis = analyze(parts.join(''), context)
      if ('rejection' in analysis) expect(analysis.rejection.position).toBeGreaterThanOrEqual(0)
      else
        for (const command of analysis.facts.commands)
          expect(command.span.end).toBeLessThanOrEqual(parts.join('').length)
    }),
    { numRuns: 2000 },
  )
})

/** For each way a wrapper takes its command, the shortest call that runs `rm -rf /x`. */
function wrap(row: WrapperRow): string {
  const wrapper = row.name
  const sub = row.sub === undefined ? '' : ` ${row.sub}`
  const operands = ' 1'.repeat(row.operands ?? 0)
  const shell = shellOption(row)
  if (row.run === 'exec') return `${wrapper} . ${wrapper.startsWith('fd') ? '-x' : '-exec'} rm -rf /x \\;`
  if (row.run === 'shell') return `${wrapper} -c 'rm -rf /x'`
  if (shell !== undefined) return `${wrapper}${sub} ${shell} 'rm -rf /x'${operands}`
  if (row.needs !== undefined) return `${wrapper} ${row.needs} rm -rf /x`
  const between = row.nested === true ? ' env' : row.afterDashes === true ? ' --' : ''
  return `${wrapper}${sub}${operands}${between} rm -rf /x`
}

const shellOption = (row: WrapperRow): string | undefined => [...row.rows].find(([, { role }]) => role === 'shell')?.[0]

const rows = listWrappers()
  .filter((row) => row.run !== 'text' || shellOption(row) !== undefined)
  .map((row) => ({ wrapper: row.name, text: wrap(row) }))
  // `builtin rm` runs nothing, and is listed all the same.
  .filter(({ wrapper }) => !wrapper.startsWith('ld'))

test.each(rows)('a wrapped command is seen: $text', ({ text }) => {
  const analysis = analyze(text, context)
  if ('rejection' in analysis) throw new Error(analysis.rejection.message)
  const inner = analysis.facts.commands.filter((command) => command.argv[0]?.text === 'rm')
  expect(inner.map((command) => command.argv.slice(0, 3).map((one) => one.text))).toContainEqual(['rm', '-rf', '/x'])
})
