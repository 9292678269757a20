import { expect, it } from 'vitest'
import { randomFrom } from '../../redact-samples.ts'
import { crashRounds, type Work } from '../audit/crash-rounds.ts'

// `node test/attacks/audit/crash-rounds.ts 500` is the long form.
it.each<Work>(['sign', 'trust', 'audit'])('kill -9 of two writers at once: %s', async (work) => {
  const tally = await crashRounds(work, 3, randomFrom(11))
  expect(tally.problems).toEqual([])
  expect(tally.acknowledged).toBeGreaterThan(0)
})
