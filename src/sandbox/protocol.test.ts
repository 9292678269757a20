import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { protocolHeader } from '../../scripts/generate-protocol.ts'
import { STEP_MEANINGS, stepOf } from './bwrap/steps.ts'
import { MESSAGES, NUMBERS, RECORDS, WORDS } from './protocol.ts'

test('the header of the init is written from the table', () => {
  const header = readFileSync(new URL('../../native/init/protocol.h', import.meta.url), 'utf8')
  expect(header).toBe(protocolHeader())
})

test.each([
  ['records', Object.values(RECORDS)],
  ['words', Object.values(WORDS)],
  ['messages', Object.values(MESSAGES)],
])('no two %s have one letter', (_, letters: readonly string[]) => {
  expect(letters.filter((letter, at) => letter.length !== 1 || letters.indexOf(letter) !== at)).toEqual([])
})

test('every step has a meaning and every number a step', () => {
  const steps = Object.entries(NUMBERS.step)
  expect(Object.keys(STEP_MEANINGS)).toEqual(steps.map(([name]) => name))
  for (const [name, number] of steps) expect(stepOf(number)).toBe(name)
  expect(stepOf(0)).toBeNull()
  expect(stepOf(steps.length + 1)).toBeNull()
})
