/** Properties over every row of the program tables: another wrapper, another quoting or a shortened option never makes a verdict weaker. */

import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { evaluate } from '../../src/policy/evaluate/evaluate.ts'
import { bashCall, policyOf, sessionOf, sourced } from './policy-fixture.ts'

const folder = new URL('../../src/shell/tables/programs/examples/', import.meta.url)
const examples = readdirSync(folder).flatMap((file) =>
  readFileSync(new URL(file, folder), 'utf8')
    .split('\n')
    .filter((line) => line.includes('  =>  '))
    .map((line) => line.slice(0, line.indexOf('  =>  '))),
)
const policy = policyOf({
  mode: sourced('contained'),
  outsideRoots: sourced('ask'),
  flags: { ...policyOf().flags, redirects: sourced('all'), command_substitution: sourced(true) },
})
const RANK = { allow: 0, ask: 1, deny: 2 } as const
const rank = (command: string): number => RANK[evaluate(policy, sessionOf(), bashCall(command)).decision]
const strict = examples.map((line) => ({ line, plain: rank(line) })).filter(({ plain }) => plain > 0)

/** Ways to write the same command; each must be at least as strict as the plain one. */
const DRESSES: Readonly<Record<string, (line: string) => readonly string[]>> = {
  wrapper: (line) => ['env', 'timeout 5', 'command', 'nohup'].map((name) => `${name} ${line}`),
  shell: (line) => (line.includes("'") ? [] : [`bash -c '${line}'`, `eval '${line}'`]),
  place: (line) => [`if true; then ${line}; fi`, `f() { ${line}; }; f`],
  quoting: (line) => [line.replace(/^\S+/, '"$&"'), line.replace(/^(\S)/, '\\$1')],
  assignment: (line) => [`X=1 ${line}`],
}

test('there are enough to tell', () => {
  expect(examples.length).toBeGreaterThan(700)
  expect(strict.length).toBeGreaterThan(100)
})

test.each(Object.keys(DRESSES))('no %s weakens an example', (dress) => {
  const weaker = strict.flatMap(({ line, plain }) => DRESSES[dress]!(line).filter((dressed) => rank(dressed) < plain))
  expect(weaker).toEqual([])
})

test('no shortened option weakens an example', () => {
  const weaker = strict.flatMap(({ line, plain }) => {
    const option = /(?<= )--[a-z][a-z-]{3,}(?=[ =]|$)/.exec(line)
    if (option === null) return []
    const [word] = option
    // Two letters fewer is unique among the options of nearly every program.
    const shortened = [word.slice(0, -1), word.slice(0, -2)].map(
      (short) => line.slice(0, option.index) + short + line.slice(option.index + word.length),
    )
    return shortened.filter((short) => rank(short) < plain)
  })
  expect(weaker).toEqual([])
})
