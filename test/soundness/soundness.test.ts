/** What bash executes must have been predicted: the corpus, known traps, and a few hundred generated commands. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { analyze } from '../../src/shell/analyze.ts'
import { compare, matches, type Outcome } from './compare.ts'
import { generate, mutate } from './generator.ts'
import { RecorderSandbox, START } from './sandbox.ts'
import { TRAPS } from './traps.ts'

const sandbox = new RecorderSandbox()
afterAll(() => sandbox.remove())

/** Runs all texts and returns the outcomes; what was missed is listed for the failure message. */
function outcomes(texts: readonly string[]): { tally: Record<Outcome, number>; missed: string[] } {
  const tally: Record<Outcome, number> = { exact: 0, dynamic: 0, marked: 0, rejected: 0, missed: 0 }
  const missed: string[] = []
  sandbox.run(texts).forEach(({ executed }, index) => {
    const text = texts[index] as string
    const result = compare(analyze(text, START), executed)
    tally[result.outcome]++
    if (result.missed !== null) missed.push(`${JSON.stringify(text)} ran ${JSON.stringify(result.missed)}`)
  })
  return { tally, missed }
}

test('the recorders see what bash runs', () => {
  const [direct, wrapped, nothing] = sandbox.run(['git "a b" c', 'env A=1 git x', 'true'])
  expect(direct?.executed).toEqual([['git', 'a b', 'c']])
  expect(wrapped?.executed).toEqual([
    ['env', 'A=1', 'git', 'x'],
    ['git', 'x'],
  ])
  expect(nothing?.executed).toEqual([])
})

test('an execution that the facts do not hold is a miss', () => {
  const analysis = analyze('git a', START)
  expect(compare(analysis, [['git', 'a']]).outcome).toBe('exact')
  expect(compare(analysis, [['git', 'b']])).toEqual({ outcome: 'missed', missed: ['git', 'b'] })
  expect(compare(analysis, [['git', 'a'], ['rm']]).outcome).toBe('missed')
})

describe('words against argv', () => {
  test.each([
    ['ls "$x" b', ['ls', 'q', 'b'], true],
    ['ls "$x" b', ['ls', 'b'], false],
    ['ls $x b', ['ls', 'b'], true],
    ['ls $x b', ['ls', 'q', 'r', 'b'], true],
    ['ls $x b', ['ls', 'q', 'c'], false],
    ['ls "a$x"', ['ls', 'ab'], true],
    ['ls "a$x"', ['ls', 'b'], false],
  ] as const)('%s and %j', (text, argv, expected) => {
    const analysis = analyze(text, START)
    if ('rejection' in analysis) throw new Error(analysis.rejection.message)
    expect(matches(analysis.facts.commands[0]?.argv ?? [], argv)).toBe(expected)
  })
})

test('known traps', () => {
  expect(outcomes(TRAPS).missed).toEqual([])
})

test('the corpus', () => {
  const file = join(import.meta.dirname, '../cases/shell.jsonl')
  if (!existsSync(file)) throw new Error(`the shell corpus is missing: ${file}`)
  const rows = readFileSync(file, 'utf8').trim().split('\n')
  const texts = rows
    .map((row) => (JSON.parse(row) as { command: string }).command)
    .filter((text) => !text.includes('\0'))
  expect(texts.length).toBeGreaterThan(100)
  expect(outcomes(texts).missed).toEqual([])
})

test('generated commands', () => {
  const generated = Array.from({ length: 400 }, (_, index) => generate(index))
  expect(outcomes(generated.map((one) => one.text)).missed).toEqual([])
  const still = outcomes(generated.filter((one) => one.static).map((one) => one.text)).tally
  const total = Object.values(still).reduce((sum, one) => sum + one, 0)
  expect(total).toBeGreaterThan(40)
  expect(still.exact / total).toBeGreaterThanOrEqual(0.95)
})

test('damaged commands', () => {
  const texts = Array.from({ length: 200 }, (_, index) => mutate(generate(index).text, index))
  const { tally, missed } = outcomes(texts)
  expect(missed).toEqual([])
  expect(tally.exact + tally.dynamic).toBeGreaterThan(20)
})
