/** How many questions a reviewer was asked in the last hour, by every process of this user together. */

import { join } from 'node:path'
import { withLock } from '../../system/lock.ts'
import type { Machine } from '../../system/machine.ts'
import { isRecord } from '../../system/record.ts'
import { openOwnDirectory, readOwnJson, writeOwnJson } from '../../system/state.ts'

interface Turns {
  readonly version: 1
  readonly times: readonly number[]
}

const HOUR = 3_600_000

/** Counts a question; false, and counted not, where the hour has had its share. */
export function takeTurn(machine: Machine, perHour: number, now: number): boolean {
  const directory = openOwnDirectory(machine.stateDir)
  const path = join(directory, 'reviews.json')
  return withLock(join(directory, 'reviews.lock'), () => {
    // A clock that was set back frees nothing.
    const times = (readOwnJson(path, isTurns, false)?.times ?? []).filter((time) => time > now - HOUR)
    if (times.length >= perHour) return false
    writeOwnJson(path, { version: 1, times: [...times, now] } satisfies Turns, false)
    return true
  })
}

function isTurns(value: unknown): value is Turns {
  return (
    isRecord(value) &&
    value.version === 1 &&
    Array.isArray(value.times) &&
    value.times.every((time) => typeof time === 'number')
  )
}
