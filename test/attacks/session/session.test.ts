/** Races and crashes of a whole session, in short; the long forms their own are scripts. */

import { expect, it } from 'vitest'
import { runCrashes } from './session-crash.ts'
import { runSessionRace } from './session-race.ts'

it('reads and writes nothing outside while a path is swapped for a link', async () => {
  const report = await runSessionRace(1500, 700)
  expect(report.leaks).toEqual([])
  expect(report.statuses.done).toBeGreaterThan(0)
  // Without a single denial or fault the race was not run.
  expect(report.statuses.denied + report.statuses.failed).toBeGreaterThan(0)
})

it('leaves every file old or new when it is killed', async () => {
  const report = await runCrashes(8)
  expect(report.faults).toEqual([])
  expect(Math.min(report.written, report.amended)).toBeGreaterThan(0)
})
