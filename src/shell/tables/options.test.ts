/** How words become options and operands. */

import { describe, expect, test } from 'vitest'
import { wordsOf } from '../../../test/command-line.ts'
import { argOf, parseArgs } from './options.ts'
import { compileSpec, type Spec } from './spec.ts'

const spec: Spec = {
  options: `
  -o --output <output>
  --compress-program <run>
  -i --in-place [text]
  -n --lines <text>
  --checkpoint [text]
  --checkpoint-action <run>
  -z --zip !run
  --arg (text)
  -exec {text}
  + <text>`,
}

function parsed(line: string, extra: Partial<Spec> = {}): string {
  const result = parseArgs(
    wordsOf(line).map((word) => argOf(word)),
    compileSpec({ ...spec, ...extra }),
  )
  const options = result.options.map(({ row, name, value }) => {
    const shown = value === null ? '' : `=${value.text ?? `?${value.prefix}`}`
    return `${row?.name ?? `(${name})`}${shown}`
  })
  const operands = result.operands.map((arg) => arg.text ?? `?${arg.prefix}`)
  const unclear = result.unclear.length > 0 ? [`unclear:${result.unclear.length}`] : []
  return [...options, '|', ...operands, ...unclear].join(' ')
}

describe('parseArgs', () => {
  test.each([
    ['a b', '| a b', 'operands'],
    ['-o x a', '-o=x | a', 'a separate value'],
    ['-ox a', '-o=x | a', 'a glued value'],
    ['--output x a', '-o=x | a', 'a long option with a separate value'],
    ['--output=x a', '-o=x | a', 'a long option with a glued value'],
    ['--outp=x a', '-o=x | a', 'an abbreviation'],
    ['--compress-prog x', '--compress-program=x |', 'an abbreviation with a separate value'],
    ['--checkpoint=1 x', '--checkpoint=1 | x', 'an exact name beats the longer one that starts like it'],
    ['--checkpoint x', '--checkpoint | x', 'only a glued value is taken'],
    ['--check=x', '--checkpoint-action=x |', 'an ambiguous abbreviation is read the risky way'],
    ['-vzo x', '(-v) -z -o=x |', 'a cluster that ends in a value'],
    ['-vofile', '(-v) -o=file |', 'a cluster with a glued value'],
    ['-i.bak a', '-i=.bak | a', 'an optional value is glued'],
    ['-i a', '-i | a', 'an optional value is never the next word'],
    ['a -o x', '-o=x | a', 'options after operands'],
    ['-- -o x', '| -o x', 'nothing after the dashes is an option'],
    ['-', '| -', 'a lone dash is an operand'],
    ['--unknown=x a', '(--unknown)=x | a', 'an option that no row lists'],
    ['--arg n v a', '--arg=v | a', 'a name and a value'],
    ['-exec grep -o x {} ; -z', '-exec -z |', 'a command up to the semicolon'],
    ['-o', '-o |', 'a value that is missing'],
    ['+x a', '+=x | a', 'a plus option'],
    ['$x', '| ? unclear:1', 'an unknown word may be an option'],
    ['"$x"', '| ? unclear:1', 'quoting does not help'],
    ['src/"$x"', '| ?src/', 'literal text in front excludes an option'],
    ['src/$x', '| ?src/ unclear:1', 'without quotes it may become several words'],
    ['src/*', '| ?src/', 'a glob keeps its prefix in every word'],
    ['*', '| ? unclear:1', 'a leading star can match an option'],
    ['-- $x *', '| ? ?', 'after the dashes unknown words are operands'],
    ['-o "$x"', '-o=? |', 'an unknown value is a value'],
    ['-o $x', '-o=? | unclear:1', 'unless it may become several words'],
    ['--output="$x"', '-o=? |', 'an unknown glued value'],
    ['-o"$x"', '-o=? |', 'an unknown value glued to a letter'],
    ['--out"$x"', '| unclear:1', 'an unknown end of a name'],
    ['-v"$x"', '(-v) | unclear:1', 'unknown letters of a cluster'],
    ['$? $#', '| ? ?', 'numbers are no options'],
  ])('%s', (line, expected, note) => {
    expect(parsed(line), note).toBe(expected)
  })

  test('names that cannot be shortened are not', () => {
    expect(parsed('--outp=x', { abbreviates: false })).toBe('(--outp)=x |')
  })
  test('the first operand can end the options', () => {
    expect(parsed('-z a -o x', { stops: true })).toBe('-z | a')
  })
  test('single-dash names', () => {
    const words: Spec = { style: 'word', options: '\n  -toolexec <run>\n  -v' }
    for (const line of ['-toolexec x', '--toolexec x', '-toolexec=x', '--toolexec=x'])
      expect(parsed(line, words), line).toBe('-toolexec=x |')
  })
  test('a first word without a dash can be a cluster', () => {
    expect(parsed('vzo x a', { bundled: true })).toBe('(-v) -z -o=x | a')
  })
  test('an option can end the options', () => {
    expect(parsed('-n 1 -z', { ends: '-n' })).toBe('-n=1 | -z')
  })
})
