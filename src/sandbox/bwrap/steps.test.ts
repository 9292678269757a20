import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { INIT_STEPS, STEP_MEANINGS, stepOf } from './steps.ts'

test('the steps are those of the init', () => {
  const source = readFileSync(new URL('../../../native/init/protocol.h', import.meta.url), 'utf8')
  const found = [...source.matchAll(/^ {2}STEP_(\w+) = (\d+),$/gm)].map(([, name, number]) => [name, Number(number)])
  expect(Object.fromEntries(found)).toEqual(INIT_STEPS)
})

test('every step has a meaning and every number a step', () => {
  expect(Object.keys(STEP_MEANINGS)).toEqual(Object.keys(INIT_STEPS))
  for (const [step, number] of Object.entries(INIT_STEPS)) expect(stepOf(number)).toBe(step)
  expect(stepOf(0)).toBeNull()
  expect(stepOf(Object.keys(INIT_STEPS).length + 1)).toBeNull()
})
