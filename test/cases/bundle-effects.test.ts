/** A subcommand that a bundle gives hosts to says what it does with them: one that no table lists would count as local. */

import { expect, test } from 'vitest'
import { builtInBundles } from '../../src/sandbox/bundles/built-in.ts'
import { findProgram } from '../../src/shell/tables/programs/registry.ts'

const rows = builtInBundles().flatMap(({ tool, programs, online }) =>
  online === null ? [] : [{ tool, programs, online }],
)

test.each(rows)('$tool', ({ programs, online }) => {
  const lines = programs.flatMap((program) => (findProgram(program)?.effects ?? '').split('\n'))
  const listed = lines.flatMap((line) => (line.split('|')[1] ?? '').split(',').map((words) => words.trim()))
  const isListed = (entry: string): boolean =>
    listed.some((words) => words === (entry === '-' ? '*' : entry) || words.startsWith(`${entry} `))
  expect(online.filter((entry) => !entry.endsWith(':*') && !isListed(entry))).toEqual([])
})
