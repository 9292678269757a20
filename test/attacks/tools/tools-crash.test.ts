/** kill -9 in the middle of writes: the short form of what `tools-crash.ts` runs at length. */

import { describe, expect, it } from 'vitest'
import { runCrashes, versionOf, versionText } from './tools-crash.ts'

describe('a process killed while its tools write', () => {
  it('notices a file that is half written', () => {
    expect(versionOf(versionText(7))).toBe(7)
    expect(versionOf(versionText(7).slice(0, -1))).toBeNull()
    expect(versionOf('')).toBeNull()
  })

  it('leaves every file old or new, and no temporary file after the next start', async () => {
    const report = await runCrashes(12)
    expect(report.problems).toEqual([])
    expect(report.versions).toBeGreaterThan(0)
  })
})
