/** F1 under races: the short form of the race that `tools-race.ts` runs at length. */

import { describe, expect, it } from 'vitest'
import { runControl, runRace } from './tools-race.ts'

describe.each(process.platform === 'linux' ? ['a path'] : [])('%s swapped for a link while tools run', () => {
  it('leaks from a check followed by a bare open, so the race is real', async () => {
    expect(await runControl(500_000)).toBe(1)
  })

  it('reads and writes nothing outside', async () => {
    const report = await runRace(3000, 800)
    expect(report.leaks).toEqual([])
    expect(report.done).toBeGreaterThan(0)
    expect(report.denied + report.stopped).toBeGreaterThan(0)
  })
})
