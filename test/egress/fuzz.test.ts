/** A short run of the fuzzers of the proxy; `npm test -- fuzz-egress` is the long one. */

import { describe, expect, it } from 'vitest'
import { GRANTED, KINDS } from './generator.ts'
import { playRounds } from './rounds.ts'

const HOSTS = new Set([GRANTED, `${GRANTED}:80`])

describe.each(KINDS)('%s', (kind) => {
  it.each([1, 2])('seed %i: only the granted host is reached, and the proxy goes on', async (seed) => {
    const { reached, left } = await playRounds(seed, 100, [kind])
    expect(reached.filter((name) => !HOSTS.has(name))).toEqual([])
    expect(left).toBe(0)
  })
})
