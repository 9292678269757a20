/** What a host's session remembers between its hook processes: the breaker and the rate (P8). */

import { readdirSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type BreakerSettings,
  type BreakerState,
  type CallOutcome,
  CallRate,
  CircuitBreaker,
} from '../../call/admission.ts'
import { sha256 } from '../../system/addon.ts'
import { attempt } from '../../system/fault.ts'
import { withLock } from '../../system/lock.ts'
import { openOwnDirectory, readOwnJson, removeIfThere, writeOwnJson } from '../../system/state.ts'

/** The owner of the memory: a host's session in a project. */
export interface HookSessionKey {
  /** Where sessions are remembered; exists only if one has something to remember. */
  readonly directory: string
  readonly host: string
  readonly session: string | null
  readonly root: string
}

export interface HookMemory {
  readonly breaker: BreakerState
  /** Times of the last minute's calls in milliseconds since 1970, if a rate limit applies. */
  readonly calls?: readonly number[]
  readonly loose?: string
  readonly told?: string
}

interface MemoryFile extends HookMemory {
  readonly version: 1
}

const FRESH: HookMemory = { breaker: { inARow: 0, openUntil: null } }
/** A session silent for this long has ended. */
const KEPT_MS = 7 * 24 * 3600 * 1000

/** A session's memory. Throws if it cannot be read: then the call is blocked. */
export function hookMemory(key: HookSessionKey): HookMemory {
  return readOwnJson(fileOf(key), isMemory, false) ?? FRESH
}

/** Seconds until a session's breaker closes, or null. */
export function breakerOpenFor({ breaker }: HookMemory, now: number): number | null {
  return breaker.openUntil === null || breaker.openUntil <= now ? null : (breaker.openUntil - now) / 1000
}

/**
 * Notes a call's decision. Judging has no effects, so the first call after the pause is the probe, from any process.
 */
export function noteCall(key: HookSessionKey, settings: BreakerSettings, outcome: CallOutcome, now: number): void {
  change(key, now, (memory) => {
    const breaker = new CircuitBreaker(settings, () => now, memory.breaker)
    const admission = breaker.admit()
    if ('probe' in admission) breaker.note(admission, outcome)
    return { ...memory, breaker: breaker.state }
  })
}

/** Counts a call in the session's rate; or seconds until the next one may come (P8). */
export function takeCall(key: HookSessionKey, perMinute: number, now: number): number | null {
  let wait: number | null = null
  change(key, now, (memory) => {
    const rate = new CallRate(() => now, memory.calls)
    wait = rate.take(perMinute)
    return { ...memory, calls: rate.calls }
  })
  return wait
}

/** Notes a command that ran outside the sandbox. */
export function noteLoose(key: HookSessionKey, command: string, now: number): void {
  change(key, now, (memory) => ({ ...memory, loose: memory.loose ?? command.slice(0, 500) }))
}

/** Notes what was shown to the session's person at its start. */
export function noteTold(key: HookSessionKey, reported: string, now: number): void {
  change(key, now, (memory) => ({ ...memory, told: reported }))
}

function change(key: HookSessionKey, now: number, how: (memory: HookMemory) => HookMemory): void {
  openOwnDirectory(dirname(key.directory))
  withLock(`${key.directory}.lock`, () => {
    const file = fileOf(key)
    const memory = how(hookMemory(key))
    if (
      memory.loose !== undefined ||
      memory.told !== undefined ||
      memory.calls ||
      memory.breaker.inARow > 0 ||
      memory.breaker.openUntil !== null
    ) {
      // This must survive a crash of the machine; the number of failures need not.
      const lasting = memory.loose !== undefined
      writeOwnJson(file, { version: 1, ...memory } satisfies MemoryFile, lasting)
    } else removeIfThere(file)
    forgetOld(key.directory, now)
  })
}

function fileOf({ directory, host, session, root }: HookSessionKey): string {
  return join(directory, `${sha256(JSON.stringify([host, session, root])).slice(0, 32)}.json`)
}

function forgetOld(directory: string, now: number): void {
  for (const name of entriesOf(directory)) {
    const path = join(directory, name)
    const facts = statSync(path, { throwIfNoEntry: false })
    if (facts && now - facts.mtimeMs > KEPT_MS) removeIfThere(path)
  }
  if (entriesOf(directory).length === 0) {
    try {
      rmdirSync(directory)
    } catch {
      // Already gone, or in use by another process.
    }
  }
}

function entriesOf(directory: string): readonly string[] {
  return attempt(() => readdirSync(directory), [])
}

function isMemory(value: unknown): value is MemoryFile {
  const { version, breaker, calls = [], loose = '', told: reported = '' } = (value ?? {}) as Partial<MemoryFile>
  return (
    version === 1 &&
    typeof loose === 'string' &&
    typeof reported === 'string' &&
    Array.isArray(calls) &&
    calls.every((time) => typeof time === 'number') &&
    typeof breaker?.inARow === 'number' &&
    (breaker.openUntil === null || typeof breaker.openUntil === 'number')
  )
}
