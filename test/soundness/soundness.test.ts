/** What bash executes must have been predicted: the corpus, known traps, and a few hundred generated commands. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { analyze } from '../../src/shell/walk/analyze.ts'
import { compare, matches, type Outcome } from './compare.ts'
import { generate, mutate } from './generator.ts'
import { nest } from './nesting.ts'
import { RecorderSandbox, START } from './sandbox.ts'
import { TRAPS } from './traps.ts'

const sandbox = new RecorderSandbox()
afterAll(() => sandbox.remove())

/** Runs all texts; what was missed is listed for the failure message. */
async function outcomes(texts: readonly string[]): Promise<{ results: Outcome[]; missed: string[] }> {
  const missed: string[] = []
  const analyses = texts.map((text) => analyze(text, START))
  // What is refused cannot be missed.
  const executions = await sandbox.run(texts.filter((_, index) => 'facts' in analyses[index]!))
  let ran = 0
  const results = texts.map((text, index) => {
    const analysis = analyses[index]!
    const result = compare(analysis, 'facts' in analysis ? executions[ran++]!.executed : [])
    if (result.missed !== null) missed.push(`${JSON.stringify(text)} ran ${JSON.stringify(result.missed)}`)
    return result.outcome
  })
  return { results, missed }
}

test('the recorders see what bash runs', async () => {
  const [direct, wrapped, nothing] = await sandbox.run(['git "a b" c', 'env A=1 git x', 'true'])
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

test('known traps', async () => {
  expect((await outcomes(TRAPS)).missed).toEqual([])
})

test('the corpus', async () => {
  const file = join(import.meta.dirname, '../cases/shell.jsonl')
  if (!existsSync(file)) throw new Error(`the shell corpus is missing: ${file}`)
  const rows = readFileSync(file, 'utf8').trim().split('\n')
  const texts = rows
    .map((row) => (JSON.parse(row) as { command: string }).command)
    .filter((text) => !text.includes('\0'))
  expect(texts.length).toBeGreaterThan(100)
  expect((await outcomes(texts)).missed).toEqual([])
})

test('generated commands', async () => {
  const generated = Array.from({ length: 500 }, (_, index) => generate(index))
  const { results, missed } = await outcomes(generated.map((one) => one.text))
  expect(missed).toEqual([])
  const still = results.filter((_, index) => generated[index]?.static)
  expect(still.length).toBeGreaterThan(60)
  // The long run wants 98%; a sample this small may fall a little short of it.
  expect(still.filter((outcome) => outcome === 'exact').length / still.length).toBeGreaterThanOrEqual(0.95)
})

test('damaged commands', async () => {
  const texts = TRAPS.map((trap, index) => mutate(trap, index))
  const { results, missed } = await outcomes(texts)
  expect(missed).toEqual([])
  expect(results.filter((outcome) => outcome === 'exact').length).toBeGreaterThan(100)
})

test('nested quoting', async () => {
  const { results, missed } = await outcomes(Array.from({ length: 1000 }, (_, index) => nest(index)))
  expect(missed).toEqual([])
  expect(results.filter((outcome) => outcome !== 'rejected').length).toBeGreaterThan(200)
})
