/** Keeps the quarantine small: what is old goes, and of the rest the oldest while there is too much. */

import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { posix } from 'node:path'

/** `spareMs`: what is newer stays whatever its size, so that a command cannot push out what it wants no one to see. */
export interface QuarantineLimits {
  readonly olderThanMs: number
  readonly bytes: number
  readonly spareMs: number
}

const DAY_MS = 24 * 3_600_000

export const QUARANTINE_LIMITS: QuarantineLimits = { olderThanMs: 30 * DAY_MS, bytes: 1024 ** 3, spareMs: DAY_MS }

/** Returns the runs that are gone. One that cannot be removed stays for the next time. */
export function pruneQuarantine(
  stateDir: string,
  now: number = Date.now(),
  { olderThanMs, bytes, spareMs }: QuarantineLimits = QUARANTINE_LIMITS,
): readonly string[] {
  const folder = posix.join(stateDir, 'quarantine')
  const removed: string[] = []
  let total = 0
  for (const { run, age } of runsOf(folder, now)) {
    const path = posix.join(folder, run)
    try {
      total += openedSize(Buffer.from(path))
      if (age <= olderThanMs && (age <= spareMs || total <= bytes)) continue
      rmSync(path, { recursive: true, force: true })
      removed.push(run)
    } catch {
      // Another process was faster, or it is not ours.
    }
  }
  return removed
}

/** The newest first; a run's name begins with the time at which it was made. */
function runsOf(folder: string, now: number): readonly { readonly run: string; readonly age: number }[] {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  return names
    .flatMap((run) => {
      const made = Number.parseInt(/^([a-z0-9]+)-/.exec(run)?.[1] ?? '', 36)
      return Number.isFinite(made) ? [{ run, age: now - made }] : []
    })
    .sort((a, b) => a.age - b.age)
}

/** What a tree takes up. Its folders are opened for their owner: a command may have left some that no one may enter. */
function openedSize(path: Buffer): number {
  const stat = lstatSync(path)
  if (!stat.isDirectory()) return stat.blocks * 512
  chmodSync(path, 0o700)
  return readdirSync(path, { encoding: 'buffer' }).reduce(
    (sum, name) => sum + openedSize(Buffer.concat([path, SLASH, name])),
    stat.blocks * 512,
  )
}

const SLASH = Buffer.from('/')
