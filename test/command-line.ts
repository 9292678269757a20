/** Words of a command line for the tests of the tables: quotes, `$variables` and globs, and nothing else of the shell. */

import type { AssignmentFact, Word } from '../src/shell/facts.ts'
import { inspect } from '../src/shell/inspect/inspect.ts'
import type { Inspection } from '../src/shell/tables/use.ts'

const home = '/home/u'
const token = /(?:'[^']*'|"[^"]*"|[^\s'"])+/g

/** `sort -o 'a b' $x *.ts` as words; a `$` makes a word unknown, an unquoted `*` or `?` makes it a glob. */
export function wordsOf(line: string): readonly Word[] {
  return [...line.matchAll(token)].map((match) => {
    const source = match[0]
    const span = { start: match.index, end: match.index + source.length }
    const bare = source.replace(/'[^']*'|"[^"]*"/g, '')
    const text = source.replace(/^~(?=\/|$)/, home).replace(/'([^']*)'|"([^"]*)"/g, '$1$2')
    const variable = source.replace(/'[^']*'/g, '').includes('$')
    const glob = /[*?]/.test(bare) && !variable
    if (!variable && !glob)
      return { text, values: [text], dynamic: [], prefix: text, pattern: null, splits: false, span }
    const prefix = text.slice(0, text.search(variable ? /\$/ : /[*?]/))
    const dynamic = variable ? (['variable'] as const) : (['glob'] as const)
    const splits = glob || bare.includes('$')
    return { text: source, values: null, dynamic, prefix, pattern: glob ? text : null, splits, span }
  })
}

/** Inspects a command line in /project, with /home/u as the home. */
export function inspectLine(line: string, stdin: 'known' | 'unknown' | 'none' = 'none'): Inspection {
  const span = { start: 0, end: line.length }
  return inspect({ argv: wordsOf(line), cwd: '/project', home, assignments: [], span, stdin })
}

/** Hazard codes, and `access:path` for everything outside /project; `?` is an unknown path. */
export function findingsOf(line: string): readonly string[] {
  const { hazards, paths } = inspectLine(line)
  const outside = paths.filter(({ path }) => path === null || !`${path}/`.startsWith('/project/'))
  return [...hazards.map(({ code }) => code), ...outside.map(({ access, path }) => `${access}:${path ?? '?'}`)]
}

/** `NAME=value` as an assignment. */
export function assignmentOf(text: string): AssignmentFact {
  const [name = '', value = ''] = [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]
  const span = { start: 0, end: text.length }
  const word = { text: value, values: [value], dynamic: [], prefix: value, pattern: null, splits: false, span }
  return { name, value: word, append: false, scope: 'command', span }
}

/** Rows of a table written as `expectation | command line`, without blank lines. */
export function rowsOf(table: string): readonly (readonly [expected: string, line: string])[] {
  return table
    .split('\n')
    .filter((row) => row.trim() !== '')
    .map((row) => {
      const bar = row.indexOf('|')
      return [row.slice(0, bar).trim(), row.slice(bar + 1).trim()] as const
    })
}
