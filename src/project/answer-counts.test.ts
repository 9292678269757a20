import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { type Machine, thisMachine } from '../system/machine.ts'
import { countAnswer, repeatedAnswers } from './answer-counts.ts'

const base = mkdtempSync(join(tmpdir(), 'cordon-answers-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const DAY = 24 * 3600 * 1000

it.each([
  ['five yeses', 'yyyyy', 1],
  ['four', 'yyyy', 0],
  ['a no in between', 'yyynyy', 0],
  ['five after a no', 'ynyyyyy', 1],
])('%s', (name, answers, proposed) => {
  const machine: Machine = { ...thisMachine(), stateDir: join(base, name.replaceAll(' ', '-')) }
  const grant = { kind: 'command', value: 'git push origin:kind', admits: '' } as const
  for (const [index, answer] of [...answers].entries()) countAnswer(machine, '/p', grant, answer === 'y', index)
  countAnswer(machine, '/other', grant, true, 1)
  expect(repeatedAnswers(machine, 10)).toHaveLength(proposed)
  expect(repeatedAnswers(machine, 40 * DAY)).toEqual([])
})
