/** Random system calls, plain and through the init: the same results, the same errors, the same tree. The long form is `npm run fuzz:changes`. */

import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { fuzzOnce, stormOnce } from './fuzz.ts'
import { compile, makePlace, runInside } from './room.ts'

describe.each([
  ['root', 0],
  ['a user', 65534],
] as const)('as %s', (_, uid) => {
  const place = makePlace(uid)
  const program = compile(place, join(import.meta.dirname, 'tree-calls.c'), 'tree-calls')
  afterAll(() => place.remove())

  it.each([1, 2, 3])('answers as the kernel would (seed %i)', (seed) => {
    const { plain, held } = fuzzOnce(place, program, seed, 2500, uid)
    expect(held.calls).toEqual(plain.calls)
    expect(held.tree).toEqual(plain.tree)
    expect(plain.calls.length).toBeGreaterThan(2000)
  })

  it('holds protected names in a storm of threads', () => {
    expect(stormOnce(place, program, 7, 4000, uid)).toEqual([])
  })

  it('says what the kernel would where threads make and remove the same names', () => {
    const fresh = makePlace(uid)
    const storm = compile(fresh, join(import.meta.dirname, 'storm.c'), 'storm')
    expect(runInside(fresh, [storm], { uid })).toEqual({ status: 0, out: 'over\n', errors: '' })
    fresh.remove()
  })
})
